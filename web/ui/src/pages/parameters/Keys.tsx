// API keys: who may send and ask from outside.
import { Button, Group, Stack, Text } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Key, keys, type Level } from "../../api";
import { pageNow } from "../../clock";
import { Empty, Failure, Page, Waiting } from "../../parts/Page";
import { Age, Time } from "../../parts/Time";
import { Confirm } from "./Confirm";
import { Restrictions } from "./NarrowKey";
import { levels, NewKey } from "./NewKey";
import { RotateKey } from "./RotateKey";
import { type Column, Find, Rows, useFound } from "./Rows";

export default function KeysPage() {
  const client = useQueryClient();
  const list = useQuery({ queryKey: ["keys"], queryFn: keys.all, refetchInterval: 30_000 });
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Key>();
  const [rotating, setRotating] = useState<Key>();
  const found = useFound();
  const again = () => client.invalidateQueries({ queryKey: ["keys"] });
  const shown = list.data?.filter((k) => found.has(k.name, k.creator, k.last4));
  return (
    <Page
      title="API keys"
      tools={
        <>
          {!!list.data && list.data.length > 8 && <Find label="Find a key" />}
          <Button leftSection={<IconPlus size={16} />} onClick={() => setMaking(true)}>
            Create a key
          </Button>
        </>
      }
    >
      <Text c="dimmed" size="sm" maw={720}>
        Programs authenticate with a key. Give each program its own, with the lowest sufficient level: then one can be
        revoked without touching the others.
      </Text>
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {list.data?.length === 0 && <First onCreate={() => setMaking(true)} />}
      {!!list.data?.length &&
        (shown?.length ? (
          <Rows label="API keys" columns={columns(setRotating, setRevoking)} rows={shown} keyOf={(k) => k.name} />
        ) : (
          <Empty title="No key has this name" />
        ))}
      {making && <NewKey onClose={() => setMaking(false)} onMade={again} />}
      {rotating && <RotateKey of={rotating} onClose={() => setRotating(undefined)} onDone={again} />}
      {revoking && (
        <Confirm
          title="Revoke this key?"
          action="Revoke the key"
          onClose={() => setRevoking(undefined)}
          onDo={async () => {
            await keys.revoke(revoking.name);
            await again();
          }}
        >
          <Text className="name">
            <b>{revoking.name}</b>, ending in {revoking.last4}.
          </Text>
          <Text size="sm" mt="xs">
            {revoking.lastuse ? (
              <>
                It was last used <Age at={revoking.lastuse} /> ago.{" "}
              </>
            ) : (
              "It was never used. "
            )}
            Requests with it are refused from then on. This cannot be undone.
          </Text>
        </Confirm>
      )}
    </Page>
  );
}

function columns(onRotate: (k: Key) => void, onRevoke: (k: Key) => void): Column<Key>[] {
  return [
    { label: "Name", cell: (k) => <b className="name">{k.name}</b> },
    {
      label: "Level",
      cell: (k) => (
        <>
          {levelName(k.level)}
          <Restrictions {...k} />
        </>
      ),
    },
    { label: "Ends in", cell: (k) => <Secrets of={k} /> },
    { label: "Created", cell: (k) => <Made by={k.creator} at={k.created} /> },
    { label: "Expires", cell: (k) => <Expiry at={k.expires} /> },
    { label: "Last use", cell: (k) => <LastUse at={k.lastuse} /> },
    {
      label: "Actions",
      tools: true,
      cell: (k) => (
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <Button size="compact-sm" variant="default" onClick={() => onRotate(k)} aria-label={`Rotate ${k.name}`}>
            Rotate
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => onRevoke(k)} aria-label={`Revoke ${k.name}`}>
            Revoke
          </Button>
        </Group>
      ),
    },
  ];
}

const levelName = (l: Level) => levels.find((d) => d.level === l)?.label ?? l;

/** Secrets shows how the secret of a key ends, and the old ones with their end and last use. */
function Secrets({ of }: { of: Key }) {
  return (
    <>
      <span className="number">…{of.last4}</span>
      {of.old?.map((o) => (
        <Text key={o.last4 + o.until} size="xs" c="dimmed">
          old …{o.last4}, until <Time at={o.until} />,{" "}
          {o.lastuse ? (
            <>
              last used <Age at={o.lastuse} /> ago
            </>
          ) : (
            "never used"
          )}
        </Text>
      ))}
    </>
  );
}

function Made({ by, at }: { by: string; at: string }) {
  return (
    <>
      <Time at={at} />
      <Text size="xs" c="dimmed" className="name">
        by {by}
      </Text>
    </>
  );
}

function Expiry({ at }: { at?: string }) {
  if (!at) return <>never</>;
  const over = new Date(at).getTime() <= pageNow();
  return (
    <Stack gap={0}>
      <Time at={at} />
      {over && (
        <Text size="xs" c="var(--mantine-color-error)" fw={600}>
          expired: it is refused
        </Text>
      )}
    </Stack>
  );
}

function LastUse({ at }: { at?: string }) {
  if (!at) return <>never</>;
  return (
    <>
      <Time at={at} />
      <Text size="xs" c="dimmed">
        <Age at={at} /> ago
      </Text>
    </>
  );
}

function First({ onCreate }: { onCreate: () => void }) {
  return (
    <Empty title="The first key" icon={<IconKey size={32} />}>
      <Stack gap="md" align="center">
        <span>
          No program can send or query data yet. Create a key of level “Read and write” to get ready-made lines for a
          shell: they create a resource, send it a value and query it.
        </span>
        <Group>
          <Button onClick={onCreate}>Create the first key</Button>
        </Group>
      </Stack>
    </Empty>
  );
}
