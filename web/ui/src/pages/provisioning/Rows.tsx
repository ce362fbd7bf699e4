// The rows of a sheet: only those in sight are made, so a million are as quick as ten.
import { ActionIcon, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCopy, IconPencil } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import type { Effect, Existing } from "./existing";
import { type Duplicate, earlierRows, repeats } from "./repeated";
import type { Fault } from "./run";
import { clean, type Sheet } from "./sheet";

const height = 34;
/** Browsers draw no element that is higher; rows beyond it are reached through the list of wrong ones. */
const highest = 15_000_000;

/** Columns that hold names and sentences. */
const wordy = new Set(["name", "view", "resname", "text", "ip_address_fqdn", "from", "to", "target"]);

export function Rows({
  sheet,
  faults,
  duplicates,
  secrets,
  existing,
  only,
  onOnly,
  chosen,
  onEdit,
}: {
  sheet: Sheet;
  faults: Fault[];
  duplicates?: Duplicate[];
  /** Columns that are not to be shown. */
  secrets: Set<string>;
  /** What is there now, to say what each row would do. */
  existing?: Existing | null;
  only: "all" | "wrong";
  onOnly: (o: "all" | "wrong") => void;
  /** The row to bring into sight. */
  chosen?: number;
  onEdit?: (at: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const wrong = useMemo(() => {
    const of = new Map<number, Fault[]>();
    for (const f of faults) of.set(f.at, [...(of.get(f.at) ?? []), f]);
    return of;
  }, [faults]);
  const twice = useMemo(() => new Map(duplicates?.map((d) => [d.at, repeats(sheet, d)])), [sheet, duplicates]);
  const earlier = useMemo(() => earlierRows(duplicates ?? []), [duplicates]);
  const effectOf = (at: number) => {
    if (!existing || wrong.has(at)) return undefined;
    return existing.effect(
      sheet,
      at,
      earlier(at).filter((row) => !wrong.has(row)),
    );
  };
  const list = only === "wrong" ? [...wrong.keys()].sort((a, b) => a - b) : null;
  const count = Math.min(list ? list.length : sheet.count, Math.floor(highest / height));
  const rows = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: 12,
  });
  const at = chosen === undefined ? -1 : list ? list.indexOf(chosen) : chosen;
  const { scrollToIndex } = rows;
  useEffect(() => {
    if (at >= 0) scrollToIndex(at, { align: "center" });
  }, [at, scrollToIndex]);
  const names = sheet.columns.map((c) => wordy.has(clean(c ?? "")));
  const widths = names.map((n) => (n ? "minmax(160px, 2fr)" : "minmax(110px, 1fr)"));
  const grid = ["76px", ...(existing ? ["96px"] : []), ...widths, "44px"].join(" ");
  const width = (existing ? 216 : 120) + names.reduce((sum, n) => sum + (n ? 160 : 110), 0);
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" className="number">
          {sheet.sent.toLocaleString()} {sheet.sent === 1 ? "row" : "rows"}
          {sheet.sent < sheet.count && `, ${(sheet.count - sheet.sent).toLocaleString()} left out`}
        </Text>
        {wrong.size > 0 && (
          <SegmentedControl
            size="xs"
            aria-label="Which rows to show"
            value={only}
            onChange={(v) => onOnly(v as "all" | "wrong")}
            data={[
              { value: "all", label: "All rows" },
              { value: "wrong", label: `Wrong (${wrong.size.toLocaleString()})` },
            ]}
          />
        )}
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
      <section ref={box} className="sheet card" aria-label="Rows" tabIndex={0}>
        <table className="sheet-table" aria-label="Rows" aria-rowcount={sheet.count + 1} style={{ minWidth: width }}>
          <thead>
            <tr aria-rowindex={1} className="sheet-head" style={{ gridTemplateColumns: grid }}>
              <th scope="col">Line</th>
              {existing && <th scope="col">Would be</th>}
              {sheet.given.map((g, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                <th scope="col" key={i} className="cut" title={g}>
                  {sheet.columns[i] === null ? <s>{g}</s> : sheet.columns[i]}
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody style={{ height: rows.getTotalSize(), position: "relative" }}>
            {rows.getVirtualItems().map((v) => {
              const at = list ? (list[v.index] ?? 0) : v.index;
              return (
                <Row
                  key={v.key}
                  sheet={sheet}
                  at={at}
                  top={v.start}
                  grid={grid}
                  secrets={secrets}
                  effect={effectOf(at)}
                  compared={Boolean(existing)}
                  faults={wrong.get(at)}
                  twice={twice.get(at)}
                  chosen={at === chosen}
                  onEdit={onEdit}
                />
              );
            })}
          </tbody>
        </table>
      </section>
    </Stack>
  );
}

const words: Record<Effect["kind"], string> = { new: "created", changes: "changed", same: "as it is" };

function Row({
  sheet,
  at,
  top,
  grid,
  secrets,
  effect,
  compared,
  faults,
  twice,
  chosen,
  onEdit,
}: {
  sheet: Sheet;
  at: number;
  top: number;
  grid: string;
  secrets: Set<string>;
  effect?: Effect;
  compared: boolean;
  faults?: Fault[];
  /** Which row it repeats, in words. */
  twice?: string;
  chosen: boolean;
  onEdit?: (at: number) => void;
}) {
  const cells = sheet.cells(at);
  const out = sheet.leftOut(at);
  const said = faults?.map((f) => f.message).join("\n");
  const faulty = (i: number) => faults?.some((f) => f.column && clean(sheet.columns[i] ?? "") === f.column);
  const mark = faults ? "wrong" : sheet.changed(at) ? "changed" : undefined;
  const broken = sheet.broken(at);
  return (
    <tr
      aria-rowindex={at + 2}
      className="sheet-row"
      data-mark={mark}
      data-chosen={chosen || undefined}
      data-out={out || undefined}
      style={{ gridTemplateColumns: grid, height, transform: `translateY(${top}px)` }}
    >
      <th scope="row" className="number" title={said}>
        {faults && <IconAlertTriangle size={14} aria-label="Wrong" className="sheet-sign" />}
        {!faults && sheet.changed(at) && <IconPencil size={13} aria-label="Changed here" className="sheet-sign" />}
        {twice && (
          <span role="img" aria-label={twice} title={twice}>
            <IconCopy size={13} className="sheet-sign" />
          </span>
        )}
        {sheet.line(at).toLocaleString()}
      </th>
      {compared && (
        <td data-effect={effect?.kind}>{faults ? "wrong" : out ? "left out" : words[effect?.kind ?? "same"]}</td>
      )}
      {broken ? (
        <td className="cut" title={cells[0]} style={{ gridColumn: `span ${Math.max(1, sheet.given.length)}` }}>
          {cells[0]}
        </td>
      ) : (
        sheet.given.map((_, i) => {
          const text = secrets.has(clean(sheet.columns[i] ?? "")) && cells[i] ? "••••" : (cells[i] ?? "");
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
            <td key={i} className="cut" title={text} data-wrong={faulty(i) || undefined}>
              {effect?.was[i] !== undefined && (
                <>
                  <del>{effect.was[i] || "empty"}</del>
                  {" → "}
                </>
              )}
              {out ? <s>{text}</s> : text}
            </td>
          );
        })
      )}
      <td>
        {onEdit && (
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`Change the row on line ${sheet.line(at)}`}
            onClick={() => onEdit(at)}
          >
            <IconPencil size={15} />
          </ActionIcon>
        )}
      </td>
    </tr>
  );
}
