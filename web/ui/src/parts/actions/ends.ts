// Ends that are chosen with one click.

const two = (n: number) => String(n).padStart(2, "0");

/** written is a moment by the clock of the browser, as a field for date and time has it. */
const written = (d: Date) =>
  `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}T${two(d.getHours())}:${two(d.getMinutes())}`;

export function ends(now: number): { label: string; at: string }[] {
  const hours = (n: number) => written(new Date(now + n * 3_600_000));
  const d = new Date(now);
  const morning = (days: number) => written(new Date(d.getFullYear(), d.getMonth(), d.getDate() + days, 8));
  return [
    { label: "1 h", at: hours(1) },
    { label: "4 h", at: hours(4) },
    ...(d.getHours() < 8 ? [{ label: "Today 8:00", at: morning(0) }] : []), // for those who work at night
    { label: "Tomorrow 8:00", at: morning(1) },
  ];
}
