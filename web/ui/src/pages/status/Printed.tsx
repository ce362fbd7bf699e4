// The list on paper: a plain table of its first rows. What scrolls on a screen would be cut off there.
import { Button } from "@mantine/core";
import { IconPrinter } from "@tabler/icons-react";
import { useState } from "react";
import { usePrinting } from "../../parts/printing";
import { StatusIcon, statusName } from "../../parts/StatusIcon";
import { ago, local, localTimes } from "../../parts/Time";
import type { Feed, Row } from "./feed";
import { type Filter, inWords } from "./filter";

/** More than anyone reads on paper. */
const most = 2000;

/** PrintButton reads as many rows as are printed, and prints. */
export function PrintButton({ feed }: { feed: Feed }) {
  const [busy, setBusy] = useState(false);
  const print = async () => {
    setBusy(true);
    await feed.top(most);
    setBusy(false);
    window.print();
  };
  return (
    <Button
      size="compact-sm"
      variant="default"
      visibleFrom="sm"
      loading={busy}
      leftSection={<IconPrinter size={14} />}
      onClick={print}
    >
      Print
    </Button>
  );
}

/** Printed is there while the page is printed. Without the button it has the rows that are here, which are the first hundred at least. */
export function Printed({ feed, filter }: { feed: Feed; filter: Filter }) {
  if (!usePrinting()) return null;
  const rows: Row[] = [];
  for (let r = feed.row(0); r && rows.length < most; r = feed.row(rows.length)) rows.push(r);
  const total = feed.total ?? 0;
  return (
    <table className="printed-rows">
      <caption>
        {inWords(filter)}.{" "}
        {rows.length < total
          ? `Not all of them: the first ${rows.length.toLocaleString()} of ${total.toLocaleString()}. The button Print takes ${most.toLocaleString()}; narrow the filter for the others.`
          : `All ${total.toLocaleString()}.`}
      </caption>
      <thead>
        <tr>
          <th>Status</th>
          <th>Name</th>
          <th>Parent</th>
          <th>For</th>
          <th>Since</th>
          <th>Info</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((r) => (
          <tr key={r.id}>
            <td>
              <StatusIcon {...r} size={12} label={false} /> {r.isunmanaged ? "Unmanaged" : statusName(r.status)}
              {r.acknowledged && " (acknowledged)"}
            </td>
            <td className="name">{r.name}</td>
            <td className="name">{placeOf(r)}</td>
            <td className="number">{r.since && ago(r.since)}</td>
            <td className="number">{r.since && local(r.since)}</td>
            <td className="name">
              {[r.info && localTimes(r.info), r.ack && `Acknowledged: ${r.ack}`, r.note && `Note: ${r.note}`]
                .filter(Boolean)
                .join(" · ")}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function placeOf(r: Row): string {
  const inner = (r.kind === "view" ? r.parentview : r.view) ?? "";
  return r.kind !== "resource" && r.resource && r.resource !== inner ? `${r.resource} › ${inner}` : inner;
}
