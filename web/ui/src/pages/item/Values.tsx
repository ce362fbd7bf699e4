// The current values of an object, with the names and units that its class gives them.
import { Table, Text } from "@mantine/core";
import type { ExplainedValue } from "../../api";
import { brief, full } from "../../parts/chart/numbers";
import { StatusIcon, statusRank } from "../../parts/StatusIcon";
import { Card } from "./Why";

/** worstOf is the status that the thresholds of an indicator give it. */
const worstOf = (v: ExplainedValue) =>
  v.thresholds
    .filter((t) => t.inforce)
    .map((t) => t.status)
    .sort((a, b) => statusRank(b) - statusRank(a))[0] ?? "0";

export function Values({ values }: { values: ExplainedValue[] }) {
  if (!values.length) return null;
  return (
    <Card title="Current values">
      <Table fz="sm" verticalSpacing={4} horizontalSpacing="xs" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={44}>No.</Table.Th>
            <Table.Th>Indicator</Table.Th>
            <Table.Th ta="right">Value</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {values.map((v) => (
            <Table.Tr key={v.n}>
              <Table.Td>
                <Text span size="xs" c="dimmed" className="number">
                  i{v.n}
                </Text>
              </Table.Td>
              <Table.Td className="name">{v.name}</Table.Td>
              <Table.Td ta="right">
                <Value v={v} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Card>
  );
}

function Value({ v }: { v: ExplainedValue }) {
  if (v.value === undefined)
    return (
      <Text span size="sm" c="dimmed">
        none yet
      </Text>
    );
  const text = typeof v.value === "number" ? brief(v.value, v.unit) : v.value;
  return (
    <span className="name">
      {v.thresholds.some((t) => t.inforce) && <StatusIcon status={worstOf(v)} size={14} />}{" "}
      <Text
        span
        size="sm"
        fw={600}
        className="number"
        title={typeof v.value === "number" ? full(v.value, v.unit) : undefined}
      >
        {text}
      </Text>
    </span>
  );
}
