// The dialog that makes a key, and shows it this once.
import { Button, Group, NativeSelect, Radio, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { keys, type Level, type MadeKey } from "../../api";
import { Failure } from "../../parts/Page";
import { zone } from "../../parts/Time";
import { Copied } from "./Copy";
import { queryLine, sendLines } from "./curl";
import { NarrowFields, narrowing, unrestricted } from "./NarrowKey";
import { OnceSecret, SecretModal } from "./SecretModal";

export const levels: { level: Level; label: string; about: string }[] = [
  { level: "read", label: "Read", about: "Reads queries, statuses, the tree, classes and packages. Changes nothing." },
  {
    level: "readwrite",
    label: "Read and write",
    about: "Also sends data, provisions, manages, acknowledges and sets notes. For programs that send data.",
  },
  {
    level: "readwritedelete",
    label: "Read, write and delete",
    about: "Also removes resources, views and objects with their content, and defines classes.",
  },
];

const terms = [
  { value: "30d", label: "In 30 days" },
  { value: "90d", label: "In 90 days" },
  { value: "365d", label: "In 1 year" },
  { value: "date", label: "On a date" },
  { value: "", label: "Never" },
];

export function NewKey({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [made, setMade] = useState<MadeKey>();
  return (
    <SecretModal title={made ? "Your new key" : "Create a key"} shown={!!made} size="xl" onClose={onClose}>
      {made ? (
        <Shown made={made} onClose={onClose} />
      ) : (
        <Form
          onClose={onClose}
          onMade={(k) => {
            setMade(k);
            onMade();
          }}
        />
      )}
    </SecretModal>
  );
}

function Form({ onClose, onMade }: { onClose: () => void; onMade: (k: MadeKey) => void }) {
  const [name, setName] = useState("");
  // As little as possible, unless someone chooses more.
  const [level, setLevel] = useState<Level>("read");
  const [term, setTerm] = useState("90d");
  const [date, setDate] = useState("");
  const [draft, setDraft] = useState(unrestricted);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const create = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const expires = term === "date" ? new Date(date).toISOString() : term;
      onMade(await keys.create({ name, level, expires: expires || undefined, ...narrowing(draft) }));
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={create}>
      <Stack>
        <TextInput
          label="Name"
          description="Name of the program that will use it; it is shown in events and in this list."
          placeholder="agents in Berlin"
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
          required
          data-autofocus
          autoComplete="off"
        />
        <Radio.Group label="Level" value={level} onChange={(v) => setLevel(v as Level)}>
          <Stack gap="xs" mt={6}>
            {levels.map((l) => (
              <Radio key={l.level} value={l.level} label={l.label} description={l.about} />
            ))}
          </Stack>
        </Radio.Group>
        <NativeSelect
          label="Expires"
          description={
            term ? "From then on it is refused." : "Anyone who obtains it can use it until it is revoked here."
          }
          data={terms}
          value={term}
          onChange={(e) => setTerm(e.currentTarget.value)}
          maw={400}
        />
        {term === "date" && (
          <TextInput
            type="datetime-local"
            label="Last time at which it is accepted"
            description={`In the zone of this browser, ${zone}.`}
            value={date}
            onChange={(e) => setDate(e.currentTarget.value)}
            required
          />
        )}
        <NarrowFields draft={draft} onChange={setDraft} />
        {error !== undefined && <Failure error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function Shown({ made, onClose }: { made: MadeKey; onClose: () => void }) {
  const url = location.origin;
  // The lines need all of the customer.
  const sends = made.level !== "read" && !made.only?.length && !made.views?.length;
  return (
    <OnceSecret
      secret={made.key}
      what="key"
      about={
        <>
          The service keeps a fingerprint of the key, not the key itself. Copy it now to where{" "}
          <b className="name">{made.name}</b> needs it; if it is lost, revoke it and create another.
        </>
      }
      onClose={onClose}
    >
      {sends && (
        <Lines
          title="Make a resource and send it a value"
          label="Lines that send a value"
          text={sendLines(url, made.key).join("\n")}
        />
      )}
      {!made.only?.length && (
        <Lines
          title={sends ? "Query it" : "Query the current status"}
          label="Line that runs a query"
          text={queryLine(url, made.key, sends)}
        />
      )}
      {location.protocol === "https:" && (
        <Text size="xs" c="dimmed">
          If the service made its own certificate, give curl the file with <code>--cacert</code>.
        </Text>
      )}
    </OnceSecret>
  );
}

function Lines({ title, label, text }: { title: string; label: string; text: string }) {
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <Copied text={text} label={label} />
    </Stack>
  );
}
