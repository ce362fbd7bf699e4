// The head of an item's page: its location, its status, its details and its notes.
import { Anchor, Badge, Box, Group, Paper, Stack, Text } from "@mantine/core";
import { IconCheck, IconClockPause, IconMap2, IconNote } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { type Explanation, type StatusRow, tree } from "../../api";
import { link } from "../../links";
import { StatusIcon, saying } from "../../parts/StatusIcon";
import { Age, Time } from "../../parts/Time";

interface Place {
  kind: "resource" | "view";
  name: string;
  resource?: string;
}

/** wayTo lists the views around an item, from MAIN down, each with its parent. */
async function wayTo(row: StatusRow, signal: AbortSignal): Promise<Place[]> {
  const way: Place[] = [];
  let view = row.kind === "view" ? row.parentview : row.view;
  let resource = row.kind === "resource" ? undefined : row.resource;
  while (view && way.length < 64) {
    const inside: string | undefined = view === resource ? undefined : resource;
    const { view: found } = await tree({ view, resource: inside, limit: 1 }, signal);
    const kind = found.kind === "resource" ? "resource" : "view";
    way.unshift({ kind, name: found.name, resource: kind === "view" ? found.resource : undefined });
    if (kind === "resource") resource = undefined;
    view = found.parentview;
  }
  return way;
}

/** Way leads from MAIN down to the item, each step to its map. */
export function Way({ row }: { row: StatusRow }) {
  const way = useQuery({
    queryKey: ["way", row.kind, row.resource, row.view, row.parentview, row.name],
    queryFn: ({ signal }) => wayTo(row, signal),
    staleTime: 60_000,
  });
  return (
    <Group component="nav" aria-label="Location" gap={4} mih={22} mb={-12}>
      {(way.data ?? []).map((p) => (
        <Group key={`${p.kind} ${p.name}`} gap={4} wrap="nowrap" style={{ minWidth: 0 }}>
          <Anchor
            component={Link}
            href={link.map(p.name, p.resource)}
            size="sm"
            className="cut"
            maw={280}
            title={p.name}
          >
            {p.name}
          </Anchor>
          <Text size="sm" c="dimmed" aria-hidden="true">
            ›
          </Text>
        </Group>
      ))}
      <Text size="sm" c="dimmed">
        {row.kind}
      </Text>
    </Group>
  );
}

export function Header({ row, why }: { row: StatusRow; why?: Explanation }) {
  return (
    <Stack gap="xs" mt={-8}>
      <Group gap="md" style={{ rowGap: 4 }}>
        <Group gap={8} wrap="nowrap" component="section" aria-label="Status">
          <StatusIcon {...row} size={22} label={false} />
          <Text fw={600}>{saying(row)}</Text>
          {row.since && (
            <Text size="sm" c="dimmed">
              for <Age at={row.since} />
            </Text>
          )}
        </Group>
        <Facts row={row} />
        {row.kind !== "object" && (
          <Anchor
            component={Link}
            href={link.map(row.name, row.kind === "view" ? row.resource : undefined)}
            size="sm"
            style={{ display: "inline-flex", alignItems: "center", gap: 4 }}
          >
            <IconMap2 size={16} /> Show on the map
          </Anchor>
        )}
      </Group>
      <Said row={row} why={why} />
    </Stack>
  );
}

/** Facts are what is known about an item beside its status, in a line. */
function Facts({ row }: { row: StatusRow }) {
  const constants = [1, 2, 3, 4, 5]
    .map((n) => (row as unknown as Record<string, string | undefined>)[`object_${n}`])
    .filter((c): c is string => !!c);
  return (
    <Group gap="md" component="dl" m={0} style={{ rowGap: 4 }}>
      {row.class && (
        <Fact label="Class">
          {row.kind === "object" ? (
            <Anchor component={Link} href={link.status({ class: row.class })} size="sm" className="name">
              {row.class}
            </Anchor>
          ) : (
            row.class
          )}
        </Fact>
      )}
      {row.kind === "resource" && row.package && row.package !== row.class && (
        <Fact label="Package">{row.package}</Fact>
      )}
      {row.kind !== "resource" && row.resource && (
        <Fact label="Resource">
          <Anchor
            component={Link}
            href={link.item({ kind: "resource", name: row.resource })}
            size="sm"
            className="name"
          >
            {row.resource}
          </Anchor>
        </Fact>
      )}
      {row.ip && <Fact label="Address">{row.ip}</Fact>}
      {row.host && <Fact label="Host">{row.host}</Fact>}
      {constants.length > 0 && <Fact label="Constants">{constants.join(", ")}</Fact>}
      {row.lastdata && (
        <Fact label="Last data">
          <Time at={row.lastdata} />
        </Fact>
      )}
    </Group>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group gap={6} wrap="nowrap" component="div" style={{ minWidth: 0 }}>
      <Text size="sm" c="dimmed" component="dt" style={{ flex: "none" }}>
        {label}
      </Text>
      <Text size="sm" component="dd" m={0} className="name">
        {children}
      </Text>
    </Group>
  );
}

/** Said is what operators left at an item: acknowledgment, management with its window, note. */
function Said({ row, why }: { row: StatusRow; why?: Explanation }) {
  const ack = why?.acknowledgment;
  const management = why?.management;
  const managed = !management || (management.mode === "managed" && !management.window);
  if (!row.acknowledged && !ack && managed && !row.note) return null;
  return (
    <Stack gap={6}>
      {(row.acknowledged || ack) && (
        <Remark icon={<IconCheck size={16} />} title="Acknowledged">
          {(ack?.text ?? row.ack) && <span className="name">“{ack?.text ?? row.ack}” </span>}
          by {ack?.by ?? row.ackby ?? "unknown user"}, <Time at={ack?.time ?? row.acktime} />
          {ack?.until && (
            <>
              , until <Time at={ack.until} />
            </>
          )}
          {ack?.untilworse && ", until it gets worse"}
          {ack?.waitssince && (
            <>
              ; it recovered at <Time at={ack.waitssince} />, and the acknowledgment is kept in case it relapses
            </>
          )}
        </Remark>
      )}
      {!managed && management && <Management m={management} unmanaged={row.isunmanaged} />}
      {row.note && (
        <Remark icon={<IconNote size={16} />} title="Note">
          <span className="name" style={{ whiteSpace: "pre-wrap" }}>
            {row.note}
          </span>
        </Remark>
      )}
    </Stack>
  );
}

function Management({ m, unmanaged }: { m: Explanation["management"]; unmanaged: boolean }) {
  const w = m.window;
  return (
    <Remark icon={<IconClockPause size={16} />} title={unmanaged ? "Unmanaged" : "Management"}>
      <Badge variant="default" size="sm" tt="none" mr={6}>
        {m.mode}
      </Badge>
      {m.inheritedfrom && (
        <>
          from{" "}
          <Anchor component={Link} href={link.item(m.inheritedfrom)} size="sm" underline="always" className="name">
            {m.inheritedfrom.name}
          </Anchor>{" "}
        </>
      )}
      {m.from && (
        <>
          since <Time at={m.from} />{" "}
        </>
      )}
      {w && (
        <>
          · window {w.name && <span className="name">“{w.name}” </span>}
          {w.open ? "open" : "planned"} ({w.mode}): <Time at={w.from} />
          {w.to && (
            <>
              {" "}
              to <Time at={w.to} />
            </>
          )}
          {w.next && (
            <>
              , then <Time at={w.next} />
            </>
          )}
          {w.by && `, by ${w.by}`}{" "}
        </>
      )}
      {/* Of the item as a whole: beside one of several windows to come it may be about another. */}
      {m.note && (unmanaged || (m.windows?.length ?? 0) < 2) && (
        <span className="name" style={{ display: "block" }}>
          Why: {m.note}
        </span>
      )}
    </Remark>
  );
}

function Remark({ icon, title, children }: { icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <Paper withBorder px="sm" py={6} component="section" aria-label={title}>
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <Box pt={2} style={{ flex: "none" }}>
          {icon}
        </Box>
        <Text size="sm" component="div" style={{ minWidth: 0 }}>
          <Text span fw={600} size="sm">
            {title}
          </Text>{" "}
          {children}
        </Text>
      </Group>
    </Paper>
  );
}
