// A key, made in place. It is shown only once: the service keeps only its digest.
import { Button, Code, CopyButton, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { keys } from "../api";
import { Failure } from "../parts/Page";

export function MakeKey({ made, onMade }: { made: string; onMade: (key: string) => void }) {
  const [name, setName] = useState("first key");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const make = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      onMade((await keys.create({ name: name.trim(), level: "readwrite", expires: "90d" })).key);
    } catch (err) {
      setFailure(err);
    } finally {
      setBusy(false);
    }
  };
  if (made)
    return (
      <Stack gap={4}>
        <Group gap="xs" wrap="nowrap">
          <Code className="name" fz="sm" aria-label="The new key">
            {made}
          </Code>
          <Copy value={made} label="Copy the key" />
        </Group>
        <Text size="sm" c="dimmed">
          It is shown only once. Keep it where your programs find it; a lost one is revoked and rebuilt under
          Parameters.
        </Text>
      </Stack>
    );
  return (
    <form onSubmit={make}>
      <Stack gap="xs">
        <Text size="sm">
          Programs authenticate with a key. Give each one its own key. This one may read and write, and expires in 90
          days.
        </Text>
        <Group gap="xs" align="flex-end">
          <TextInput
            label="Name of the key"
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
            autoComplete="off"
            required
            withAsterisk={false}
          />
          <Button type="submit" loading={busy}>
            Make a key
          </Button>
        </Group>
        {failure !== null && <Failure error={failure} />}
      </Stack>
    </form>
  );
}

export function Copy({ value, label }: { value: string; label: string }) {
  return (
    <CopyButton value={value} timeout={2000}>
      {({ copied, copy }) => (
        <Button
          size="compact-sm"
          variant="default"
          onClick={copy}
          aria-label={label}
          leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          style={{ flex: "none" }}
        >
          {copied ? "Copied" : "Copy"}
        </Button>
      )}
    </CopyButton>
  );
}
