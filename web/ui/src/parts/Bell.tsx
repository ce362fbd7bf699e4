/** Bell is the sign of the product. */
export function Bell({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <path d="M16 2 4 12v18h24V12z" fill="#00766b" />
      <path d="M16 9a6 6 0 0 0-6 6v6h12v-6a6 6 0 0 0-6-6z" fill="#fff" />
      <path d="M13 22h6a3 3 0 0 1-6 0z" fill="#ffd43b" />
      <path d="M16 12.5a3.5 3.5 0 0 0-3.5 3.5v4h7v-4a3.5 3.5 0 0 0-3.5-3.5z" fill="#ffd43b" />
    </svg>
  );
}
