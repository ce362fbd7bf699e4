// A password that is shown this once.
import { Button, Group, Stack, Text } from "@mantine/core";
import { Notice } from "../../parts/Notice";
import { CopyButton } from "./Copy";

export function Secret({ name, password, onClose }: { name: string; password: string; onClose: () => void }) {
  return (
    <Stack>
      <Notice title="It is shown this once">
        <Text size="sm">
          Give it to <b className="name">{name}</b> on a safe way; it can be changed after the first login.
        </Text>
      </Notice>
      <Group>
        <Text component="code" ff="monospace" size="lg" fw={600} data-testid="password" className="name">
          {password}
        </Text>
        <CopyButton text={password}>Copy the password</CopyButton>
      </Group>
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
