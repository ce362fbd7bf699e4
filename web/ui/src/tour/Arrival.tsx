// Whether data have arrived: heard from the stream, and asked for now and then, since a value that changes no status is not
// in the stream.
import { Anchor, Group, Loader, Stack, Text } from "@mantine/core";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { type StatusRow, sql } from "../api";
import { link } from "../links";
import { useLive } from "../live";
import { StatusIcon } from "../parts/StatusIcon";
import { Age } from "../parts/Time";

/** useFirst is the object that got data last; null as long as there is none. */
export function useFirst(): UseQueryResult<StatusRow | null> {
  const first = useQuery({
    queryKey: ["first steps", "arrived"],
    queryFn: async () => {
      const found = await sql<StatusRow>(
        "SELECT kind, name, resource, status, acknowledged, isunmanaged, lastdata, i1 FROM objectstatus WHERE kind='object' AND lastdata IS NOT NULL ORDER BY lastdata DESC",
        { rows: 1 },
      );
      return found.rows[0] ?? null;
    },
    refetchInterval: 3000,
  });
  useLive({ status: () => void first.refetch(), resync: () => void first.refetch() });
  return first;
}

export function Arrival({ first, onLeave }: { first: UseQueryResult<StatusRow | null>; onLeave?: () => void }) {
  const o = first.data;
  return (
    <div role="status" aria-live="polite">
      {o ? (
        <Stack gap={4}>
          <Group gap="xs">
            <StatusIcon {...o} />
            <Text size="sm" className="name">
              {o.name} of {o.resource}
              {o.i1 !== undefined && (
                <>
                  : <b className="number">{o.i1}</b>
                </>
              )}
            </Text>
            <Text size="sm" c="dimmed">
              <Age at={o.lastdata} /> ago
            </Text>
          </Group>
          <Anchor
            component={Link}
            href={link.item({ kind: "object", name: o.name, resource: o.resource })}
            size="sm"
            onClick={onLeave}
          >
            Open its chart
          </Anchor>
        </Stack>
      ) : (
        <Group gap="xs">
          <Loader size="xs" />
          <Text size="sm" c="dimmed">
            Waiting for the first value. It shows here as soon as it has arrived.
          </Text>
        </Group>
      )}
    </div>
  );
}
