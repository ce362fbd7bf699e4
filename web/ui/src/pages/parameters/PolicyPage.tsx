// One policy, as text: what can be said about an item is wide, and the service explains what is wrong with it.
import { Anchor, Breadcrumbs, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { type Policy, policies } from "../../api";
import { link } from "../../links";
import { Failure, Page, Waiting } from "../../parts/Page";
import { Confirm } from "./Confirm";
import { examples } from "./policyExamples";
import { TextEditor, useText } from "./Text";
import { tell } from "./tell";

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
  const [value, setValue] = useState<object>(() => withoutName(was) ?? examples[0]?.policy ?? {});
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [removing, setRemoving] = useState(false);
  const text = useText(value, () => {});

  const save = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const body = text.edited === undefined ? { json: value } : { yaml: text.edited };
      const { result, policy } = await policies.put(called, body);
      setValue(withoutName(policy) ?? {});
      text.reset();
      client.setQueryData(["policy", called], policy);
      void client.invalidateQueries({ queryKey: ["policies"] });
      tell(
        result === "unchanged"
          ? `Policy ${called} is as it was.`
          : `Policy ${called} ${result}. It counts from now on.`,
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
          description="By which you find it again."
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
                setValue(e.policy);
              }}
            >
              {e.label}
            </Button>
          ))}
        </Group>
      )}
      {error !== undefined && <Failure error={error} />}
      <TextEditor text={text} label={`Policy ${called}`} onEdit={() => setError(undefined)} />
      <Group>
        <Button onClick={save} loading={busy} disabled={!called.trim()}>
          Save
        </Button>
        {name && (
          <Button variant="default" onClick={() => setRemoving(true)}>
            Remove…
          </Button>
        )}
        <Text size="sm" c="dimmed">
          What it covers shows at once what follows from it.
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
            tell(`Policy ${name} is removed.`);
            go(list, { replace: true });
          }}
        >
          <Text size="sm" className="name">
            Without <b>{name}</b>, the next policy around the item counts, or else the classes. Statuses that follow
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

/** withoutName: the name stands above the text already. */
function withoutName(p?: Policy): object | undefined {
  if (!p) return undefined;
  const { name: _, ...rest } = p;
  return rest;
}
