// Result for each item.
import { Alert, Box, Group, ScrollArea, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconClock, IconMinus } from "@tabler/icons-react";
import { local, localTimes } from "../Time";
import { counted, itemKey } from "./operations";
import type { Outcome } from "./perform";

const words: Record<string, string> = {
  acknowledged: "acknowledged",
  unacknowledged: "no longer acknowledged",
  managed: "managed",
  unmanaged: "unmanaged",
  scheduled: "planned",
  note_set: "note set",
  note_removed: "note removed",
};

/** wordFor is the result as people say it. */
export const wordFor = (result: string) => words[result] ?? result.replaceAll("_", " ");

/** worthReading reports whether there is more to say than that everything was done. */
export const worthReading = (all: Outcome[]) =>
  all.some((o) => o.error || o.skipped || o.collision || o.done?.unmanagedby || o.done?.result === "scheduled");

/** Results whose sentence does not begin with the items. */
const begins: Record<string, string> = { note_set: "note set on", note_removed: "note removed from" };

/** inShort counts the results in a sentence. */
export function inShort(all: Outcome[]): string {
  const by = new Map<string, number>();
  for (const o of all) {
    const result = o.done?.result ?? (o.skipped ? "left_alone" : "not_done");
    by.set(result, (by.get(result) ?? 0) + 1);
  }
  const parts = [...by].map(([result, n]) => {
    const items = counted(n, "item");
    return begins[result] ? `${begins[result]} ${items}` : `${items} ${wordFor(result)}`;
  });
  const text = parts.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** described says what became of an item. */
export function described({ done, error, skipped, collision }: Outcome): string {
  if (error || skipped) return localTimes(error ?? skipped ?? "");
  if (!done) return "";
  const inside = done.content ? `, with ${counted(done.content, "item")} inside` : "";
  const from = done.result === "scheduled" && done.from ? ` from ${local(done.from)}` : "";
  const to = done.to ? ` until ${local(done.to)}` : "";
  const still = done.unmanagedby ? `; but its parent ${done.unmanagedby} is unmanaged, so it stays Unknown` : "";
  return wordFor(done.result) + from + to + inside + still + (collision ? `, ${collision}` : "");
}

function Sign({ of }: { of: Outcome }) {
  if (of.error) return <IconAlertTriangle size={16} color="var(--mantine-color-error)" aria-label="Not done" />;
  if (of.collision) return <IconAlertTriangle size={16} aria-label="Written at the same time" />;
  if (of.skipped) return <IconMinus size={16} aria-label="Left alone" />;
  if (of.done?.result === "scheduled") return <IconClock size={16} aria-label="Planned" />;
  return <IconCheck size={16} aria-label="Done" />;
}

// More than anyone reads; what went wrong comes first.
const most = 200;

export function Outcomes({ all }: { all: Outcome[] }) {
  const bad = all.filter((o) => o.error).length;
  const shown = [...all].sort((a, b) => Number(!!b.error) - Number(!!a.error)).slice(0, most);
  return (
    <Stack gap="sm">
      <Alert
        variant="outline"
        color={bad ? "red" : "bell"}
        role={bad ? "alert" : "status"}
        icon={bad ? <IconAlertTriangle /> : <IconCheck />}
        title={inShort(all)}
      />
      <ScrollArea.Autosize mah="45vh" type="auto" viewportProps={{ tabIndex: 0 }}>
        <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label="Result for each item">
          {shown.map((o) => (
            <Group key={itemKey(o.item)} component="li" gap="xs" align="flex-start" wrap="nowrap">
              <Box mt={2} style={{ flex: "none" }}>
                <Sign of={o} />
              </Box>
              <Text size="sm" component="div" className="name">
                <b className="name">{o.item.name}</b>{" "}
                {o.item.kind === "object" && o.item.resource && (
                  <Text span size="sm" c="dimmed">
                    in {o.item.resource}{" "}
                  </Text>
                )}
                <span style={{ whiteSpace: "pre-wrap" }}>{described(o)}</span>
              </Text>
            </Group>
          ))}
        </Stack>
      </ScrollArea.Autosize>
      {all.length > most && (
        <Text size="sm" c="dimmed">
          and {(all.length - most).toLocaleString()} more
        </Text>
      )}
    </Stack>
  );
}
