// What is directly in a view or resource: views, resources and objects with their status, the worst first, page by page.
import "./item.css";
import { Anchor, Button, Group, Skeleton, Text } from "@mantine/core";
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { type Answer, type StatusRow, sql, tree } from "../../api";
import { link } from "../../links";
import { useLive } from "../../live";
import { changedRows } from "../../parts/change";
import { Failure } from "../../parts/Page";
import { StatusIcon } from "../../parts/StatusIcon";
import { Age, localTimes } from "../../parts/Time";
import { useReadEvery } from "../../session";
import { contentQuery, pageSize } from "./contentQuery";
import { Card } from "./Why";

type Item = Pick<
  StatusRow,
  "name" | "kind" | "resource" | "class" | "status" | "info" | "since" | "acknowledged" | "isunmanaged" | "note"
>;

export function Content({ row }: { row: StatusRow }) {
  const client = useQueryClient();
  const item = [row.kind, row.resource, row.name];
  const key = ["content", ...item];
  const every = useReadEvery(60_000);
  const counts = useQuery({
    queryKey: ["contentcounts", ...item],
    queryFn: ({ signal }) =>
      tree({ view: row.name, resource: row.kind === "view" ? row.resource : undefined, limit: 1 }, signal),
    refetchInterval: every,
  });
  const pages = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => sql<Item>(contentQuery(row, pageParam), { rows: pageSize, signal }),
    initialPageParam: 0,
    refetchInterval: every,
    getNextPageParam: (last, all) => (last.more ? all.length * pageSize : undefined),
  });
  useLive({
    status: (changes) =>
      client.setQueryData<InfiniteData<Answer<Item>>>(
        key,
        (old) => old && { ...old, pages: old.pages.map((p) => ({ ...p, rows: changedRows(p.rows, changes) })) },
      ),
  });
  const error = pages.error ?? counts.error;
  const items = pages.data?.pages.flatMap((p) => p.rows) ?? [];
  const content = counts.data?.content;
  return (
    <Card title="Content">
      {error && <Failure error={error} retry={() => Promise.all([pages.refetch(), counts.refetch()])} />}
      {pages.isPending && !error && <Skeleton height={120} />}
      {content && <Text size="sm">{inWords(content)}</Text>}
      <div>
        {items.map((i) => (
          <Row key={`${i.kind} ${i.name}`} item={i} />
        ))}
      </div>
      {pages.hasNextPage && (
        <Group>
          <Button size="xs" variant="default" onClick={() => pages.fetchNextPage()} loading={pages.isFetchingNextPage}>
            Load more of the content
          </Button>
        </Group>
      )}
    </Card>
  );
}

const count = (n: number, what: string) => (n ? [`${n.toLocaleString()} ${what}${n === 1 ? "" : "s"}`] : []);

function inWords(c: Record<string, number>): string {
  const parts = ["view", "resource", "object", "element"].flatMap((k) =>
    count(c[k] ?? 0, k === "element" ? "graphical element" : k),
  );
  return parts.length ? parts.join(", ") : "It is empty. Provision something into it, or send data for an object.";
}

function Row({ item }: { item: Item }) {
  return (
    <div className="content-row">
      <StatusIcon {...item} />
      <Anchor component={Link} href={link.item(item)} size="sm" className="name">
        {item.name}
      </Anchor>
      <Text size="xs" c="dimmed" className="content-kind">
        {item.kind}
      </Text>
      <Text size="sm" className="name content-info" c="dimmed">
        {[
          item.info ? localTimes(item.info) : item.kind === "object" ? item.class : undefined,
          item.note && `Note: ${item.note}`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </Text>
      <Text size="sm" c="dimmed" ta="right">
        <Age at={item.since} />
      </Text>
    </div>
  );
}
