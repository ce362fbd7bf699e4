// What happened to an item, the newest first.
import { Button, Group, Skeleton, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { type EventRow, quote, type StatusRow } from "../../api";
import { link } from "../../links";
import { useLive } from "../../live";
import { AsSql } from "../../parts/AsSql";
import { Failure } from "../../parts/Page";
import { type Asked, queryOf, rowsOf, usePaged } from "../../parts/paged";
import { condition, type RangeState } from "../../parts/Range";
import { useSeenChange } from "../../parts/seen";
import { EventLine } from "../events/EventLine";
import { eventFields } from "../events/filter";
import { newest } from "../events/useNews";
import { isEventOf, isProblemOf } from "./changes";
import { Card } from "./Why";

/** aboutItem finds the events of an item; of a resource and of a view also those of what is directly in it. */
export function aboutItem(row: StatusRow): string {
  if (row.kind === "object") return `resource = ${quote(row.resource ?? "")} AND object = ${quote(row.name)}`;
  if (row.kind === "resource") return `resource = ${quote(row.name)}`;
  if (row.resource) return `resource = ${quote(row.resource)} AND view = ${quote(row.name)}`;
  return `view = ${quote(row.name)} AND (resource IS NULL OR source = 'resource')`;
}

const addressOf = (row: StatusRow): Record<string, string | undefined> => {
  if (row.kind === "object") return { object: row.name, resource: row.resource };
  return row.kind === "resource" ? { resource: row.name } : { view: row.name, resource: row.resource };
};

export function ItemEvents({ row, range, problems }: { row: StatusRow; range?: RangeState; problems?: boolean }) {
  const [ever, setEver] = useState(!range);
  const where = [aboutItem(row)];
  // What is above an object in error is in error, too; to know which objects is enough.
  if (problems)
    where.push(
      "type = 'alarm'",
      "status > '0'",
      `source = ${row.kind === "view" && !row.resource ? "'resource'" : "'object'"}`,
    );
  if (range && !ever) where.push(condition(range.range));
  const asked: Asked = { select: eventFields, from: "events", where };
  const pages = usePaged<EventRow>(["itemevents"], asked, { size: problems ? 10 : 25 });
  const live = !range || ever || range.range.span !== undefined;
  const rows = useNewEvents(pages, (e) => live && (problems ? isProblemOf : isEventOf)(e, row));
  useSeenChange(rows, () => void pages.refetch());
  if (problems && pages.data && rows.length === 0) return null;
  return (
    <Card
      title={problems ? "Last problems" : "Events"}
      tools={
        <>
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            c="inherit"
            component={Link}
            href={link.events(addressOf(row))}
          >
            All events
          </Button>
          <AsSql q={queryOf(asked)} rows={25} />
        </>
      }
    >
      {pages.error && <Failure error={pages.error} retry={() => pages.refetch()} />}
      {pages.isPending && !pages.error && <Skeleton height={60} />}
      {pages.data && rows.length === 0 && (
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            {ever ? "Nothing has happened." : "Nothing happened in this range."}
          </Text>
          {!ever && (
            <Button size="compact-sm" variant="default" onClick={() => setEver(true)}>
              Show all times
            </Button>
          )}
        </Group>
      )}
      <div>
        {rows.map((e) => (
          <EventLine key={e.id} e={e} />
        ))}
      </div>
      {pages.hasNextPage && (
        <Group>
          <Button size="xs" variant="default" onClick={() => pages.fetchNextPage()} loading={pages.isFetchingNextPage}>
            Load more events
          </Button>
        </Group>
      )}
    </Card>
  );
}

/** After so many new events the list is read again, as it would be without the stream. */
const mostNew = 100;

/** useNewEvents puts events of the stream before those that were read. */
function useNewEvents(pages: ReturnType<typeof usePaged<EventRow>>, fits: (e: EventRow) => boolean): EventRow[] {
  const { data, dataUpdatedAt, refetch } = pages;
  const rereading = pages.isFetching && !pages.isFetchingNextPage;
  const rows = rowsOf(data);
  const [fresh, setFresh] = useState<EventRow[]>([]);
  const known = new Set(rows.map((e) => e.id));
  useLive({
    event: (events) => {
      const more = events.filter(fits);
      if (more.length) setFresh((old) => [...more.reverse(), ...old]);
    },
  });
  const unread = fresh.filter((e) => fits(e) && !known.has(e.id));
  const full = unread.length >= mostNew;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that there are so many
  useEffect(() => {
    if (full) void refetch();
  }, [full]);
  // What had come before the list was read again and is not in it has gone since, with what it was about.
  const before = useRef<EventRow[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was there when the reading began
  useEffect(() => {
    if (rereading) before.current = fresh;
  }, [rereading]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was read again may be the same
  useEffect(() => {
    const gone = new Set(before.current.map((e) => e.id));
    before.current = [];
    setFresh((old) => (old.some((e) => gone.has(e.id)) ? old.filter((e) => !gone.has(e.id)) : old));
  }, [dataUpdatedAt]);
  // Ids only grow: what is older than what was read is on another page, or does not fit after all.
  const last = newest(rows);
  useEffect(() => setFresh((old) => (old.some((e) => e.id <= last) ? old.filter((e) => e.id > last) : old)), [last]);
  return [...unread, ...rows];
}
