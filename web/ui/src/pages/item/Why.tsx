// Why an item has its status, as the service explains it.
import { Anchor, Group, Paper, Stack, Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { ExplainedItem, ExplainedStep, ExplainedValue, Explanation, Status } from "../../api";
import { link } from "../../links";
import { brief } from "../../parts/chart/numbers";
import { StatusIcon, StatusText, statuses, statusName } from "../../parts/StatusIcon";
import { Age, localTimes, Time } from "../../parts/Time";

export function Why({ why }: { why: Explanation }) {
  return (
    <Card title="Why">
      <Text size="sm" className="name" title={why.text}>
        {localTimes(why.text)}
      </Text>
      {why.rollup && <Rollup rollup={why.rollup} />}
      {why.chain && why.chain.length > 0 && <Chain steps={why.chain} />}
      {why.staleness && <Staleness s={why.staleness} />}
      {why.hidden && !why.own.shown && (
        <Text size="sm" component="div">
          Without that: <StatusText status={why.own.status} />
          {why.own.info && <span className="name"> {localTimes(why.own.info)}</span>}
        </Text>
      )}
      {why.indicators?.some((i) => i.thresholds.length > 0) && <Thresholds values={why.indicators} />}
    </Card>
  );
}

export function Card({ title, tools, children }: { title: string; tools?: ReactNode; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title} style={{ minWidth: 0 }}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs" mih={26}>
          <Title order={2} size="h5">
            {title}
          </Title>
          {tools && <Group gap={4}>{tools}</Group>}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}

function Staleness({ s }: { s: NonNullable<Explanation["staleness"]> }) {
  return (
    <Text size="sm" c="dimmed">
      Data are expected every {s.interval.replace(/(\d[hm])0[ms](0s)?$/, "$1")}.{" "}
      {s.overdue ? (
        "No data for too long."
      ) : s.unknownat ? (
        <>
          Without new data it will be Unknown at <Time at={s.unknownat} />.
        </>
      ) : null}
    </Text>
  );
}

const rules: Record<string, string> = { worst: "The worst status counts", best: "The best status counts" };

function Rollup({ rollup }: { rollup: NonNullable<Explanation["rollup"]> }) {
  const count = (s: Status) => rollup.counts[statusName(s)] ?? 0;
  return (
    <Group gap="md" style={{ rowGap: 4 }}>
      {statuses
        .filter((s) => count(s) > 0)
        .map((s) => (
          <Group key={s} gap={4} wrap="nowrap">
            <StatusIcon status={s} size={16} label={false} />
            <Text size="sm" className="number">
              {count(s).toLocaleString()} {statusName(s)}
            </Text>
          </Group>
        ))}
      <Text size="sm" c="dimmed">
        {rules[rollup.rule] ?? `At least ${rollup.rule} must be as bad`}
      </Text>
    </Group>
  );
}

function ItemLink({ item }: { item: ExplainedItem }) {
  return (
    <Anchor component={Link} href={link.item(item)} size="sm" underline="always" className="name">
      {item.name}
    </Anchor>
  );
}

/** Chain is the way down to what decides, one step inside the other. */
function Chain({ steps }: { steps: ExplainedStep[] }) {
  return (
    <Stack
      gap={6}
      component="ol"
      m={0}
      p={0}
      style={{ listStyle: "none" }}
      aria-label="Path to the item that determines the status"
    >
      {steps.map((s, i) => (
        <li key={`${s.kind} ${s.resource} ${s.name}`} style={{ paddingInlineStart: Math.min(i, 6) * 16 }}>
          <Group gap={8} wrap="nowrap" align="flex-start">
            <StatusIcon {...s} />
            <Text size="sm" component="div" style={{ minWidth: 0 }}>
              <ItemLink item={s} />{" "}
              <Text span c="dimmed" size="sm">
                {s.kind}, for <Age at={s.since} />
              </Text>
              {s.info && (
                <Text span size="sm" className="name">
                  : {localTimes(s.info)}
                </Text>
              )}
              {s.asbad && s.asbad.length > 0 && <AsBad items={s.asbad} more={s.asbadmore ?? 0} />}
            </Text>
          </Group>
        </li>
      ))}
    </Stack>
  );
}

function AsBad({ items, more }: { items: ExplainedItem[]; more: number }) {
  return (
    <Text size="xs" c="dimmed" component="div">
      as bad:{" "}
      {items.map((o, i) => (
        <span key={`${o.kind} ${o.resource} ${o.name}`}>
          {i > 0 && ", "}
          <Anchor component={Link} href={link.item(o)} size="xs" underline="always" className="name">
            {o.name}
          </Anchor>
        </span>
      ))}
      {more > 0 && ` and ${more.toLocaleString()} more`}
    </Text>
  );
}

/** Thresholds shows each and how far it is met. */
function Thresholds({ values }: { values: ExplainedValue[] }) {
  const rows = values.flatMap((v) => v.thresholds.map((t) => ({ v, t })));
  return (
    <Table fz="sm" verticalSpacing={4} horizontalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Indicator</Table.Th>
          <Table.Th>Threshold</Table.Th>
          <Table.Th>Now</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ v, t }) => (
          <Table.Tr key={`${v.n} ${t.when} ${t.status}`} fw={t.decides ? 600 : undefined}>
            <Table.Td className="name">
              {v.name}
              {typeof v.value === "number" && (
                <Text span size="sm" c="dimmed" className="number">
                  {" "}
                  {brief(v.value, v.unit)}
                </Text>
              )}
            </Table.Td>
            <Table.Td title={`From ${t.source}`}>
              <Group gap={6} wrap="nowrap">
                <StatusIcon status={t.status} size={16} />
                <span className="number">
                  {t.when}
                  {t.recover && ` until ${t.recover}`}
                </span>
              </Group>
            </Table.Td>
            <Table.Td>{stateOf(t)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function stateOf(t: ExplainedValue["thresholds"][number]): string {
  if (t.decides) return "decides";
  if (t.inforce) return "in force";
  if (t.count > 0 && t.after > 1) return `met by ${t.count} of ${t.after} in a row`;
  return t.met ? "met" : "not met";
}
