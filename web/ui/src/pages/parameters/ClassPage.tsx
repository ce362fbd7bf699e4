// One class: as a form, as text, or, for those who may not change it, as it is.
import { Anchor, Breadcrumbs, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { ApiError, type Class, classes, type Definition } from "../../api";
import { link } from "../../links";
import { useLeaving } from "../../parts/leaving";
import { Failure, Page, Waiting } from "../../parts/Page";
import { useMay } from "../../session";
import { ClassForm } from "./ClassForm";
import { ClassView } from "./ClassView";
import { Confirm } from "./Confirm";
import { type Draft, definition, draftOf, type Faults, faultOf, faults, nameFault, newIndicator } from "./classDraft";
import { notify } from "./notify";
import { sourceName } from "./sources";
import { FormAndText, useText } from "./Text";

const list = link.parameters("classes");

export function ClassPage({ name }: { name: string }) {
  const may = useMay();
  const q = useQuery({
    queryKey: ["class", name],
    queryFn: () => classes.get(name),
    enabled: name !== "",
    gcTime: 0, // who edits begins with what is there now
  });
  return (
    <Page
      title={name || "A new class"}
      before={
        <Breadcrumbs>
          <Anchor component={Link} href={list} size="sm">
            Classes
          </Anchor>
          <Text size="sm" className="name">
            {name || "New"}
          </Text>
        </Breadcrumbs>
      }
    >
      {q.error && <Failure error={q.error} retry={() => q.refetch()} />}
      {name !== "" && q.isPending && <Waiting />}
      {q.data && <About of={q.data} />}
      {(q.data || !name) &&
        (may.administer ? (
          <Editor key={q.data?.source} name={name} was={q.data} />
        ) : (
          q.data && <ClassView of={q.data} />
        ))}
    </Page>
  );
}

function About({ of }: { of: Class }) {
  const many = of.objects ?? 0;
  return (
    <Text size="sm" c="dimmed">
      {of.source && `Definition: ${sourceName[of.source]}. `}
      {many === 0 && "No object has this class."}
      {many > 0 && (
        <>
          <Anchor component={Link} href={link.status({ class: of.name })} underline="always">
            {many === 1 ? "1 object" : `${many.toLocaleString()} objects`}
          </Anchor>{" "}
          {many === 1 ? "has" : "have"} this class.
        </>
      )}
      {of.source === "inferred" && " It accepts any indicator; once you save it, rows must match its definition."}
    </Text>
  );
}

function started(was?: Class): Draft {
  if (was) return draftOf(was);
  const empty = draftOf({ name: "" });
  return { ...empty, indicators: [newIndicator(empty)] };
}

function Editor({ name, was }: { name: string; was?: Class }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const [called, setCalled] = useState(name);
  const [draft, setDraft] = useState(() => started(was));
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [removing, setRemoving] = useState(false);
  const [dirty, setDirty] = useState(false);
  useLeaving(dirty);
  const text = useText(definition(called, draft), (v) => setDraft(draftOf(v as Class)));
  const wrong = faults(draft);
  const fromService = error instanceof ApiError ? faultOf(error.message, draft) : {};
  const missing = !called ? "Give it a name." : nameFault(called);

  const save = async () => {
    setTried(true);
    if (missing || (text.tab === "form" && Object.keys(wrong).length)) {
      requestAnimationFrame(() => document.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      const body: Definition = text.written ?? { json: definition(called, draft) };
      const { result, class: now } = await classes.put(called, body);
      setDraft(draftOf(now));
      text.reset();
      setTried(false);
      setDirty(false);
      client.setQueryData(["class", called], now);
      void client.invalidateQueries({ queryKey: ["classes"] });
      notify(saved(called, result, now.objects ?? 0));
      if (!name) go(link.class(called), { replace: true });
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };

  const change = (d: Draft) => {
    setDraft(d);
    setDirty(true);
    setError(undefined);
  };
  const many = was?.objects ?? 0;
  return (
    <Stack>
      {!name && (
        <TextInput
          label="Name"
          description="As rows name it in the column class."
          value={called}
          onChange={(e) => setCalled(e.currentTarget.value)}
          error={tried && missing}
          required
          maw={420}
        />
      )}
      {error !== undefined && <Failure error={error} />}
      <FormAndText
        text={text}
        label={`Class ${called}`}
        onEdit={() => {
          setDirty(true);
          setError(undefined);
        }}
      >
        <ClassForm draft={draft} onChange={change} faults={visible(wrong, fromService, tried)} was={was} />
      </FormAndText>
      <Group className="save">
        <Button onClick={save} loading={busy}>
          Save
        </Button>
        {was?.source === "customer" && (
          <Button variant="default" onClick={() => setRemoving(true)}>
            Revert or remove…
          </Button>
        )}
        <Text size="sm" c="dimmed">
          {many > 0
            ? `The status of ${many === 1 ? "1 object" : `${many.toLocaleString()} objects`} is reevaluated at once.`
            : "Nothing is reevaluated: no object has this class yet."}
        </Text>
      </Group>
      {removing && <Remove name={name} objects={many} onClose={() => setRemoving(false)} />}
    </Stack>
  );
}

/** visible: what is empty because it was just added is no fault before someone saves. */
function visible(wrong: Faults, fromService: Faults, tried: boolean): Faults {
  return tried ? { ...wrong, ...fromService } : fromService;
}

function saved(name: string, result: string, objects: number): string {
  if (result === "unchanged") return `Class ${name} is unchanged.`;
  if (!objects) return `Class ${name} ${result}.`;
  return `Class ${name} ${result}; ${objects === 1 ? "1 object has" : `${objects.toLocaleString()} objects have`} been evaluated again.`;
}

function Remove({ name, objects, onClose }: { name: string; objects: number; onClose: () => void }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const remove = async () => {
    await classes.remove(name);
    void client.invalidateQueries({ queryKey: ["classes"] });
    try {
      client.setQueryData(["class", name], await classes.get(name));
      notify(`The definition of ${name} that was there before applies again.`);
    } catch {
      client.removeQueries({ queryKey: ["class", name] });
      notify(`Class ${name} is removed.`);
      go(list, { replace: true });
    }
  };
  return (
    <Confirm title="Remove your own definition?" action="Remove the definition" onDo={remove} onClose={onClose}>
      <Text size="sm" className="name">
        If <b>{name}</b> is built in or comes from a file, that definition applies again
        {objects > 0 &&
          `, and ${objects === 1 ? "1 object is" : `${objects.toLocaleString()} objects are`} evaluated again`}
        . If there is no other definition, the class is removed; that is possible only while no object has it.
      </Text>
    </Confirm>
  );
}
