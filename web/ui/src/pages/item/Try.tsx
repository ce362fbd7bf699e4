// Filter and script of a receiver, tried on a message: nothing is stored.
import { Alert, Button, Code, Group, Stack, Table, Text, Textarea } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Tried, tryReceiver } from "../../api";
import { Failure, Waiting } from "../../parts/Page";
import { answersOf } from "./Answers";
import { Card } from "./Why";

/** samples has a message to begin with for each package that receives some. */
export const samples: Record<string, string> = {
  "log-syslog-receiver": "<11>Nov 15 10:00:00 sw1 link: GigabitEthernet0/1 changed state to down",
  "log-trap-receiver": JSON.stringify({ oid: "1.3.6.1.6.3.1.1.5.3", name: "linkDown", p: ["2"] }, null, 1),
};

const code = { input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "var(--mantine-font-size-xs)" } };

const emptyScript = "function message(m) {\n  return m;\n}\n";

/** Try asks for filter and script when someone wants to work on them. */
export function Try({ name, pkg }: { name: string; pkg: string }) {
  const [open, setOpen] = useState(false);
  const answers = useQuery({ queryKey: ["answers", pkg, name], queryFn: () => answersOf(pkg, name), enabled: open });
  const settings = Object.fromEntries(answers.data ?? []);
  return (
    <Card title="Filter and script">
      {!open && (
        <Group>
          <Button size="xs" variant="default" onClick={() => setOpen(true)}>
            Try them on a message
          </Button>
        </Group>
      )}
      {answers.error && <Failure error={answers.error} retry={() => answers.refetch()} />}
      {open && answers.isPending && !answers.error && <Waiting />}
      {answers.data && (
        <Bench name={name} first={{ sample: samples[pkg] ?? "", filter: settings.filter, script: settings.script }} />
      )}
    </Card>
  );
}

interface Draft {
  sample: string;
  filter?: string;
  script?: string;
}

/** sampleOf makes fields of what looks like them; everything else is a line. */
function sampleOf(text: string): unknown {
  if (!text.trimStart().startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function Bench({ name, first }: { name: string; first: Draft }) {
  const [draft, setDraft] = useState<Draft>({ ...first, script: first.script || emptyScript });
  const trial = useMutation({ mutationFn: (d: Draft) => tryReceiver(name, { ...d, sample: sampleOf(d.sample) }) });
  const box = (key: keyof Draft, label: string, rows: number, hint?: string) => (
    <Textarea
      label={label}
      description={hint}
      value={draft[key] ?? ""}
      onChange={(e) => setDraft({ ...draft, [key]: e.currentTarget.value })}
      autosize
      minRows={rows}
      maxRows={16}
      spellCheck={false}
      styles={code}
    />
  );
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        trial.mutate(draft);
      }}
    >
      <Stack gap="sm">
        {box("sample", "Message", 2, "As a device sends it, or its fields as JSON")}
        {box("filter", "Filter", 1, 'A condition, such as severity <= 4 && message contains "link"')}
        {box("script", "Script", 4)}
        <Group>
          <Button type="submit" size="sm" loading={trial.isPending} disabled={!draft.sample.trim()}>
            Try
          </Button>
          <Text size="xs" c="dimmed">
            Nothing is stored. To keep filter and script, provision the resource with them.
          </Text>
        </Group>
        {trial.error && <Failure error={trial.error} />}
        {trial.data && !trial.isPending && <Outcome tried={trial.data} />}
      </Stack>
    </form>
  );
}

function Outcome({ tried }: { tried: Tried }) {
  const verdict = tried.result === "kept" ? "The message is kept" : `The ${tried.by} drops the message`;
  return (
    <Stack gap="sm" component="section" aria-label="Result">
      <Text fw={600} role="status">
        {verdict}
        {tried.error ? " as it came" : ""}{" "}
        <Text span size="xs" c="dimmed" fw={400}>
          {tried.milliseconds} ms
        </Text>
      </Text>
      {tried.error && (
        <Alert color="orange" variant="light" title="It failed" className="name">
          {tried.error}
        </Alert>
      )}
      {tried.ignored && (
        <Text size="sm" className="name">
          No message has these fields, they are left out: {tried.ignored.join(", ")}
        </Text>
      )}
      <Message tried={tried} />
      {tried.feeds.length > 0 && <Feeds feeds={tried.feeds} />}
    </Stack>
  );
}

const shown = (v: unknown) => (Array.isArray(v) ? v.join(", ") : String(v ?? ""));

/** Message shows each field, and what it was where the script has changed it. */
function Message({ tried }: { tried: Tried }) {
  const now = tried.stored ?? tried.received;
  const fields = Object.keys(now).filter((f) => shown(now[f]) !== "" || shown(tried.received[f]) !== "");
  return (
    <Table fz="sm" verticalSpacing={4} layout="fixed">
      <Table.Tbody>
        {fields.map((f) => {
          const changed = shown(now[f]) !== shown(tried.received[f]);
          return (
            <Table.Tr key={f}>
              <Table.Th w="30%" fw={400} c="dimmed" scope="row">
                {f}
              </Table.Th>
              <Table.Td className="name">
                {changed && <s>{shown(tried.received[f]) || "nothing"}</s>}{" "}
                {changed ? <b>{shown(now[f])}</b> : shown(now[f])}
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}

function Feeds({ feeds }: { feeds: Tried["feeds"] }) {
  return (
    <Stack gap={4}>
      <Text size="sm">It would send</Text>
      {feeds.map((f, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same row may be sent twice
        <Code block key={i} className="name">
          {f.type} {f.object} ({f.resource}){" "}
          {f.log ??
            Object.entries(f.values ?? {})
              .map(([k, v]) => `${k}=${v}`)
              .join(" ")}
        </Code>
      ))}
    </Stack>
  );
}
