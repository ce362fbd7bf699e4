// Takes a window out. It asks in its own place, so that it can be in a list and in a dialog.
import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { act } from "../../api";
import { messageOf } from "../Page";
import type { OneWindow, Whose } from "./windows";

export function RemoveWindow({ item, window, onDone }: { item: Whose; window: OneWindow; onDone: () => void }) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const what = `${window.name ? `window ${window.name}` : "window without a name"} of ${item.name}`;
  const remove = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await act({
        items: [{ name: item.name, kind: item.kind, resname: item.kind === "resource" ? undefined : item.resource }],
        isunmanaged: false,
        window: window.name,
      });
      onDone();
    } catch (e) {
      setError(e);
    }
    setBusy(false);
    setAsking(false);
  };
  return (
    <>
      {asking ? (
        <Group gap="xs" wrap="nowrap">
          <Button size="compact-sm" color="red.9" loading={busy} onClick={remove} aria-label={`Remove the ${what} now`}>
            Remove it
          </Button>
          <Button size="compact-sm" variant="default" disabled={busy} onClick={() => setAsking(false)} autoFocus>
            Keep it
          </Button>
        </Group>
      ) : (
        <Button size="compact-sm" variant="default" onClick={() => setAsking(true)} aria-label={`Remove the ${what}`}>
          Remove
        </Button>
      )}
      {error !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert" className="name">
          {messageOf(error)}
        </Text>
      )}
    </>
  );
}
