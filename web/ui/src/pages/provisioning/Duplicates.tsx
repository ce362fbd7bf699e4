import { Alert, Button, Group, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import type { Package } from "../../api";
import { type Duplicate, duplicatesOf, repeats } from "./repeated";
import type { Task } from "./run";
import type { Sheet } from "./sheet";

/** useDuplicates looks through the rows whenever they change. */
export function useDuplicates(sheet: Sheet | null, pkg: Package): Duplicate[] {
  const [found, setFound] = useState<Duplicate[]>([]);
  useEffect(() => {
    const control = new AbortController();
    if (sheet)
      duplicatesOf(sheet, pkg, control.signal).then(
        (all) => !control.signal.aborted && setFound(all),
        () => undefined, // given up, since the rows have changed
      );
    else setFound([]);
    return () => control.abort();
  }, [sheet, pkg]);
  return found;
}

/** As many as are read. */
const shown = 50;

/** Duplicates names the rows that name what an earlier one does. */
export function Duplicates({
  sheet,
  all,
  task,
  onGo,
  onSheet,
}: {
  sheet: Sheet;
  all: Duplicate[];
  task: Task;
  onGo: (at: number) => void;
  onSheet: (s: Sheet) => void;
}) {
  if (!all.length) return null;
  const alike = all.filter((d) => d.same);
  const rows = (n: number) => `${n.toLocaleString()} ${n === 1 ? "row" : "rows"}`;
  return (
    <Alert
      variant="default"
      icon={<IconCopy />}
      role="status"
      title={`${rows(all.length)} ${all.length === 1 ? "names" : "name"} what an earlier row names`}
    >
      <Stack gap="xs" align="flex-start">
        <Stack gap={2} component="ul" m={0} p={0} aria-label="Duplicates" className="duplicates">
          {all.slice(0, shown).map((d) => (
            <li key={d.at}>
              <UnstyledButton fz="sm" ta="start" onClick={() => onGo(d.at)}>
                <span>{repeats(sheet, d)}</span>: <b className="name">{d.name}</b>
                {d.same ? ", and says the same" : task === "send" ? "; they differ, and the later row counts" : ""}
              </UnstyledButton>
            </li>
          ))}
        </Stack>
        <Group gap="sm">
          {alike.length > 0 && (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => onSheet(sheet.leaveOutAll(alike.map((d) => d.at)))}
            >
              Leave out {rows(alike.length)} that {alike.length === 1 ? "says" : "say"} the same
            </Button>
          )}
          {all.length > shown && (
            <Text size="sm" c="dimmed">
              and {(all.length - shown).toLocaleString()} more
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}
