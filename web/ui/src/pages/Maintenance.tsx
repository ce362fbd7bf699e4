// All maintenance windows that are open or planned, in one list.
import "./parameters/parameters.css";
import { Anchor, Box, Text } from "@mantine/core";
import { useThrottledCallback } from "@mantine/hooks";
import { IconClockPause } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { type ListedWindow, windows } from "../api";
import { link } from "../links";
import { useLive } from "../live";
import { Empty, Failure, Page, Waiting } from "../parts/Page";
import { Named, Rule, Span } from "../parts/windows/ItemWindows";
import { RemoveWindow } from "../parts/windows/RemoveWindow";
import { byTime, noteOf, ofList } from "../parts/windows/windows";
import { useMay } from "../session";
import { type Column, Find, Rows, useFound } from "./parameters/Rows";

// More than anyone reads in a table; belfry windows lists all of them.
const most = 2000;

export default function MaintenancePage() {
  const client = useQueryClient();
  const may = useMay();
  const found = useFound();
  const list = useQuery({ queryKey: ["windows"], queryFn: () => windows.first(most), refetchInterval: 30_000 });
  const again = useThrottledCallback(() => void client.invalidateQueries({ queryKey: ["windows"] }), 1500);
  useLive({ event: (events) => events.some((e) => e.type === "manage") && again(), resync: again });
  const all = list.data?.list ?? [];
  const shown = all.filter((w) => found.has(w.name, w.window, w.resource, w.user, w.unmanagenote));
  return (
    <Page title="Maintenance" tools={all.length > 8 && <Find label="Find a window" />}>
      <Text c="dimmed" size="sm" maw={720}>
        Windows that are open or planned: those that are open first, then those that open next. Plan one with Unmanage
        in the status list or on the page of an item.
      </Text>
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {list.data?.more && (
        <Text size="sm" role="status">
          These are the first {all.length.toLocaleString()}; belfry windows on the command line lists all of them.
        </Text>
      )}
      {shown.length > 0 && (
        <Rows
          label="Maintenance windows"
          columns={columns(all, may.write, again)}
          rows={shown.sort((a, b) => byTime(ofList(a), ofList(b)))}
          keyOf={(w) => w.id}
        />
      )}
      {list.data && shown.length === 0 && (
        <Empty
          title={all.length ? "No window is like that" : "No windows are planned"}
          icon={<IconClockPause size={32} />}
        />
      )}
    </Page>
  );
}

function columns(all: ListedWindow[], mayRemove: boolean, again: () => void): Column<ListedWindow>[] {
  const list: Column<ListedWindow>[] = [
    { label: "Item", cell: (w) => <Item of={w} note={noteOf(w, all)} /> },
    { label: "Window", cell: (w) => <Named window={ofList(w)} /> },
    { label: "Open", cell: (w) => <Span window={ofList(w)} /> },
    { label: "Repeat", cell: (w) => <Rule window={ofList(w)} /> },
    {
      label: "By",
      cell: (w) => (
        <Box className="name" miw="5rem">
          {w.user ?? "–"}
        </Box>
      ),
    },
  ];
  if (mayRemove)
    list.push({
      label: "Actions",
      tools: true,
      cell: (w) => <RemoveWindow item={w} window={ofList(w)} onDone={again} />,
    });
  return list;
}

function Item({ of: w, note }: { of: ListedWindow; note?: string }) {
  return (
    <>
      <Anchor component={Link} href={link.item(w)} className="name" fw={600}>
        {w.name}
      </Anchor>
      <Text size="xs" c="dimmed" className="name">
        {w.kind}
        {w.resource && ` in ${w.resource}`}
      </Text>
      {note && (
        <Text size="xs" className="name" lineClamp={3} title={note}>
          {note}
        </Text>
      )}
    </>
  );
}
