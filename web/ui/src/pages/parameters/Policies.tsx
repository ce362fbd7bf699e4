// Policies: what is otherwise for a part of the tree than its classes say.
import { Anchor, Button, Text } from "@mantine/core";
import { IconPlus, IconRuler2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { type Policy, policies } from "../../api";
import { link } from "../../links";
import { Empty, Failure, Page, Waiting } from "../../parts/Page";
import { statusName } from "../../parts/StatusIcon";
import { PolicyPage } from "./PolicyPage";
import { type Column, Find, Rows, useFound } from "./Rows";

const most = 300;

export default function PoliciesPage() {
  const [params] = useSearchParams();
  const name = params.get("policy");
  if (name !== null || params.has("new")) return <PolicyPage key={name} name={name ?? ""} />;
  return <List />;
}

const make = `${link.parameters("policies")}?new=true`;

function List() {
  const found = useFound();
  const list = useQuery({ queryKey: ["policies"], queryFn: policies.all });
  const shown = list.data?.filter((p) => found.has(p.name, p.item, p.resource));
  return (
    <Page
      title="Policies"
      tools={
        <>
          {!!list.data && list.data.length > 8 && <Find label="Find a policy or item" />}
          <Button component={Link} href={make} leftSection={<IconPlus size={16} />}>
            Set a policy
          </Button>
        </>
      }
    >
      <Text c="dimmed" size="sm" maw={720}>
        A policy overrides the classes for one item and its content. The nearest policy applies.
      </Text>
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {list.data?.length === 0 && (
        <Empty title="There are no policies" icon={<IconRuler2 size={32} />}>
          Every object follows its class. Add a policy for other thresholds in the DMZ, for a redundant pair of servers,
          or for office hours.
        </Empty>
      )}
      {!!list.data?.length && shown?.length === 0 && <Empty title="No policy or item has this name" />}
      {!!shown?.length && <Rows label="Policies" columns={columns} rows={shown.slice(0, most)} keyOf={(p) => p.name} />}
      {shown && shown.length > most && (
        <Text c="dimmed" size="sm">
          The first {most} of {shown.length.toLocaleString()}. Look for a name to see others.
        </Text>
      )}
    </Page>
  );
}

const columns: Column<Policy>[] = [
  {
    label: "Policy",
    cell: (p) => (
      <Anchor component={Link} href={link.policy(p.name)} fw={600} className="name">
        {p.name}
      </Anchor>
    ),
  },
  {
    label: "About",
    cell: (p) => (
      <span className="name">
        {p.kind}{" "}
        <Anchor
          component={Link}
          href={link.item({ kind: p.kind, name: p.item, resource: p.resource })}
          underline="always"
          className="name"
        >
          {p.item}
        </Anchor>
        {p.kind !== "resource" && p.resource && ` in ${p.resource}`}
      </span>
    ),
  },
  { label: "Sets", cell: (p) => <Sets of={p} /> },
];

/** Sets says in a few words what a policy sets. */
function Sets({ of }: { of: Policy }) {
  const said = [
    ...(of.thresholds ?? []).map((t) => {
      const what =
        t.thresholds.map((l) => `${l.when} is ${statusName(String(l.status))}`).join(", ") || "no thresholds";
      return `i${t.n} of ${t.class}: ${what}`;
    }),
    ...(of.interval ? [`data every ${of.interval}`] : []),
    ...(of.intervals ?? []).map((i) => `data of ${i.class} every ${i.interval}`),
    ...(of.rollup ? [`roll-up ${of.rollup}`] : []),
    ...(of.period
      ? [`monitored ${of.period.times.map((t) => (typeof t === "string" ? t : `from ${t.from}`)).join("; ")}`]
      : []),
  ];
  return (
    <Text size="sm" className="name" lineClamp={3}>
      {said.join(" · ")}
    </Text>
  );
}
