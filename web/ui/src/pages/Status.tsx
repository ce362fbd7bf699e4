// The status list: every object, resource and view, the worst first.
import { Anchor, Box, Button, Code, Group, Progress, Stack, Text, UnstyledButton } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { Link, useLocation } from "wouter";
import { link } from "../links";
import { ActionButtons, ActionDialog } from "../parts/Actions";
import type { ActionItem } from "../parts/actions/item";
import { counted, fits, itemKey, type Operation } from "../parts/actions/operations";
import { Empty, Failure, Page, Waiting } from "../parts/Page";
import { useMay } from "../session";
import { FirstSteps } from "../tour";
import { Filters } from "./status/Filters";
import { type Feed, mostRows } from "./status/feed";
import { everything, type Filter, kinds, narrows, rollsUp, useFilter } from "./status/filter";
import { useListKeys } from "./status/keys";
import { List } from "./status/List";
import { PrintButton, Printed } from "./status/Printed";
import { type Selection, useSelection } from "./status/selection";
import { useFeed } from "./status/useFeed";

export default function StatusPage() {
  const [filter, setFilter] = useFilter();
  const { feed, error, waiting, again } = useFeed(filter);
  return (
    <Page title="Status" fill tools={feed && <PrintButton feed={feed} />}>
      <FirstSteps>
        <Filters filter={filter} onFilter={setFilter} feed={feed} />
        {error ? (
          <Failure error={error} retry={again} />
        ) : feed ? (
          <Rows feed={feed} filter={filter} onFilter={setFilter} waiting={waiting} />
        ) : (
          <Waiting />
        )}
      </FirstSteps>
    </Page>
  );
}

interface Props {
  feed: Feed;
  filter: Filter;
  onFilter: (part: Partial<Filter>) => void;
  waiting: boolean;
}

function Rows({ feed, filter, onFilter, waiting }: Props) {
  useSyncExternalStore(feed.subscribe, feed.snapshot);
  const may = useMay();
  const [, go] = useLocation();
  const selection = useSelection(feed);
  const [cursor, setCursor] = useCursor(feed);
  const [open, setOpen] = useState<{ operation: Operation; items: ActionItem[] }>();
  const total = Math.min(feed.total ?? 0, mostRows);

  const act = (operation: Operation) => {
    const row = feed.row(cursor);
    const items = selection.items.size ? selectedNow(selection, feed) : row ? [row] : [];
    if (may.write && items.some((i) => fits(operation, i))) setOpen({ operation, items });
  };
  useListKeys({
    move: (by) => setCursor(Math.max(0, Math.min(total - 1, cursor + by))),
    to: (end) => setCursor(end === "first" ? 0 : total - 1),
    select: (range) => may.write && cursor >= 0 && (range ? selection.extend(cursor) : selection.toggle(cursor)),
    open: () => {
      const row = feed.row(cursor);
      if (row) go(link.item(row));
    },
    act,
    escape: selection.clear,
  });
  const done = useCallback(() => void feed.refresh(), [feed]);

  // The view MAIN is always there, and nothing to look at by itself.
  if (feed.total === 0 || (feed.total === 1 && feed.kinds.get("view") && !narrows(filter)))
    return <Nothing filter={filter} onFilter={onFilter} />;
  return (
    <>
      <Bar feed={feed} selection={selection} mayAct={may.write} waiting={waiting} onDone={done} />
      {!!selection.error && <Failure error={selection.error} retry={selection.all} />}
      <List
        feed={feed}
        filter={filter}
        onFilter={onFilter}
        selection={selection}
        cursor={cursor}
        onCursor={setCursor}
        mayAct={may.write}
      />
      <Printed feed={feed} filter={filter} />
      {open && <ActionDialog {...open} onClose={() => setOpen(undefined)} onDone={done} />}
    </>
  );
}

/** selectedNow gives the selected items as they are now, if they are in sight; others as they were when selected. */
const selectedNow = (selection: Selection, feed: Feed): ActionItem[] =>
  [...selection.items].map(([key, row]) => feed.row(feed.placeOf(key) ?? -1) ?? row);

/** useCursor is the row that keys are about. It stays with its item when rows move. */
function useCursor(feed: Feed): [number, (at: number) => void] {
  const [at, setAt] = useState(-1);
  const [key, setKey] = useState<string>();
  const set = useCallback(
    (n: number) => {
      const row = feed.row(n);
      setAt(n);
      setKey(row && itemKey(row));
    },
    [feed],
  );
  const now = key === undefined ? undefined : feed.placeOf(key);
  const place = now ?? at;
  useEffect(() => setAt(place), [place]);
  // A new question has no cursor yet.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the feed is the question
  useEffect(() => {
    setAt(-1);
    setKey(undefined);
  }, [feed]);
  return [place, set];
}

/** Bar says how much there is, and what can be done with what is selected. It is always there, so nothing jumps. */
function Bar({
  feed,
  selection,
  mayAct,
  waiting,
  onDone,
}: {
  feed: Feed;
  selection: Selection;
  mayAct: boolean;
  waiting: boolean;
  onDone: () => void;
}) {
  const phone = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const { version } = feed;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version changes with the rows of the feed
  const items = useMemo(() => selectedNow(selection, feed), [selection.items, version]);
  const total = feed.total ?? 0;
  return (
    <Box pos="relative" className="off-paper">
      <Group gap="sm" mih={32} justify="space-between" wrap="nowrap">
        <Text size="sm" component="div" role="status" className="number">
          {items.length ? (
            <>
              <b>{items.length.toLocaleString()}</b> selected{" "}
            </>
          ) : (
            <>
              {kinds.flatMap((k) => (feed.kinds.get(k) ? [counted(feed.kinds.get(k) ?? 0, k)] : [])).join(", ")}
              {total > mostRows && `, the first ${mostRows.toLocaleString()} can be scrolled to`}{" "}
            </>
          )}
        </Text>
        {mayAct && (
          <Group gap="sm" wrap="nowrap" style={{ marginInlineEnd: "auto" }}>
            {items.length < total && (
              <UnstyledButton fz="sm" td="underline" onClick={selection.all} disabled={selection.busy}>
                {selection.busy ? "Selecting…" : `Select all ${total.toLocaleString()}`}
              </UnstyledButton>
            )}
            {items.length > 0 && (
              <UnstyledButton fz="sm" td="underline" onClick={selection.clear}>
                Clear
              </UnstyledButton>
            )}
          </Group>
        )}
        {items.length > 0 && <ActionButtons items={items} compact={phone} onDone={onDone} />}
      </Group>
      {waiting && (
        <Progress value={100} animated size={2} pos="absolute" left={0} right={0} bottom={-8} aria-label="Loading" />
      )}
    </Box>
  );
}

function Nothing({ filter, onFilter }: Pick<Props, "filter" | "onFilter">) {
  const may = useMay();
  if (narrows(filter))
    return (
      <Empty title="Nothing matches the filter">
        <Group justify="center" mt="sm">
          <Button variant="default" onClick={() => onFilter(everything)}>
            Show all objects
          </Button>
          {!rollsUp(filter) && (
            <Button variant="default" onClick={() => onFilter({ kind: kinds })}>
              Also search views and resources
            </Button>
          )}
        </Group>
      </Empty>
    );
  return (
    <Empty title="Nothing is monitored yet">
      <Stack gap="xs" align="center">
        {may.administer ? (
          <span>
            First{" "}
            <Anchor component={Link} href={link.parameters("keys")}>
              create an API key
            </Anchor>{" "}
            of the level readwrite. With it, send the first data:
          </span>
        ) : (
          <span>Ask an administrator for an API key. With it, send the first data:</span>
        )}
        <FirstData />
        {!rollsUp(filter) && (
          <Button variant="default" onClick={() => onFilter({ kind: kinds })}>
            Show views and resources
          </Button>
        )}
      </Stack>
    </Empty>
  );
}

function FirstData() {
  return (
    <Code block ta="left" maw="100%" tabIndex={0}>
      {`key=…
curl -H "x-api-key: $key" -H 'Content-Type: text/csv' \\
  -d $'name\\nweb01' ${location.origin}/api/provisioning/custom
curl -H "x-api-key: $key" -H 'Content-Type: text/csv' \\
  -d $'type,resname,object,class,view,i1\\ndata,web01,cpu,load,web01,12' \\
  ${location.origin}/api/send`}
    </Code>
  );
}
