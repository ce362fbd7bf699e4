// From rows to what they do: look at the columns, try, correct, try again, apply.
import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconFlask, IconPlus } from "@tabler/icons-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Package, Question } from "../../api";
import { useUnsaved } from "../../parts/leaving";
import { Failure } from "../../parts/Page";
import { Applying } from "./Applying";
import { StepTitle } from "./Choice";
import { Duplicates, useDuplicates } from "./Duplicates";
import { comparable, Existing } from "./existing";
import { Header, useHeader } from "./Header";
import { Counts, Faults } from "./Outcome";
import { RowEditor } from "./RowEditor";
import { Rows } from "./Rows";
import { dryRun, type Fault, type Options, type Progress, pieceSize, type Result, Run, sizeOf, type Task } from "./run";
import { Form, Source, type Way } from "./Source";
import type { Sheet } from "./sheet";

interface Tried {
  sheet: Sheet;
  options: string;
  result: Result;
  existing: Existing | null;
}

export function RowsTask({
  task,
  pkg,
  columns,
  way,
  onWay,
  initialSheet,
  onLeave,
}: {
  task: Task;
  pkg: Package;
  columns: Question[];
  way: Way;
  onWay: (w: Way) => void;
  /** Rows that come from the export. */
  initialSheet: Sheet | null;
  onLeave: () => void;
}) {
  const [sheet, setSheet] = useState<Sheet | null>(initialSheet);
  const [atomic, setAtomic] = useState(false);
  const [recursive, setRecursive] = useState(false);
  const [tried, setTried] = useState<Tried | null>(null);
  const [busy, setBusy] = useState(false);
  const [trying, setTrying] = useState<{ done: number; waiting?: string }>();
  const [failure, setFailure] = useState<unknown>(null);
  const [only, setOnly] = useState<"all" | "wrong">("all");
  const [chosen, setChosen] = useState<number>();
  const [editing, setEditing] = useState<number>();
  const [confirming, setConfirming] = useState(false);
  const [running, setRunning] = useState<{ run: Run; progress: Progress } | null>(null);
  const abort = useRef<AbortController>(undefined);
  const outcome = useRef<HTMLDivElement>(null);
  useEffect(() => () => abort.current?.abort(), []);
  useUnsaved(sheet !== null && !running);

  const options: Options = { task, pkg: pkg.name, atomic, recursive };
  const header = useHeader(sheet, options);
  const duplicates = useDuplicates(sheet, pkg);
  const secrets = useMemo(() => new Set(columns.filter((c) => c.secret).map((c) => c.name)), [columns]);
  const current =
    tried && tried.sheet === sheet && tried.options === JSON.stringify({ recursive }) ? tried.result : null;
  const faults = tried?.result.faults ?? []; // also after a change: rows are corrected one by one

  const attempt = async () => {
    if (!sheet) return;
    const control = new AbortController();
    abort.current = control;
    setBusy(true);
    setFailure(null);
    try {
      const { signal } = control;
      const compare = task === "send" && sheet.count <= comparable;
      const [result, existing] = await Promise.all([
        dryRun(sheet, options, signal, (done, waiting) => setTrying({ done, waiting })),
        compare ? Existing.read(pkg, signal) : null,
      ]);
      setTried({ sheet, options: JSON.stringify({ recursive }), result, existing });
      setOnly("all");
      requestAnimationFrame(() => outcome.current?.scrollIntoView({ block: "nearest" }));
    } catch (e) {
      if (!control.signal.aborted) setFailure(e);
      control.abort(); // the other of the two
    } finally {
      setBusy(false);
      setTrying(undefined);
    }
  };

  const apply = () => {
    if (!sheet || !current) return;
    setConfirming(false);
    const run: Run = new Run(sheet, options, sizeOf(sheet, options, current), (progress) =>
      setRunning({ run, progress }),
    );
    void run.go();
  };

  const drop = () => {
    setSheet(null);
    setTried(null);
    setRunning(null);
    setFailure(null);
    setChosen(undefined);
    onLeave();
  };

  const correct = (f: Fault) => {
    if (running) {
      setTried({ sheet: running.run.sheet, options: "", result: running.progress.result, existing: null });
      setRunning(null);
    }
    setChosen(f.at);
    setEditing(f.at);
  };

  if (running)
    return (
      <Applying
        run={running.run}
        progress={running.progress}
        pkg={pkg}
        secrets={secrets}
        duplicates={duplicates}
        onCorrect={correct}
        onAgain={drop}
      />
    );
  if (!sheet)
    return (
      <Stack gap="sm">
        {task === "remove" && <Rules pkg={pkg} />}
        <Source pkg={pkg} columns={columns} way={way} onWay={onWay} onSheet={setSheet} />
      </Stack>
    );

  const headerRight = header.data === null;
  return (
    <Stack gap="md">
      {task === "remove" && <Rules pkg={pkg} />}
      {way === "form" && <Form columns={columns} onRow={(values) => setSheet(sheet.add(values))} />}
      <Group justify="space-between" gap="xs">
        <StepTitle>{sheet.source}</StepTitle>
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => {
              setSheet(sheet.add({}));
              setEditing(sheet.count);
              setChosen(sheet.count);
            }}
          >
            Add a row
          </Button>
          <Button size="xs" variant="default" onClick={drop}>
            Take other rows
          </Button>
        </Group>
      </Group>
      <Header sheet={sheet} columns={columns} check={header} onSheet={setSheet} />
      <Duplicates sheet={sheet} all={duplicates} task={task} onGo={setChosen} onSheet={setSheet} />
      <Group gap="lg">
        <Button
          leftSection={<IconFlask size={16} />}
          variant={current ? "default" : "filled"}
          onClick={attempt}
          loading={busy}
          disabled={!headerRight || sheet.sent === 0}
        >
          {tried ? "Try again" : "Try it"}
        </Button>
        <Checkbox label="All or nothing" checked={atomic} onChange={(e) => setAtomic(e.currentTarget.checked)} />
        {task === "remove" && (
          <Checkbox
            label="Include content and nested views"
            checked={recursive}
            onChange={(e) => setRecursive(e.currentTarget.checked)}
          />
        )}
        <Text size="sm" c="dimmed">
          {trying &&
            `${trying.done.toLocaleString()} of ${sheet.count.toLocaleString()} rows tried. ${trying.waiting ?? ""} `}
          {current ? "This was a dry run: nothing has changed yet." : "A dry run changes nothing."}
        </Text>
      </Group>
      {failure !== null && <Failure error={failure} retry={attempt} />}
      {tried && (
        <Stack gap="md" ref={outcome}>
          {current && <Counts result={current} task={task} dry />}
          {current?.inPieces && (
            <Text size="sm" c="dimmed">
              There are too many rows for one dry run, so they were checked in pieces of {pieceSize.toLocaleString()}. A
              row that needs what an earlier piece would {task === "remove" ? "remove" : "make"} counts as wrong here,
              and may be right when the rows are applied. What rows of two pieces have in common counts twice.
            </Text>
          )}
          {!current && (
            <Alert variant="default" icon={<IconAlertTriangle />}>
              The rows have changed since the dry run. Try them again.
            </Alert>
          )}
          {current && (
            <Apply
              result={current}
              task={task}
              atomic={atomic}
              onApply={() => (task === "remove" ? setConfirming(true) : apply())}
            />
          )}
          <Faults sheet={sheet} result={tried.result} secrets={secrets} duplicates={duplicates} onGo={correct} />
        </Stack>
      )}
      <Rows
        sheet={sheet}
        faults={faults}
        duplicates={duplicates}
        secrets={secrets}
        existing={current ? tried?.existing : null}
        only={only}
        onOnly={setOnly}
        chosen={chosen}
        onEdit={(at) => {
          setChosen(at);
          setEditing(at);
        }}
      />
      {editing !== undefined && (
        <RowEditor
          key={editing}
          sheet={sheet}
          at={editing}
          columns={columns}
          faults={faults.filter((f) => f.at === editing)}
          onSheet={setSheet}
          onClose={() => setEditing(undefined)}
        />
      )}
      {confirming && current && (
        <Modal opened onClose={() => setConfirming(false)} title={`Remove ${count(current.removed, pkg)}?`}>
          <Stack>
            <Text size="sm">
              They are removed with all their content. Their history stays, and continues when an item of the same name
              is created again. This cannot be undone except by provisioning them again: export them first if in doubt.
            </Text>
            <Group justify="flex-end">
              <Button variant="default" data-autofocus onClick={() => setConfirming(false)}>
                Keep them
              </Button>
              <Button color="red.9" onClick={apply}>
                Remove {current.removed.toLocaleString()}
              </Button>
            </Group>
          </Stack>
        </Modal>
      )}
    </Stack>
  );
}

const count = (n: number, pkg: Package) => `${n.toLocaleString()} ${n === 1 ? "item" : "items"} of ${pkg.name}`;

function Apply({
  result: r,
  task,
  atomic,
  onApply,
}: {
  result: Result;
  task: Task;
  atomic: boolean;
  onApply: () => void;
}) {
  const tooMany = atomic && r.inPieces;
  const held = tooMany || (atomic && r.rejected > 0);
  const all = r.rejected === 0;
  if (r.accepted === 0) return null;
  const what =
    task === "remove"
      ? `Remove ${r.removed.toLocaleString()}`
      : `Apply ${all ? "" : "the "}${r.accepted.toLocaleString()} ${all ? "" : "right "}${r.accepted === 1 ? "row" : "rows"}`;
  return (
    <Group gap="sm">
      <Button
        onClick={onApply}
        disabled={held || (task === "remove" && r.removed === 0)}
        color={task === "remove" ? "red.9" : undefined}
        variant={all || task === "remove" ? "filled" : "outline"}
      >
        {what}
      </Button>
      {held && (
        <Text size="sm" c="dimmed">
          {tooMany
            ? "There are too many rows for all or nothing. Untick it to apply them in pieces, or use fewer rows."
            : "All or nothing: correct the wrong rows first, or leave them out."}
        </Text>
      )}
      {!held && !all && (
        <Text size="sm" c="dimmed">
          The wrong rows remain, to be corrected.
        </Text>
      )}
    </Group>
  );
}

function Rules({ pkg }: { pkg: Package }) {
  return (
    <Alert variant="default" icon={<IconAlertTriangle color="var(--mantine-color-error)" />} title="This removes items">
      <Text size="sm">
        A row names what to remove: <code>name</code>
        {(pkg.kind === "object" || pkg.kind === "view") && (
          <>
            , in <code>resname</code> its resource
          </>
        )}
        , and with <code>view</code> only if it is there. <code>*</code> with a view means every {pkg.name} directly in
        it. An item is removed with its content; a view must be empty unless its content is included. History stays.
      </Text>
    </Alert>
  );
}
