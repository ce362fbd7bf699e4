// Retention and the other settings that can be changed while the service runs.
import { Button, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Setting, settings } from "../../api";
import { Failure, Page, Waiting } from "../../parts/Page";
import { useMay } from "../../session";
import { Confirm } from "./Confirm";
import { notify } from "./notify";

const prefix = "retention.";

export default function RetentionPage() {
  const list = useQuery({ queryKey: ["settings"], queryFn: settings.list });
  const may = useMay();
  const all = list.data?.settings ?? [];
  const kept = all.filter((s) => s.name.startsWith(prefix));
  const rest = all.filter((s) => !s.name.startsWith(prefix) && (s.change || s.scope === "customer"));
  return (
    <Page title="Retention">
      <Text c="dimmed" size="sm" maw={720}>
        How long each collection is kept, as 90d; 0 is forever.{" "}
        {may.instance
          ? "A shorter time takes effect at once: older data are deleted permanently."
          : "It applies to the whole instance: an instance administrator can change it."}
      </Text>
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {kept.length > 0 && <Settings label="Retention" list={kept} careful />}
      {rest.length > 0 && (
        <Stack gap="sm">
          <Title order={2} size="h4">
            Other settings
          </Title>
          <Settings label="Other settings" list={rest} />
        </Stack>
      )}
    </Page>
  );
}

const fromText: Record<Setting["from"], string> = {
  default: "the default",
  stored: "set here",
  file: "from the configuration file, which takes precedence",
  flag: "from the command line, which takes precedence",
};

/** Settings is a form of some settings. What is sent is what was changed. */
function Settings({ label, list, careful }: { label: string; list: Setting[]; careful?: boolean }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>();
  const changed = list.filter((s) => typed[s.name] !== undefined && typed[s.name]?.trim() !== String(s.value));
  const put = async (changes: Record<string, string | null>) => {
    client.setQueryData(["settings"], await settings.put(changes));
    setTyped((t) => Object.fromEntries(Object.entries(t).filter(([name]) => !(name in changes))));
    notify("Saved and in force.");
  };
  const save = () => put(Object.fromEntries(changed.map((s) => [s.name, typed[s.name]?.trim() ?? ""])));
  const attempt = (f: () => Promise<void>) => {
    setError(undefined);
    f().catch(setError);
  };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (careful) setAsking(true);
    else attempt(save);
  };
  return (
    <form onSubmit={submit} aria-label={label}>
      <Stack gap="sm">
        <div className="settings">
          {list.map((s) => (
            <Field
              key={s.name}
              of={s}
              value={typed[s.name] ?? String(s.value)}
              onChange={(v) => setTyped((t) => ({ ...t, [s.name]: v }))}
              onBack={() => attempt(() => put({ [s.name]: null }))}
            />
          ))}
        </div>
        {error !== undefined && <Failure error={error} />}
        {list.some((s) => s.change) && (
          <Group>
            <Button type="submit" disabled={!changed.length}>
              Save
            </Button>
          </Group>
        )}
      </Stack>
      {asking && (
        <Confirm title="Change how long data are kept?" action="Change it" onClose={() => setAsking(false)} onDo={save}>
          {changed.map((s) => (
            <Text size="sm" key={s.name}>
              {s.name.slice(prefix.length)}: {String(s.value)} becomes <b>{typed[s.name]}</b>
            </Text>
          ))}
          <Text size="sm" mt="xs">
            Where the new time is shorter, older data of all customers are removed at once and cannot be restored.
          </Text>
        </Confirm>
      )}
    </form>
  );
}

/** described says where a value comes from; what a collection is, its name says already. */
function described(of: Setting): string {
  const from = of.from === "stored" ? `set here; else ${String(of.default) || "empty"}` : fromText[of.from];
  return of.name.startsWith(prefix) ? from : `${of.help} (${from})`;
}

function Field({
  of,
  value,
  onChange,
  onBack,
}: {
  of: Setting;
  value: string;
  onChange: (v: string) => void;
  onBack: () => void;
}) {
  const name = of.name.startsWith(prefix) ? of.name.slice(prefix.length) : of.name;
  if (!of.change)
    return (
      <div>
        <Text size="sm" fw={500}>
          {name}
        </Text>
        <Text className="number">{String(of.value)}</Text>
        <Text size="xs" c="dimmed">
          {fromText[of.from]}
        </Text>
      </div>
    );
  return (
    <div>
      <TextInput
        label={name}
        value={value}
        onChange={(e) => onChange(e.currentTarget.value)}
        inputWrapperOrder={["label", "input", "description", "error"]}
        description={described(of)}
      />
      {of.from === "stored" && (
        <Button size="compact-xs" variant="subtle" onClick={onBack} aria-label={`Take it back: ${name}`}>
          Take it back
        </Button>
      )}
    </div>
  );
}
