// The list itself: a grid of which only the rows in sight are drawn.
import { useMediaQuery } from "@mantine/hooks";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { itemKey } from "../../parts/actions/operations";
import { type Feed, mostRows } from "./feed";
import { type Column, columnNames, columns, type Filter, firstDesc } from "./filter";
import { Part } from "./grid";
import { RowLine } from "./RowLine";
import type { Selection } from "./selection";
import "./status.css";

/** The class that puts a head above its cells. */
const areas: Record<Column, string> = {
  status: "status",
  name: "title",
  view: "place",
  class: "class",
  since: "since",
  info: "info",
  lastdata: "data",
};

interface Props {
  feed: Feed;
  filter: Filter;
  onFilter: (part: Partial<Filter>) => void;
  selection: Selection;
  cursor: number;
  onCursor: (at: number) => void;
  mayAct: boolean;
}

export function List({ feed, filter, onFilter, selection, cursor, onCursor, mayAct }: Props) {
  useSyncExternalStore(feed.subscribe, feed.snapshot);
  const box = useRef<HTMLDivElement>(null);
  const phone = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const head = phone ? 0 : 34;
  const count = Math.min(feed.total ?? 0, mostRows);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => (phone ? 64 : 36),
    scrollMargin: head,
    scrollPaddingStart: head,
    overscan: 12,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height of a row is measured once for all
  useEffect(() => rows.measure(), [phone]);

  const shown = rows.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const last = shown[shown.length - 1]?.index ?? 0;
  useEffect(() => feed.look(first, last), [feed, first, last]);

  // A new question begins at the top.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the feed is the question
  useEffect(() => {
    box.current?.scrollTo({ top: 0 });
  }, [feed]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a move of the cursor scrolls
  useEffect(() => {
    if (cursor >= 0) rows.scrollToIndex(cursor, { align: "auto" });
  }, [cursor]);

  const { toggle, extend } = selection;
  const tick = useCallback((at: number, range: boolean) => (range ? extend(at) : toggle(at)), [extend, toggle]);
  const refresh = useCallback(() => void feed.refresh(), [feed]);
  return (
    <Part
      ref={box}
      role="grid"
      className="status-rows card off-paper"
      aria-label="Items and their status"
      aria-rowcount={count + 1}
      aria-multiselectable={mayAct}
      aria-activedescendant={cursor >= 0 ? `row-${cursor}` : undefined}
      tabIndex={0}
    >
      <Part role="rowgroup" className="heads">
        <Heads filter={filter} onFilter={onFilter} />
      </Part>
      <Part role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {shown.map((v) => {
          const row = feed.row(v.index);
          return (
            <RowLine
              key={v.index}
              at={v.index}
              top={v.start - head}
              row={row}
              selected={!!row && selection.items.has(itemKey(row))}
              current={v.index === cursor}
              mayAct={mayAct}
              onTick={tick}
              onTouch={onCursor}
              onDone={refresh}
            />
          );
        })}
      </Part>
    </Part>
  );
}

function Heads({ filter, onFilter }: Pick<Props, "filter" | "onFilter">) {
  const sort = (c: Column) => onFilter(c === filter.sort ? { desc: !filter.desc } : { sort: c, desc: firstDesc(c) });
  return (
    <Part role="row" className="status-row head" aria-rowindex={1}>
      <Part role="columnheader" className="tick" aria-label="Selected" />
      {columns.map((c) => {
        const is = c === filter.sort;
        return (
          <Part
            key={c}
            role="columnheader"
            className={areas[c]}
            aria-sort={is ? (filter.desc ? "descending" : "ascending") : "none"}
          >
            <button type="button" className="sort" onClick={() => sort(c)}>
              {columnNames[c]}
              {is && (filter.desc ? <IconArrowDown size={14} /> : <IconArrowUp size={14} />)}
            </button>
          </Part>
        );
      })}
      <Part role="columnheader" className="more" aria-label="Actions" />
    </Part>
  );
}
