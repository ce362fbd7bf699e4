// One policy, as a form and as text. What is wrong with it, the service explains; the form shows it at its place.
import { Anchor, Breadcrumbs, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { ApiError, type Definition, type Policy, policies } from "../../api";
import { link } from "../../links";
import { useLeaving } from "../../parts/leaving";
import { Failure, Page, Waiting } from "../../parts/Page";
import { Confirm } from "./Confirm";
import { notify } from "./notify";
import { PolicyForm } from "./PolicyForm";
import { definition, draftOf, type PolicyDraft } from "./policyDraft";
import { examples } from "./policyExamples";
import { faultOf } from "./policyFaults";
import { FormAndText, useText } from "./Text";

const list = link.parameters("policies");

export function PolicyPage({ name }: { name: string }) {
  const q = useQuery({
    queryKey: ["policy", name],
    queryFn: () => policies.get(name),
    enabled: name !== "",
    gcTime: 0, // who edits begins with what is there now
  });
  return (
    <Page
      title={name || "A new policy"}
      before={
        <Breadcrumbs>
          <Anchor component={Link} href={list} size="sm">
            Policies
          </Anchor>
          <Text size="sm" className="name">
            {name || "New"}
          </Text>
        </Breadcrumbs>
      }
    >
      {q.error && <Failure error={q.error} retry={() => q.refetch()} />}
      {name !== "" && q.isPending && <Waiting />}
      {(q.data || !name) && <Editor name={name} was={q.data} />}
    </Page>
  );
}

function Editor({ name, was }: { name: string; was?: Policy }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const [called, setCalled] = useState(name);
  const [draft, setDraft] = useState(() => draftOf(was ?? {}));
  const [dirty, setDirty] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [removing, setRemoving] = useState(false);
  useLeaving(dirty);
  const text = useText(definition(draft), (v) => setDraft(draftOf(v)));
  const fromService = error instanceof ApiError ? faultOf(error.message, draft) : {};

  useEffect(() => {
    if (!error) return;
    const field = document.querySelector<HTMLElement>("#page [aria-invalid=true]");
    if (field) field.focus();
    else document.querySelector("#page [role=alert]")?.scrollIntoView({ block: "center" });
  }, [error]);
  const changed = () => {
    setDirty(true);
    setError(undefined);
  };
  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const body: Definition = text.written ?? { json: definition(draft) };
      const { result, policy } = await policies.put(called, body);
      setDraft(draftOf(policy));
      text.reset();
      setDirty(false);
      client.setQueryData(["policy", called], policy);
      void client.invalidateQueries({ queryKey: ["policies"] });
      notify(
        result === "unchanged"
          ? `Policy ${called} is unchanged.`
          : `Policy ${called} ${result}. It applies from now on.`,
      );
      if (!name) go(link.policy(called), { replace: true });
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };

  return (
    <Stack>
      {!name && (
        <TextInput
          label="Name"
          description="Shown in the list of policies."
          value={called}
          onChange={(e) => setCalled(e.currentTarget.value)}
          required
          maw={420}
        />
      )}
      {was && <About of={was} />}
      {!name && (
        <Group gap="xs">
          <Text size="sm">Begin with</Text>
          {examples.map((e) => (
            <Button
              key={e.label}
              size="compact-sm"
              variant="default"
              onClick={() => {
                text.reset();
                setDraft(begun(draft, e.policy));
                changed();
              }}
            >
              {e.label}
            </Button>
          ))}
        </Group>
      )}
      {error !== undefined && <Failure error={error} />}
      <FormAndText text={text} label={`Policy ${called}`} onEdit={changed}>
        <PolicyForm
          draft={draft}
          onChange={(d) => {
            setDraft(d);
            changed();
          }}
          faults={fromService}
        />
      </FormAndText>
      <Group className="save">
        <Button onClick={save} loading={busy} disabled={!called.trim()}>
          Save
        </Button>
        {name && (
          <Button variant="default" onClick={() => setRemoving(true)}>
            Remove…
          </Button>
        )}
        <Text size="sm" c="dimmed">
          The items that it covers are reevaluated at once.
        </Text>
      </Group>
      {removing && (
        <Confirm
          title="Remove this policy?"
          action="Remove the policy"
          onClose={() => setRemoving(false)}
          onDo={async () => {
            await policies.remove(name);
            client.removeQueries({ queryKey: ["policy", name] });
            void client.invalidateQueries({ queryKey: ["policies"] });
            notify(`Policy ${name} is removed.`);
            go(list, { replace: true });
          }}
        >
          <Text size="sm" className="name">
            Without <b>{name}</b>, the next policy above the item applies, or else the classes. Statuses that follow
            from it change at once.
          </Text>
        </Confirm>
      )}
    </Stack>
  );
}

function About({ of }: { of: Policy }) {
  return (
    <Text size="sm" c="dimmed" className="name">
      About the {of.kind}{" "}
      <Anchor
        component={Link}
        href={link.item({ kind: of.kind, name: of.item, resource: of.resource })}
        underline="always"
        className="name"
      >
        {of.item}
      </Anchor>
      {of.kind !== "resource" && of.resource && ` in ${of.resource}`}.
    </Text>
  );
}

/** begun is an example, about the item that was chosen already, if one was. */
function begun(d: PolicyDraft, example: Omit<Policy, "name">): PolicyDraft {
  const begin = draftOf(example);
  return d.item ? { ...begin, kind: d.kind, item: d.item, resource: d.resource } : begin;
}
