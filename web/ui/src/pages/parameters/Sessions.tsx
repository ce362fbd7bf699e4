// Where one is logged in, and the way out of each place.
import { Badge, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type OwnSession, session } from "../../api";
import { Failure, Waiting } from "../../parts/Page";
import { Age, Time } from "../../parts/Time";
import { Confirm } from "./Confirm";
import { notify } from "./notify";
import { type Column, Rows } from "./Rows";

export function Sessions() {
  const client = useQueryClient();
  const list = useQuery({ queryKey: ["sessions"], queryFn: session.all, refetchInterval: 30_000 });
  const [ending, setEnding] = useState<OwnSession>();
  const [leaving, setLeaving] = useState(false);
  return (
    <Stack gap="sm" component="section" aria-labelledby="sessions">
      <Group justify="space-between">
        <Title order={2} size="h4" id="sessions">
          Where you are logged in
        </Title>
        <Button variant="default" onClick={() => setLeaving(true)}>
          Log out everywhere…
        </Button>
      </Group>
      <Text c="dimmed" size="sm" maw={720}>
        End what you do not recognise, and change your password then. Unused sessions end automatically.
      </Text>
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {list.data && (
        <Rows label="Your sessions" columns={columns(setEnding)} rows={inOrder(list.data)} keyOf={(s) => s.id} />
      )}
      {ending && (
        <End
          of={ending}
          onClose={() => setEnding(undefined)}
          onEnded={() => client.invalidateQueries({ queryKey: ["sessions"] })}
        />
      )}
      {leaving && <Everywhere onClose={() => setLeaving(false)} />}
    </Stack>
  );
}

/** inOrder has this browser first, and then what was used last. */
function inOrder(list: OwnSession[]): OwnSession[] {
  const used = (s: OwnSession) => s.lastuse ?? s.created;
  return [...list].sort((a, b) => Number(b.current) - Number(a.current) || used(b).localeCompare(used(a)));
}

const nameOf = (s: OwnSession) => s.browser || "Unknown browser";

function columns(onEnd: (s: OwnSession) => void): Column<OwnSession>[] {
  return [
    {
      label: "Browser",
      cell: (s) => (
        <Group gap="xs">
          <b className="name">{nameOf(s)}</b>
          {s.current && (
            <Badge variant="default" tt="none">
              this one
            </Badge>
          )}
        </Group>
      ),
    },
    { label: "Address", cell: (s) => <span className="number whole">{s.address || "unknown"}</span> },
    { label: "Logged in", cell: (s) => <Moment at={s.created} /> },
    { label: "Last use", cell: (s) => <LastUse of={s} /> },
    { label: "Ends unless used", cell: (s) => <Moment at={s.expires} /> },
    {
      label: "Actions",
      tools: true,
      cell: (s) => (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => onEnd(s)}
          aria-label={s.current ? "End this session" : `End the session of ${nameOf(s)} from ${s.address || "unknown"}`}
        >
          End
        </Button>
      ),
    },
  ];
}

const Moment = ({ at }: { at: string }) => (
  <span className="whole">
    <Time at={at} />
  </span>
);

function LastUse({ of }: { of: OwnSession }) {
  if (of.current) return <>now</>;
  if (!of.lastuse) return <>unknown</>;
  return (
    <span className="whole">
      <Age at={of.lastuse} /> ago
    </span>
  );
}

function End({ of, onClose, onEnded }: { of: OwnSession; onClose: () => void; onEnded: () => Promise<unknown> }) {
  const end = async () => {
    await session.end(of.id);
    if (of.current) {
      location.assign("/ui/");
      return;
    }
    await onEnded();
    notify("The session has ended.");
  };
  return (
    <Confirm title="End this session?" action="End the session" onClose={onClose} onDo={end}>
      <Text className="name">
        <b>{nameOf(of)}</b> from {of.address || "an unknown address"}, logged in <Time at={of.created} />.
      </Text>
      <Text size="sm" mt="xs">
        {of.current
          ? "You are using this session: you will have to log in again."
          : "Its user is logged out at the next click and needs the password to log in again."}
      </Text>
    </Confirm>
  );
}

function Everywhere({ onClose }: { onClose: () => void }) {
  return (
    <Confirm
      title="Log out everywhere?"
      action="Log out everywhere"
      onClose={onClose}
      onDo={async () => {
        await session.logOut(true);
        location.assign("/ui/");
      }}
    >
      <Text size="sm">Your sessions in all browsers end, including this one. You will have to log in again.</Text>
    </Confirm>
  );
}
