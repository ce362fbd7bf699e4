// The range of time that a page shows. It is in its address: as range=24h up to now, or as from and to.
import { Button, Group, Popover, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { IconCalendar, IconX } from "@tabler/icons-react";
import { type FormEvent, useCallback, useMemo, useState } from "react";
import { useSearchParams } from "wouter";
import { pageNow } from "../clock";

export interface Range {
  /** What it is called in the address: 24h, or the two ends. */
  key: string;
  /** The last so many seconds, which end now and continue. */
  span?: number;
  /** Epoch seconds, of a range with ends. */
  from?: number;
  to?: number;
}

export const spans = ["1h", "6h", "24h", "7d", "30d", "400d"];

const seconds = (span: string) => Number.parseInt(span, 10) * (span.endsWith("d") ? 86400 : 3600);
const readable = (span: string) => span.replace(/([hd])$/, "\u00a0$1");

/** endsOf gives the ends of a range at a moment. */
export function endsOf(r: Range, now = pageNow() / 1000): [number, number] {
  return r.span === undefined ? [r.from ?? 0, r.to ?? now] : [now - r.span, now];
}

/** fixed is a range as it is at this moment, with ends that do not continue. What is shown already is in it: the moment of the page may be
 * a second or two behind. */
export function fixed(r: Range): Range {
  const [from, now] = endsOf(r);
  const to = r.span === undefined ? now : now + 2;
  return { key: `${from}-${to}`, from, to };
}

export const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

/** condition writes a range in the query language. */
export function condition(r: Range): string {
  if (r.span !== undefined) {
    const [n, unit] = r.span % 86400 === 0 && r.span > 86400 ? [r.span / 86400, "DAYS"] : [r.span / 3600, "HOURS"];
    return `timestamp = '[NOW-${n}${unit} TO NOW]'`;
  }
  const [from, to] = endsOf(r);
  return `timestamp BETWEEN '${iso(from)}' AND '${iso(to)}'`;
}

export interface RangeState {
  range: Range;
  /** Whether from and to are in the address. */
  custom: boolean;
  choose: (span: string) => void;
  zoom: (from: number, to: number) => void;
  reset: () => void;
}

/** useRange reads the range from the address of the page and changes it there; going back goes back to the one before. */
export function useRange(usual: string): RangeState {
  const [params, setParams] = useSearchParams();
  const [from, to] = [Date.parse(params.get("from") ?? ""), Date.parse(params.get("to") ?? "")];
  const asked = params.get("range") ?? usual;
  const name = /^[1-9]\d{0,3}[hd]$/.test(asked) ? asked : usual;
  const custom = from > 0 && to > from;
  const range = useMemo<Range>(
    () => (custom ? { key: `${from}-${to}`, from: from / 1000, to: to / 1000 } : { key: name, span: seconds(name) }),
    [custom, from, to, name],
  );
  const change = useCallback(
    (set: Record<string, string | undefined>) =>
      setParams((old) => {
        const next = new URLSearchParams(old);
        for (const [k, v] of Object.entries(set)) {
          if (v) next.set(k, v);
          else next.delete(k);
        }
        return next;
      }),
    [setParams],
  );
  return {
    range,
    custom,
    choose: (span) => change({ range: span === usual ? undefined : span, from: undefined, to: undefined }),
    zoom: (a, b) => change({ from: iso(Math.round(a)), to: iso(Math.max(Math.round(a) + 1, Math.round(b))) }),
    reset: () => change({ from: undefined, to: undefined }),
  };
}

const pad = (n: number) => String(n).padStart(2, "0");

/** field writes a moment as an input of the kind datetime-local wants it, in the browser's zone. */
function field(seconds: number): string {
  const d = new Date(seconds * 1000);
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}T${pad(d.getHours())}:${pad(d.getMinutes())}`;
}

const short = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "short" });

export function RangePicker({ state }: { state: RangeState }) {
  const { range, custom } = state;
  const known = spans.includes(range.key);
  return (
    <Group gap="xs" component="section" aria-label="Range of time">
      <SegmentedControl
        size="xs"
        value={custom || !known ? "" : range.key}
        onChange={state.choose}
        data={spans.map((s) => ({ value: s, label: readable(s) }))}
        aria-label="Length"
      />
      <Ends state={state} />
      {custom && (
        <Group gap={4} wrap="nowrap">
          <Text size="sm" className="number">
            {short.formatRange((range.from ?? 0) * 1000, (range.to ?? 0) * 1000)}
          </Text>
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            c="inherit"
            leftSection={<IconX size={14} />}
            onClick={state.reset}
          >
            Reset
          </Button>
        </Group>
      )}
    </Group>
  );
}

/** Ends lets people type the two ends. */
function Ends({ state }: { state: RangeState }) {
  const [opened, setOpened] = useState(false);
  const [ends, setEnds] = useState(["", ""]);
  const [wrong, setWrong] = useState("");
  const toggle = () => {
    if (!opened) setEnds(endsOf(state.range).map(field));
    setWrong("");
    setOpened(!opened);
  };
  const apply = (e: FormEvent) => {
    e.preventDefault();
    const [a, b] = ends.map((t) => Date.parse(t) / 1000);
    if (!a || !b || b <= a) {
      setWrong("The end must come after the beginning.");
      return;
    }
    state.zoom(a, b);
    setOpened(false);
  };
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" withArrow trapFocus>
      <Popover.Target>
        <Button size="compact-sm" variant="default" leftSection={<IconCalendar size={14} />} onClick={toggle}>
          From – to
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form onSubmit={apply}>
          <Stack gap="xs">
            {["From", "To"].map((label, i) => (
              <TextInput
                key={label}
                type="datetime-local"
                label={label}
                value={ends[i]}
                onChange={(e) =>
                  setEnds(i === 0 ? [e.currentTarget.value, ends[1] ?? ""] : [ends[0] ?? "", e.currentTarget.value])
                }
                error={i === 1 && wrong}
                required
              />
            ))}
            <Button type="submit" size="xs">
              Show
            </Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
