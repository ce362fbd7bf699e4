// A sheet being applied: its progress, how fast it goes, and the ways to hold it.
import { Alert, Anchor, Button, Group, List, Paper, Progress, Stack, Text } from "@mantine/core";
import { IconCircleCheck, IconPlayerPause, IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Package } from "../../api";
import { link } from "../../links";
import { useLeaving } from "../../parts/leaving";
import { Failure } from "../../parts/Page";
import { Counts, Faults } from "./Outcome";
import type { Duplicate } from "./repeated";
import type { Fault, Run, Progress as RunProgress } from "./run";
import type { Sheet } from "./sheet";

export function Applying({
  run,
  progress,
  pkg,
  secrets,
  duplicates,
  onCorrect,
  onAgain,
}: {
  run: Run;
  progress: RunProgress;
  pkg: Package;
  secrets: Set<string>;
  duplicates: Duplicate[];
  /** Take the rows that were rejected, to correct them. */
  onCorrect: (f: Fault) => void;
  onAgain: () => void;
}) {
  const { state, result } = progress;
  const [asked, setAsked] = useState(false);
  useLeaving(state === "running" || state === "paused");
  const ended = state === "done" || state === "cancelled";
  const rate = progress.spent > 0 ? (progress.done / progress.spent) * 1000 : 0;
  const left = rate > 0 ? (progress.total - progress.done) / rate : 0;
  const remove = run.options.task === "remove";
  return (
    <Stack gap="md">
      <Paper className="card" p="md">
        <Stack gap="sm">
          <Group justify="space-between">
            <Text component="div" fw={600} role="status" aria-live="polite">
              {title(progress, remove)}
            </Text>
            <Text size="sm" c="dimmed" className="number">
              {progress.done.toLocaleString()} of {progress.total.toLocaleString()} rows
              {rate > 0 && `, ${Math.round(rate).toLocaleString()} rows/s`}
              {state === "running" && left > 2 && `, ${Math.ceil(left)} s left`}
            </Text>
          </Group>
          <Progress.Root size="lg">
            <Progress.Section
              value={progress.total ? (progress.done / progress.total) * 100 : 100}
              color={state === "failed" ? "red.8" : undefined}
              aria-label="Rows applied"
            />
          </Progress.Root>
          {progress.waiting && <Text size="sm">{progress.waiting}</Text>}
          {!ended && (
            <Group gap="xs">
              {state === "running" ? (
                <Button
                  variant="default"
                  leftSection={<IconPlayerPause size={16} />}
                  disabled={asked}
                  onClick={() => run.pause()}
                >
                  Pause
                </Button>
              ) : (
                <Button leftSection={<IconPlayerPlay size={16} />} onClick={() => run.go()}>
                  {state === "failed" ? "Try again from here" : "Continue"}
                </Button>
              )}
              <Button
                variant="default"
                leftSection={<IconPlayerStop size={16} />}
                onClick={() => {
                  setAsked(true);
                  run.cancel();
                }}
              >
                Stop here
              </Button>
              <Text size="sm" c="dimmed">
                Rows that were applied stay applied.
              </Text>
            </Group>
          )}
        </Stack>
      </Paper>
      {progress.failure !== undefined && <Failure error={progress.failure} />}
      <Counts result={result} task={run.options.task} dry={false} />
      {ended && run.options.atomic && result.rejected > 0 && (
        <Alert color="red" variant="light" title="Nothing was applied">
          “All or nothing” is selected, and some rows are wrong. Correct them, or leave them out.
        </Alert>
      )}
      {ended && <Faults sheet={run.sheet} result={result} secrets={secrets} duplicates={duplicates} onGo={onCorrect} />}
      {ended && (
        <Group align="flex-start" justify="space-between">
          {!remove && result.accepted > 0 ? <Made sheet={run.sheet} progress={progress} pkg={pkg} /> : <span />}
          <Button variant="default" onClick={onAgain}>
            Start with other rows
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function title(progress: RunProgress, remove: boolean) {
  switch (progress.state) {
    case "running":
      return remove ? "Removing…" : "Applying…";
    case "paused":
      return "Paused";
    case "failed":
      return "Held up";
    case "cancelled":
      return `Stopped after ${progress.done.toLocaleString()} rows`;
    default:
      return (
        <Group gap={6}>
          <IconCircleCheck size={18} aria-hidden /> Done
        </Group>
      );
  }
}

/** Made leads to what the rows were about. */
function Made({ sheet, progress, pkg }: { sheet: Sheet; progress: RunProgress; pkg: Package }) {
  const wrong = new Set(progress.result.faults.map((f) => f.at));
  const rows: number[] = [];
  for (let i = 0; i < progress.done && rows.length < 10; i++) if (!wrong.has(i) && !sheet.leftOut(i)) rows.push(i);
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        See them
      </Text>
      <List size="sm" listStyleType="none">
        {rows.map((i) => (
          <List.Item key={i}>
            <Anchor component={Link} href={pageOf(sheet, i, pkg)} size="sm" className="name">
              {sheet.value(i, "name")}
            </Anchor>
          </List.Item>
        ))}
        {progress.result.accepted > rows.length && (
          <List.Item>
            <Anchor component={Link} href={link.status()} size="sm">
              All in the status list
            </Anchor>
          </List.Item>
        )}
      </List>
    </Stack>
  );
}

function pageOf(sheet: Sheet, i: number, pkg: Package): string {
  const name = sheet.value(i, "name");
  const resource = sheet.value(i, "resname") || undefined;
  if (pkg.kind === "element") return link.map(sheet.value(i, "view") || undefined);
  if (pkg.kind === "view" && !resource) return link.map(name);
  return link.item({ kind: pkg.kind, name, resource });
}
