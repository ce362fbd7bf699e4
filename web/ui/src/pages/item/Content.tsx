// What stands directly in a view or resource: views, resources and objects with their status, page by page.
import "./item.css";
import { Anchor, Button, Group, Skeleton, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { type Kind, type StatusRow, type TreeItem, tree } from "../../api";
import { link } from "../../links";
import { Failure } from "../../parts/Page";
import { StatusIcon } from "../../parts/StatusIcon";
import { Age } from "../../parts/Time";
import { Card } from "./Why";

const pageSize = 100;

export function Content({ row }: { row: StatusRow }) {
  const at = { view: row.name, resource: row.kind === "view" ? row.resource : undefined };
  const pages = useInfiniteQuery({
    queryKey: ["content", row.kind, row.resource, row.name],
    queryFn: ({ pageParam, signal }) => tree({ ...at, limit: pageSize, after: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.more ? last.next : undefined),
  });
  const items = pages.data?.pages.flatMap((p) => p.children).filter((c) => c.kind !== "element") ?? [];
  const content = pages.data?.pages[0]?.content;
  return (
    <Card title="Content">
      {pages.error && <Failure error={pages.error} retry={() => pages.refetch()} />}
      {pages.isPending && !pages.error && <Skeleton height={120} />}
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
  return parts.length
    ? parts.join(", ")
    : "Nothing stands in it yet. Provision something into it, or send data for an object.";
}

function Row({ item }: { item: TreeItem }) {
  const named = { kind: item.kind as Kind, name: item.name, resource: item.resource };
  return (
    <div className="content-row">
      <StatusIcon {...item} />
      <Anchor component={Link} href={link.item(named)} size="sm" className="name">
        {item.name}
      </Anchor>
      <Text size="xs" c="dimmed" className="content-kind">
        {item.kind}
      </Text>
      <Text size="sm" className="name content-info" c="dimmed">
        {[item.info ?? (item.kind === "object" ? item.class : undefined), item.note && `Note: ${item.note}`]
          .filter(Boolean)
          .join(" · ")}
      </Text>
      <Text size="sm" c="dimmed" ta="right">
        <Age at={item.since} />
      </Text>
    </div>
  );
}
