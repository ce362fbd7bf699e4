// The first value: two lines for a shell, or one button for those who have none at hand.
import { Box, Button, Code, Group, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { provisioning, sendRows } from "../api";
import { row } from "../pages/provisioning/csv";
import { Failure } from "../parts/Page";
import { Copy } from "./MakeKey";

export const resource = "my first server";

/** lines are what a shell needs to make a resource and to send a value of a new object in it. */
export function lines(origin: string, key: string): string {
  const call = (path: string) =>
    `curl -H 'x-api-key: ${key || "YOUR KEY"}' -H 'Content-Type: text/csv' --data-binary @- ${origin}${path}`;
  return [
    `printf 'name\\n${resource}\\n' | ${call("/api/provisioning/custom")}`,
    `printf 'type,resname,view,class,object,i1\\ndata,${resource},${resource},load,load,12.5\\n' | ${call("/api/send")}`,
  ].join("\n");
}

export function SendFirst({ apiKey, onSent }: { apiKey: string; onSent: () => void }) {
  const [value, setValue] = useState("12.5");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const text = lines(location.origin, apiKey);
  const send = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      await provisioning.post("custom", `name\n${row([resource])}\n`);
      const data = row(["data", resource, resource, "load", "load", value.trim()]);
      const report = await sendRows(`type,resname,view,class,object,i1\n${data}\n`);
      if (report.errors[0]) throw new Error(report.errors[0].message);
      onSent();
    } catch (err) {
      setFailure(err);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack gap="xs">
      <Text size="sm">
        In a shell: the first line makes a resource, the second an object in it with its first value. Send the second
        again with other numbers as often as you like.
      </Text>
      <Box component="section" tabIndex={0} aria-label="Lines for a shell" style={{ overflowX: "auto" }}>
        <Code block style={{ overflow: "visible", width: "max-content", minWidth: "100%" }}>
          {text}
        </Code>
      </Box>
      <Group gap="xs">
        <Copy value={text} label="Copy the lines" />
        {!apiKey && (
          <Text size="sm" c="dimmed">
            With a key from step 1 they are ready to run.
          </Text>
        )}
      </Group>
      <form onSubmit={send}>
        <Group gap="xs" align="flex-end">
          <TextInput
            label="Or send a value from here"
            inputMode="decimal"
            value={value}
            onChange={(e) => setValue(e.currentTarget.value)}
            w={200}
            required
            withAsterisk={false}
          />
          <Button type="submit" variant="default" loading={busy}>
            Send it
          </Button>
        </Group>
      </form>
      {failure !== null && <Failure error={failure} />}
    </Stack>
  );
}
