/** bytes writes a size in its largest unit. */
export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  let i = 0;
  // 999.5 would be rounded to 1000.
  while (n >= 999.5 && i < units.length - 1) {
    n /= 1000;
    i++;
  }
  return `${n >= 99.95 || i === 0 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}
