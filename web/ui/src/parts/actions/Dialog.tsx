// The dialog of an operation: its form, progress while it is done, and what became of each item when there is something
// to show.
import { Progress as Bar, Button, Group, Modal, Stack, Text } from "@mantine/core";
import { type ComponentType, type FormEvent, useMemo, useRef, useState } from "react";
import { pageNow } from "../../clock";
import { notify } from "../notices";
import { AcknowledgeForm, type FormProps, ManageForm, type Request, UnacknowledgeForm, UnmanageForm } from "./Forms";
import type { ActionItem } from "./item";
import { NoteForm } from "./NoteForm";
import { findCollision } from "./notes";
import { inShort, Outcomes, worthReading } from "./Outcomes";
import { counted, fits, type Operation, operationName } from "./operations";
import { Preview } from "./Preview";
import { calls, type Outcome, type Progress, perform } from "./perform";
import { SavedNotes } from "./SavedNotes";
import { forgetNotes, keepNote } from "./saved";

const forms: Record<Operation, ComponentType<FormProps>> = {
  acknowledge: AcknowledgeForm,
  unacknowledge: UnacknowledgeForm,
  unmanage: UnmanageForm,
  manage: ManageForm,
  note: NoteForm,
};

interface Props {
  operation: Operation;
  items: ActionItem[];
  onClose: () => void;
  /** Something was done. */
  onDone?: () => void;
}

const unfit: Partial<Record<Operation, string>> = {
  acknowledge: "not in error",
  unacknowledge: "not acknowledged",
  manage: "managed already",
};

/** checkNote adds to the outcome of a note for one item what it replaced unseen. What replaces it later is shown by the page. */
async function checkNote(o: Outcome | undefined, { body, seenNote }: Request, opened: number) {
  if (!o?.done || body.note === undefined || seenNote === undefined) return;
  keepNote(o.item, body.note, opened, SavedNotes);
  o.collision = await findCollision(o.item, body.note, seenNote, opened);
}

export default function Dialog({ operation, items, onClose, onDone }: Props) {
  const [wanted, setWanted] = useState(items); // all, or those that are tried again
  const fitting = useMemo(() => wanted.filter((i) => fits(operation, i)), [operation, wanted]);
  const [request, setRequest] = useState<Request>({ body: {}, items: [] });
  const [opened] = useState(pageNow);
  const [progress, setProgress] = useState<Progress>();
  const [outcomes, setOutcomes] = useState<Outcome[]>();
  const stop = useRef<AbortController>(undefined);
  const Form = forms[operation];

  const submit = async (e: FormEvent) => {
    e.preventDefault();
    stop.current = new AbortController();
    setOutcomes(undefined);
    setProgress({ done: 0, of: request.items.length });
    if (request.body.note !== undefined) forgetNotes(request.items);
    const all = await perform(request.items, request.body, stop.current.signal, setProgress);
    await checkNote(all[0], request, opened);
    setProgress(undefined);
    if (all.some((o) => o.done)) onDone?.();
    if (worthReading(all)) {
      setOutcomes(all);
      return;
    }
    void notify({ message: inShort(all), color: "bell", role: "status" });
    onClose();
  };

  const one = fitting.length === 1 ? fitting[0] : undefined;
  const left = wanted.length - fitting.length;
  // What was done for none is tried again from the form, which keeps what was typed. Else the form waits out of sight.
  const undone = outcomes?.filter((o) => !o.done).map((o) => o.item) ?? [];
  const partly = !!outcomes && undone.length < outcomes.length;
  const again = () => {
    setWanted(undone);
    setOutcomes(undefined);
  };
  // What one call does cannot be stopped half way, and says nothing until it is done.
  const stoppable = useMemo(() => calls(request.items).length > 1, [request.items]);
  return (
    <Modal
      opened
      onClose={progress ? () => {} : onClose}
      size="lg"
      title={
        <span className="name">
          {operationName[operation]} {one ? `“${one.name}”` : counted(fitting.length, "item")}
        </span>
      }
      closeButtonProps={{ "aria-label": "Close", disabled: !!progress }}
    >
      {partly && (
        <Stack>
          <Outcomes all={outcomes} />
          <Group justify="flex-end">
            {undone.length > 0 && (
              <Button variant="default" onClick={again}>
                Try again
              </Button>
            )}
            <Button onClick={onClose} data-autofocus>
              Close
            </Button>
          </Group>
        </Stack>
      )}
      <form onSubmit={submit} hidden={partly}>
        <Stack>
          {left > 0 && (
            <Text size="sm" c="dimmed">
              {counted(left, "item")} of the selection {left === 1 ? "is" : "are"} {unfit[operation]} and left alone.
            </Text>
          )}
          <fieldset disabled={!!progress} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
            <Form items={fitting} onChange={setRequest} />
          </fieldset>
          <Preview request={request} />
          {outcomes && !partly && <Outcomes all={outcomes} />}
          {progress && (
            <Bar.Root size="lg">
              <Bar.Section
                value={stoppable ? (100 * progress.done) / progress.of : 100}
                animated={!stoppable}
                aria-label="Done so far"
              />
            </Bar.Root>
          )}
          <Group justify="flex-end">
            {progress && stoppable && (
              <Text size="sm" c="dimmed" className="number" role="status">
                {progress.done.toLocaleString()} of {progress.of.toLocaleString()}
              </Text>
            )}
            <Button
              variant="default"
              disabled={!!progress && !stoppable}
              onClick={progress ? () => stop.current?.abort() : onClose}
            >
              {progress && stoppable ? "Stop" : "Cancel"}
            </Button>
            <Button
              type="submit"
              disabled={!request.items.length || !!progress}
              data-autofocus={operation === "unacknowledge" || undefined}
            >
              {outcomes ? "Try again" : operationName[operation]}
              {request.items.length > 1 ? ` ${request.items.length.toLocaleString()}` : ""}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
