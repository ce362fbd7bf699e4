// One row, to be corrected: its cells as a form, with the errors of each cell. A row that could not be read is shown raw.
import { Alert, Button, Group, Modal, Stack, Text, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Question } from "../../api";
import { Field } from "./Field";
import type { Fault } from "./run";
import { clean, type Sheet } from "./sheet";

const plain = (name: string): Question => ({ name, type: "name", required: false, secret: false, help: "" });

export function RowEditor({
  sheet,
  at,
  columns,
  faults,
  onSheet,
  onClose,
}: {
  sheet: Sheet;
  at: number;
  columns: Question[];
  faults: Fault[];
  onSheet: (s: Sheet) => void;
  onClose: () => void;
}) {
  const broken = sheet.broken(at);
  const [cells, setCells] = useState(() => sheet.cells(at));
  const [raw, setRaw] = useState(() => sheet.raw(at));
  const extra = cells.length > sheet.given.length ? cells.slice(sheet.given.length) : [];
  const save = (e: FormEvent) => {
    e.preventDefault();
    const next = broken ? sheet.setRaw(at, raw.replaceAll(/\s*\n\s*/g, " ")) : sheet.set(at, cells);
    onSheet(next.restore(at));
    onClose();
  };
  const general = faults.filter((f) => broken || !f.column || !sheet.columns.some((c) => clean(c ?? "") === f.column));
  const errorOf = (name: string) =>
    faults
      .filter((f) => f.column === name)
      .map((f) => f.message)
      .join(" ") || undefined;
  const first = faults.find((f) => f.column)?.column;
  return (
    <Modal opened onClose={onClose} title={`Line ${sheet.line(at).toLocaleString()}`} size="lg">
      <form onSubmit={save}>
        <Stack>
          {general.map((f) => (
            <Alert key={f.message} color="red" variant="light" title={f.code}>
              <span className="name">{f.message}</span>
            </Alert>
          ))}
          {broken ? (
            <Textarea
              label="The raw row"
              description="It has a quote too many or too few."
              value={raw}
              onChange={(e) => setRaw(e.currentTarget.value)}
              autosize
              spellCheck={false}
            />
          ) : (
            sheet.given.map((g, i) => {
              const name = sheet.columns[i];
              if (name === null || name === undefined) return null;
              const q = columns.find((c) => c.name === clean(name)) ?? plain(g);
              return (
                <Field
                  // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
                  key={i}
                  question={q}
                  required={false}
                  value={cells[i] ?? ""}
                  error={errorOf(q.name)}
                  focus={first === q.name}
                  onChange={(v) =>
                    setCells((old) => {
                      const next = [...old];
                      while (next.length <= i) next.push("");
                      next[i] = v;
                      return next;
                    })
                  }
                />
              );
            })
          )}
          {extra.length > 0 && (
            <Group gap="xs">
              <Text size="sm" className="name">
                After the last column: {extra.join(", ")}
              </Text>
              <Button size="xs" variant="default" onClick={() => setCells((old) => old.slice(0, sheet.given.length))}>
                Take it away
              </Button>
            </Group>
          )}
          <Group justify="space-between">
            <Button
              variant="default"
              onClick={() => {
                onSheet(sheet.leftOut(at) ? sheet.restore(at) : sheet.leaveOut(at));
                onClose();
              }}
            >
              {sheet.leftOut(at) ? "Send this row, too" : "Leave this row out"}
            </Button>
            <Group gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit">Keep the change</Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
