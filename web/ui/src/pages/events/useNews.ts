// Events that happen while one looks. They are put on top as long as one is there; a reader further down is shown how many
// wait. What is new is asked for, not taken from the stream: the service knows what fits the filter.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { type EventRow, sql } from "../../api";
import { useLive } from "../../live";
import type { Asked } from "../../parts/paged";
import { newerThan } from "./filter";

const most = 500;
const rest = 800; // between two questions

/** newest is the greatest id: ids only grow, whatever times events carry. */
export function newest(rows: EventRow[]): string {
  let last = "0000000000000000";
  for (const e of rows) if (e.id > last) last = e.id;
  return last;
}

export function useNews(asked: Asked, rows: EventRow[] | undefined, live: boolean) {
  const client = useQueryClient();
  const [news, setNews] = useState<EventRow[]>([]);
  const [many, setMany] = useState(false);
  const key = JSON.stringify(asked);
  const busy = useRef(false);
  const again = useRef(false);
  const state = useRef({ asked, rows, news, live });
  state.current = { asked, rows, news, live };

  // biome-ignore lint/correctness/useExhaustiveDependencies: another question has other news
  useEffect(() => {
    setNews([]);
    setMany(false);
  }, [key]);

  const look = useCallback(async () => {
    const { asked, rows, news, live } = state.current;
    if (!live || !rows) return;
    if (busy.current) {
      again.current = true;
      return;
    }
    busy.current = true;
    try {
      const after = newest([...news, ...rows]);
      const answer = await sql<EventRow>(newerThan(asked, after), { rows: most, fq: asked.fq });
      if (state.current.asked !== asked && JSON.stringify(state.current.asked) !== JSON.stringify(asked)) return;
      if (answer.rows.length) {
        setNews((old) => {
          const known = new Set(old.map((e) => e.id));
          return [...answer.rows.filter((e) => !known.has(e.id)), ...old].slice(0, most);
        });
        void client.invalidateQueries({ queryKey: ["histogram"] });
      }
      if (answer.more) setMany(true);
    } catch {
      // The next change, or the next page, asks again.
    } finally {
      await new Promise((r) => setTimeout(r, rest));
      busy.current = false;
      if (again.current) {
        again.current = false;
        void look();
      }
    }
  }, [client]);

  useLive({ event: look, resync: look });
  const taken = useCallback(() => {
    setNews([]);
    setMany(false);
  }, []);
  return { news, many, taken };
}
