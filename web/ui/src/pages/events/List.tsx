// The list of events. However many there are, only those in sight are in the page, and only those scrolled to are loaded.
import "./events.css";
import { Button, Group, Paper, Text } from "@mantine/core";
import { IconArrowUp, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Answer, EventRow } from "../../api";
import { Empty, Failure, Waiting } from "../../parts/Page";
import { type Asked, pageSize, rowsOf, usePaged } from "../../parts/paged";
import { usePrinting } from "../../parts/printing";
import type { RangeState } from "../../parts/Range";
import { useSeenChange } from "../../parts/seen";
import { EventLine } from "./EventLine";
import { useNews } from "./useNews";

export function List({ asked, range }: { asked: Asked; range: RangeState }) {
  const client = useQueryClient();
  const pages = usePaged<EventRow>(["events"], asked);
  const rows = useMemo(() => rowsOf(pages.data), [pages.data]);
  const live = range.range.span !== undefined;
  const { news, many, taken } = useNews(asked, pages.data && rows, live);
  useSeenChange(rows, () => {
    taken(); // what waits to be shown may be gone, too
    for (const key of ["events", "histogram"]) void client.invalidateQueries({ queryKey: [key] });
  });
  const [paused, setPaused] = useState(false);
  const [fresh, setFresh] = useState<Set<string>>(new Set());
  const box = useRef<HTMLDivElement>(null);

  const take = useCallback(() => {
    toTop(box.current);
    if (many) void client.resetQueries({ queryKey: ["events"] });
    else {
      setFresh(new Set(news.map((e) => e.id)));
      client.setQueryData<InfiniteData<Answer<EventRow>>>(["events", asked, pageSize], (old) => withNews(old, news));
    }
    taken();
  }, [client, asked, news, many, taken]);

  useEffect(() => {
    if (news.length && !paused && calm(box.current)) take();
  }, [news, paused, take]);

  return (
    <Paper withBorder component="section" aria-label="List of events" style={{ overflow: "hidden" }}>
      <Group justify="space-between" px="sm" py={6} mih={42} gap="xs" className="off-paper">
        <Text size="sm" c="dimmed">
          {live ? (paused ? "Paused" : "Live: new events come on top") : "A range that has ended"}
        </Text>
        <Group gap="xs">
          {news.length > 0 && (
            <Button size="compact-sm" leftSection={<IconArrowUp size={14} />} onClick={take}>
              {many ? `More than ${news.length}` : news.length} new
            </Button>
          )}
          {live && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={paused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
              onClick={() => setPaused(!paused)}
            >
              {paused ? "Continue" : "Pause"}
            </Button>
          )}
        </Group>
      </Group>
      {pages.error && <Failure error={pages.error} retry={() => pages.refetch()} />}
      {pages.isPending && !pages.error && <Waiting />}
      {pages.data && rows.length === 0 && (
        <Empty title="No events match">
          Choose a longer time range or fewer conditions. Changes of status, acknowledgments, management, notes, changes
          of the configuration and logins are listed here.
        </Empty>
      )}
      {rows.length > 0 && (
        <Rows
          rows={rows}
          fresh={fresh}
          box={box}
          more={!!pages.hasNextPage}
          loading={pages.isFetchingNextPage}
          onEnd={() => pages.fetchNextPage()}
        />
      )}
    </Paper>
  );
}

/** toTop goes to the top and stays there while the rows that come into sight are measured and the list moves under them. */
function toTop(box: HTMLElement | null, frames = 6) {
  box?.scrollTo({ top: 0 });
  if (box && frames > 0) requestAnimationFrame(() => toTop(box, frames - 1));
}

/** calm reports whether the list may move: no one reads further down or selects text to copy. */
function calm(box: HTMLElement | null): boolean {
  if (!box) return true;
  const marked = getSelection();
  return box.scrollTop < 60 && !(marked && !marked.isCollapsed && box.contains(marked.anchorNode));
}

/** withNews puts new events among those of the first page, by their time. */
function withNews(old: InfiniteData<Answer<EventRow>> | undefined, news: EventRow[]) {
  const first = old?.pages[0];
  if (!old || !first) return old;
  const known = new Set(first.rows.map((e) => e.id));
  const rows = [...news.filter((e) => !known.has(e.id)), ...first.rows].sort((a, b) =>
    a.timestamp < b.timestamp ? 1 : a.timestamp > b.timestamp ? -1 : 0,
  );
  return { ...old, pages: [{ ...first, rows, count: rows.length }, ...old.pages.slice(1)] };
}

/** More than anyone reads on paper. */
const mostPrinted = 2000;

function Rows({
  rows,
  fresh,
  box,
  more,
  loading,
  onEnd,
}: {
  rows: EventRow[];
  fresh: Set<string>;
  box: React.RefObject<HTMLDivElement | null>;
  more: boolean;
  loading: boolean;
  onEnd: () => void;
}) {
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => (innerWidth < 992 ? 78 : 36), // as the style sheet has it
    getItemKey: (i) => rows[i]?.id ?? i,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items[items.length - 1]?.index ?? 0;
  useEffect(() => {
    if (more && !loading && last >= rows.length - 30) onEnd();
  }, [more, loading, last, rows.length, onEnd]);
  // What scrolls would be cut off on paper.
  if (usePrinting())
    return (
      <div className="events-printed">
        <Text size="sm" px="sm">
          {more || rows.length > mostPrinted ? "The newest" : "All"}{" "}
          {Math.min(rows.length, mostPrinted).toLocaleString()}
        </Text>
        {rows.slice(0, mostPrinted).map((e) => (
          <div key={e.id}>
            <EventLine e={e} />
          </div>
        ))}
      </div>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <div ref={box} className="events-list" role="feed" aria-busy={loading} aria-label="Events" tabIndex={0}>
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map((v) => {
          const e = rows[v.index];
          if (!e) return null;
          return (
            <article
              key={v.key}
              ref={virtual.measureElement}
              data-index={v.index}
              aria-posinset={v.index + 1}
              aria-setsize={more ? -1 : rows.length}
              className={fresh.has(e.id) ? "event-new" : undefined}
              style={{ position: "absolute", top: 0, insetInline: 0, transform: `translateY(${v.start}px)` }}
            >
              <EventLine e={e} />
            </article>
          );
        })}
      </div>
      {loading && (
        <Text size="sm" c="dimmed" ta="center" p="xs">
          Loading more…
        </Text>
      )}
    </div>
  );
}
