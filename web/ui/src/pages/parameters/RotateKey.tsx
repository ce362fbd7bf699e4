// The dialog that gives a key another secret, and shows it this once.
import { Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type Key, keys, type MadeKey } from "../../api";
import { Failure } from "../../parts/Page";
import { Shown } from "./NewKey";
import { SecretModal } from "./SecretModal";

const overlaps = [
  { value: "0s", label: "Not at all" },
  { value: "1h", label: "For 1 hour" },
  { value: "24h", label: "For 1 day" },
  { value: "7d", label: "For 7 days" },
  { value: "30d", label: "For 30 days" },
];

export function RotateKey({ of, onClose, onDone }: { of: Key; onClose: () => void; onDone: () => void }) {
  const [overlap, setOverlap] = useState("24h");
  const [made, setMade] = useState<MadeKey>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const rotate = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      setMade(await keys.rotate(of.name, overlap));
      onDone();
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <SecretModal title={made ? "The new secret" : "Rotate this key?"} shown={!!made} size="xl" onClose={onClose}>
      {made ? (
        <Shown made={made} onClose={onClose} />
      ) : (
        <form onSubmit={rotate}>
          <Stack>
            <Text className="name">
              <b>{of.name}</b>, ending in {of.last4}, gets a new secret. Its level, restrictions and expiry do not
              change.
            </Text>
            <NativeSelect
              label="The old secret is still accepted"
              description="The list shows when it was last used: when that no longer changes, all programs have the new one."
              data={overlaps}
              value={overlap}
              onChange={(e) => setOverlap(e.currentTarget.value)}
              maw={400}
            />
            {error !== undefined && <Failure error={error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={busy}>
                Rotate the key
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </SecretModal>
  );
}
