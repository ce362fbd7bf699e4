// Classes: what the objects of a kind have, and from which value on they are alarming.
import { Anchor, Button, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { type Class, classes } from "../../api";
import { link } from "../../links";
import { Empty, Failure, Page, Waiting } from "../../parts/Page";
import { useMay } from "../../session";
import { ClassPage } from "./ClassPage";
import { type Column, Find, Rows, useFound } from "./Rows";
import { sourceName } from "./sources";

/** The most rows that are drawn; whoever has more looks for a name. */
const most = 300;

export default function ClassesPage() {
  const [params] = useSearchParams();
  const name = params.get("class");
  if (name !== null || params.has("new")) return <ClassPage key={name} name={name ?? ""} />;
  return <List />;
}

function List() {
  const may = useMay();
  const found = useFound();
  const list = useQuery({ queryKey: ["classes"], queryFn: classes.all });
  const shown = list.data?.filter((c) => found.has(c.name, ...(c.indicators ?? []).map((i) => i.name)));
  return (
    <Page
      title="Classes"
      tools={
        <>
          <Find label="Find a class or indicator" />
          {may.administer && (
            <Button
              component={Link}
              href={`${link.parameters("classes")}?new=true`}
              leftSection={<IconPlus size={16} />}
            >
              Define a class
            </Button>
          )}
        </>
      }
    >
      <Text c="dimmed" size="sm" maw={720}>
        A class defines its objects: indicators with units, their thresholds, the columns of their log, and how often
        data are expected. Changing a class changes its objects at once.
      </Text>
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {shown?.length === 0 && <Empty title="No class or indicator has this name" />}
      {!!shown?.length && <Rows label="Classes" columns={columns} rows={shown.slice(0, most)} keyOf={(c) => c.name} />}
      {shown && shown.length > most && (
        <Text c="dimmed" size="sm">
          The first {most} of {shown.length.toLocaleString()}. Look for a name to see others.
        </Text>
      )}
    </Page>
  );
}

const columns: Column<Class>[] = [
  {
    label: "Class",
    cell: (c) => (
      <Anchor component={Link} href={link.class(c.name)} fw={600} className="name">
        {c.name}
      </Anchor>
    ),
  },
  { label: "Indicators", cell: (c) => <Indicators of={c} /> },
  {
    label: "Thresholds",
    number: true,
    cell: (c) => (c.indicators ?? []).reduce((n, i) => n + (i.thresholds?.length ?? 0), 0) || "none",
  },
  { label: "Interval", cell: (c) => c.interval || "–" },
  {
    label: "Objects",
    number: true,
    cell: (c) =>
      c.objects ? (
        <Anchor component={Link} href={link.status({ class: c.name })} aria-label={`${c.objects} objects of ${c.name}`}>
          {c.objects.toLocaleString()}
        </Anchor>
      ) : (
        "0"
      ),
  },
  { label: "Source", cell: (c) => (c.source ? sourceName[c.source] : "") },
];

function Indicators({ of }: { of: Class }) {
  const all = of.indicators ?? [];
  if (!all.length) return <>–</>;
  const few = all.slice(0, 4).map((i) => i.name ?? `i${i.n}`);
  const rest = all.length - few.length;
  return (
    <Text size="sm" className="name" lineClamp={2}>
      {few.join(", ")}
      {rest > 0 && ` and ${rest} more`}
    </Text>
  );
}
