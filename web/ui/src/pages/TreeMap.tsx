// The tree map: all items on one page, every object a part of the area, by status. A click goes into a part of it.
import "./treemap/treemap.css";
import { Anchor, Breadcrumbs, Button, Group as Row, SegmentedControl, Text } from "@mantine/core";
import { IconChartTreemap, IconMap2, IconZoomOut } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { link } from "../links";
import { useLive } from "../live";
import { Empty, Failure, Page, Waiting } from "../parts/Page";
import { usePaced } from "../parts/pacer";
import { StatusIcon, statuses, statusName } from "../parts/StatusIcon";
import { useReadEvery } from "../session";
import { useSize } from "./map/zoom";
import { Chart, said } from "./treemap/Chart";
import { CountTable } from "./treemap/CountTable";
import { layout } from "./treemap/layout";
import { build, find, type Group, groupKey, readCounts, readPlaces } from "./treemap/places";

/** usePlaces reads the sums, and reads them again after changes, but at most every few seconds. */
function usePlaces() {
  const client = useQueryClient();
  const every = useReadEvery(300_000);
  const places = useQuery({
    queryKey: ["places"],
    queryFn: ({ signal }) => readPlaces(signal),
    staleTime: 60_000,
    refetchInterval: every,
  });
  const counts = useQuery({
    queryKey: ["placecounts"],
    queryFn: ({ signal }) => readCounts(signal),
    refetchInterval: every,
  });
  const recount = usePaced(() => client.invalidateQueries({ queryKey: ["placecounts"] }), 3000);
  const replace = usePaced(() => client.invalidateQueries({ queryKey: ["places"] }), 10_000);
  useLive({
    status: recount,
    event: (events) => {
      if (!events.some((e) => e.type === "configuration")) return;
      replace();
      recount();
    },
    resync: () => {
      replace();
      recount();
    },
  });
  const root = useMemo(
    () => (places.data && counts.data ? build(places.data.rows, counts.data.rows) : undefined),
    [places.data, counts.data],
  );
  const again = () => void Promise.all([places.refetch(), counts.refetch()]);
  return { root, more: places.data?.more || counts.data?.more, error: places.error ?? counts.error, again };
}

export default function TreeMapPage() {
  const [params, setParams] = useSearchParams();
  const [, go] = useLocation();
  const { root, more, error, again } = usePlaces();
  const asked = params.get("at") ?? groupKey("view", "MAIN");
  const group = useMemo(() => root && (find(root, asked) ?? root), [root, asked]);
  const shape = params.get("as") === "table" ? "table" : "drawing";
  const set = (name: string, value: string, replace = false) =>
    setParams(
      (p) => {
        p.set(name, value);
        return p;
      },
      { replace },
    );
  // What has nothing in it to be zoomed into is shown as the map has it.
  const open = (g: Group) => (g.children.length ? set("at", g.key) : go(link.map(g.name, g.resource)));
  const tools = (
    <>
      {group?.parent && (
        <Button
          variant="default"
          leftSection={<IconZoomOut size={16} />}
          onClick={() => group.parent && open(group.parent)}
        >
          Zoom out
        </Button>
      )}
      {group && (
        <Button
          variant="default"
          component={Link}
          href={link.map(group.name, group.resource)}
          leftSection={<IconMap2 size={16} />}
        >
          Map
        </Button>
      )}
      <SegmentedControl
        aria-label="Show as"
        value={shape}
        onChange={(s) => set("as", s, true)}
        data={[
          { value: "drawing", label: "Drawing" },
          { value: "table", label: "Table" },
        ]}
      />
    </>
  );
  return (
    <Page title="Tree map" tools={tools} before={group && <Way group={group} onOpen={open} />}>
      {error != null && <Failure error={error} retry={again} />}
      {!group && !error && <Waiting />}
      {group && group.total === 0 && (
        <Empty title="There are no objects here yet" icon={<IconChartTreemap size={40} />}>
          Objects come with resources (
          <Anchor component={Link} href={link.provisioning()} inherit>
            provision some
          </Anchor>
          ) or with the first data that are sent for them.
        </Empty>
      )}
      {group && group.total > 0 && (
        <>
          <Legend group={group} />
          {shape === "table" ? <CountTable group={group} onOpen={open} /> : <Drawing group={group} onOpen={open} />}
        </>
      )}
      {more && (
        <Text size="sm" c="dimmed">
          There are more places than can be counted here; the rest is left out.
        </Text>
      )}
    </Page>
  );
}

function Way({ group, onOpen }: { group: Group; onOpen: (g: Group) => void }) {
  const way: Group[] = [];
  for (let g = group.parent; g; g = g.parent) way.unshift(g);
  return (
    <nav aria-label="Way to this part">
      <Breadcrumbs
        separatorMargin={6}
        styles={{ root: { flexWrap: "wrap", rowGap: 2 }, breadcrumb: { whiteSpace: "normal" } }}
      >
        {way.map((g) => (
          <Anchor key={g.key} component="button" type="button" size="sm" className="name" onClick={() => onOpen(g)}>
            {g.name}
          </Anchor>
        ))}
        <Text size="sm" aria-current="page" className="name">
          {group.name}
        </Text>
      </Breadcrumbs>
    </nav>
  );
}

function Legend({ group }: { group: Group }) {
  return (
    <Row gap="md">
      {statuses
        .filter((s) => group.counts[s])
        .map((s) => (
          <Row key={s} gap={4} wrap="nowrap">
            <StatusIcon status={s} size={15} label={false} />
            <Text size="sm" className="number">
              {statusName(s)} {group.counts[s]?.toLocaleString()}
            </Text>
          </Row>
        ))}
      <Text size="sm" c="dimmed" className="number">
        {group.total.toLocaleString()} objects; the area is their number
      </Text>
    </Row>
  );
}

function Drawing({ group, onOpen }: { group: Group; onOpen: (g: Group) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const size = useSize(frame);
  const parts = useMemo(
    () => size && layout(group, { x: 0, y: 0, width: size.width, height: size.height }),
    [group, size],
  );
  return (
    <div ref={frame} className="treemap-frame">
      {size && parts && (
        <Chart
          layout={parts}
          width={size.width}
          height={size.height}
          label={`Tree map of ${group.name}: ${said(group.counts)}`}
          onOpen={onOpen}
        />
      )}
    </div>
  );
}
