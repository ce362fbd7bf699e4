// The page of one item: an object with its values over time, or a view or resource with what is in it.
import { Anchor } from "@mantine/core";
import {
  type InfiniteData,
  type QueryClient,
  type UseQueryResult,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { type Answer, ApiError, type Explanation, explain, type Kind, type StatusRow, sql } from "../api";
import { link } from "../links";
import { useLive } from "../live";
import { PageActions } from "../parts/Actions";
import { itemCondition } from "../parts/actions/item";
import { changed } from "../parts/change";
import { Empty, Failure, Page, Waiting } from "../parts/Page";
import { ItemWindows } from "../parts/windows/ItemWindows";
import { useReadEvery } from "../session";
import { Branch } from "./item/Branch";
import { allParts, type ItemName, ownChanges, partsAfterChanges, partsAfterEvents } from "./item/changes";
import { Header, Way } from "./item/Header";
import { ObjectParts } from "./item/ObjectParts";
import { Reads } from "./item/reads";
import { Card } from "./item/Why";

/** So many milliseconds pass between two requests that changes cause. */
const readPace = 2000;

const kinds: Kind[] = ["object", "resource", "view"];

export default function ItemPage() {
  const [params] = useSearchParams();
  const kind = params.get("kind") as Kind;
  const name = params.get("name") ?? "";
  const resource = params.get("resource") ?? undefined;
  if (!kinds.includes(kind) || !name)
    return (
      <Page title="Item">
        <Empty title="Which item?">
          The address names none. Look for it in the{" "}
          <Anchor component={Link} href={link.status()} underline="always">
            status list
          </Anchor>{" "}
          or with Ctrl-K.
        </Empty>
      </Page>
    );
  return <OneItem key={`${kind} ${resource} ${name}`} item={{ kind, name, resource }} />;
}

function OneItem({ item }: { item: ItemName }) {
  const client = useQueryClient();
  const at = [item.kind, item.name, item.resource ?? ""];
  const row = useQuery({
    queryKey: ["item", ...at],
    queryFn: ({ signal }) =>
      sql<StatusRow>(`SELECT * FROM objectstatus WHERE ${itemCondition(item)}`, { rows: 2, first: true, signal }),
    refetchInterval: 10_000,
  });
  const why = useQuery({
    queryKey: ["explain", ...at],
    queryFn: () => explain(item.kind, item.name, item.resource),
    // Of an item that is gone only its row is asked for, which says whether it is back.
    refetchInterval: row.data?.rows.length === 0 ? false : 10_000,
  });
  const again = () => {
    for (const part of allParts) void client.invalidateQueries({ queryKey: [part] });
  };
  const [reads] = useState(
    () =>
      new Reads(readPace, {
        read: (parts) => parts.map((part) => client.invalidateQueries({ queryKey: [part] })),
        requests: (part) => (part === "content" ? pagesOf(client, item) : part === "itemevents" ? 2 : 1),
      }),
  );
  useEffect(() => () => reads.end(), [reads]);
  useLive({
    status: (changes) => {
      const own = ownChanges(changes, item);
      if (own.length)
        client.setQueryData<Answer<StatusRow>>(
          ["item", ...at],
          (old) => old && { ...old, rows: own.reduce((rows, c) => rows.map((r) => changed(r, c)), old.rows) },
        );
      const parts = partsAfterChanges(changes, item);
      if (own.length) reads.request(parts);
      else reads.requestInTurn(parts);
    },
    event: (events) => reads.request(partsAfterEvents(events, item)),
    resync: () => reads.request(allParts),
  });

  const every = useReadEvery(60_000);
  useEffect(() => {
    const repeat = setInterval(() => reads.request(allParts), every);
    return () => clearInterval(repeat);
  }, [every, reads]);

  // A form that is open when the item is removed keeps what was typed.
  const [seen, setSeen] = useState<StatusRow>();
  const found = row.data?.rows[0];
  if (found && found !== seen) setSeen(found);

  if (row.isPending) return <Waiting />;
  const retry = () => void Promise.all([row.refetch(), why.refetch()]);
  const shown = found ?? seen;
  return (
    <Page
      title={item.name}
      before={found && <Way row={found} />}
      tools={shown && <PageActions items={[shown]} onDone={again} />}
    >
      {found ? (
        <Parts item={item} row={found} why={why} again={again} />
      ) : (
        <NotFound item={item} error={row.error ?? why.error} retry={retry} removed={!!seen} />
      )}
    </Page>
  );
}

/** pagesOf is how many pages of the content are shown, which are read one by one. */
function pagesOf(client: QueryClient, i: ItemName): number {
  const data = client.getQueryData<InfiniteData<unknown>>(["content", i.kind, i.resource, i.name]);
  return Math.max(1, data?.pages.length ?? 1);
}

interface PartsProps {
  item: ItemName;
  row: StatusRow;
  why: UseQueryResult<Explanation>;
  again: () => void;
}

function Parts({ item, row, why, again }: PartsProps) {
  return (
    <>
      <Header row={row} why={why.data} />
      {!!why.data?.management.windows?.length && (
        <Card title="Maintenance windows">
          <ItemWindows item={item} windows={why.data.management.windows} onDone={again} />
        </Card>
      )}
      {why.error && !why.data && <Failure error={why.error} retry={() => why.refetch()} />}
      {item.kind === "object" ? <ObjectParts row={row} why={why.data} /> : <Branch row={row} why={why.data} />}
    </>
  );
}

interface NotFoundProps {
  item: ItemName;
  error: unknown;
  retry: () => void;
  removed: boolean; // it was there when the page was opened
}

function NotFound({ item, error, retry, removed }: NotFoundProps) {
  const gone = !error || (error instanceof ApiError && error.status === 404);
  if (!gone) return <Failure error={error} retry={retry} />;
  return (
    <Empty title={removed ? `This ${item.kind} has been removed` : `There is no ${item.kind} of this name`}>
      {removed ? "Changes to it are refused. " : "It may have been removed, or have another name. "}
      <Anchor component={Link} href={link.status({ text: item.name, kind: "all" })} underline="always">
        Look for the name
      </Anchor>
      , or see{" "}
      <Anchor component={Link} href={link.events({ [item.kind]: item.name, range: "30d" })} underline="always">
        its events
      </Anchor>
      : history outlives what it is about.
    </Empty>
  );
}
