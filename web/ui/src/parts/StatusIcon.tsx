// The status of an item as a shape with a sign in it. Colour is never the only difference: a circle with a tick, a triangle
// with a bar, a diamond, an octagon with a cross, a crossed-out square, a ring with a question mark; unmanaged is a pause.
import type { ReactNode } from "react";
import type { Status } from "../api";

export interface Shown {
  status?: Status | string;
  acknowledged?: boolean;
  isunmanaged?: boolean;
}

const names: Record<string, string> = {
  "0": "OK",
  "1": "Warning",
  "2": "Major",
  "3": "Critical",
  "-": "Unavailable",
  "?": "Unknown",
};

const colours: Record<string, string> = {
  "0": "var(--status-ok)",
  "1": "var(--status-warning)",
  "2": "var(--status-major)",
  "3": "var(--status-critical)",
  "-": "var(--status-unavailable)",
  "?": "var(--status-unknown)",
};

/** Worst first. */
export const statuses: Status[] = ["-", "3", "2", "1", "0", "?"];

export const statusName = (s?: string) => names[s ?? "?"] ?? "Unknown";
export const statusColour = (s?: string) => colours[s ?? "?"] ?? "var(--status-unknown)";
/** rank orders statuses, the worst last. */
export const statusRank = (s?: string) => "?0123-".indexOf(s ?? "?");
export const inError = (s?: string) => statusRank(s) > 1;

export function saying(i: Shown): string {
  if (i.isunmanaged) return "Unknown (Unmanaged)";
  return statusName(i.status) + (i.acknowledged ? ", acknowledged" : "");
}

const stroke = { stroke: "var(--status-ink)", strokeWidth: 2, fill: "none", strokeLinecap: "round" as const };

function shape(i: Shown): ReactNode {
  const fill = statusColour(i.isunmanaged ? "?" : i.status);
  if (i.isunmanaged)
    return (
      <>
        <circle cx="10" cy="10" r="8" fill="none" stroke={fill} strokeWidth="2" strokeDasharray="3 2" />
        <path d="M8 7v6M12 7v6" stroke={fill} strokeWidth="2" strokeLinecap="round" />
      </>
    );
  switch (i.status) {
    case "0":
      return (
        <>
          <circle cx="10" cy="10" r="9" fill={fill} />
          <path d="m6 10.5 2.7 2.7L14 8" {...stroke} />
        </>
      );
    case "1":
      return (
        <>
          <path d="M10 1.5 19 18H1z" fill={fill} strokeLinejoin="round" />
          <path d="M10 7.5v4.5M10 15v.1" {...stroke} stroke="var(--status-warning-ink)" />
        </>
      );
    case "2":
      return (
        <>
          <path d="M10 .8 19.2 10 10 19.2.8 10z" fill={fill} />
          <path d="M10 5.5v5M10 14v.1" {...stroke} />
        </>
      );
    case "3":
      return (
        <>
          <path d="M6.3 1h7.4L19 6.3v7.4L13.7 19H6.3L1 13.7V6.3z" fill={fill} />
          <path d="m7 7 6 6M13 7l-6 6" {...stroke} />
        </>
      );
    case "-":
      return (
        <>
          <rect x="1.5" y="1.5" width="17" height="17" rx="2.5" fill={fill} />
          <path d="M5.5 10h9" {...stroke} strokeWidth="3" />
        </>
      );
    default:
      return (
        <>
          <circle cx="10" cy="10" r="8" fill="none" stroke={fill} strokeWidth="2" />
          <path
            d="M7.8 8a2.2 2.2 0 1 1 3.1 2.1c-.6.3-.9.7-.9 1.4M10 14v.1"
            stroke={fill}
            strokeWidth="1.8"
            fill="none"
            strokeLinecap="round"
          />
        </>
      );
  }
}

/** StatusIcon shows a status. With `label` it speaks; without, the text is beside it. */
export function StatusIcon({ size = 18, label = true, ...item }: Shown & { size?: number; label?: boolean }) {
  const said = saying(item);
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      style={{ flex: "none", verticalAlign: "-0.2em" }}
      role={label ? "img" : undefined}
      aria-label={label ? said : undefined}
      aria-hidden={label ? undefined : true}
    >
      {label && <title>{said}</title>}
      {shape(item)}
      {item.acknowledged && !item.isunmanaged && (
        <g>
          <circle cx="15.5" cy="15.5" r="4.5" fill="var(--mantine-color-body)" />
          <path d="m13.2 15.6 1.6 1.6 2.8-3.2" stroke="var(--mantine-color-text)" strokeWidth="1.6" fill="none" />
        </g>
      )}
    </svg>
  );
}

/** StatusText is the icon with its name beside it. */
export function StatusText(item: Shown & { size?: number }) {
  return (
    <span style={{ display: "inline-flex", alignItems: "center", gap: 6, whiteSpace: "nowrap" }}>
      <StatusIcon {...item} label={false} />
      {saying(item)}
    </span>
  );
}
