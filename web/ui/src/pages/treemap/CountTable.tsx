// The same in numbers.
import { Anchor, Button, Table, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { link } from "../../links";
import { StatusIcon, statuses, statusName, statusRank } from "../../parts/StatusIcon";
import { type Group, shares, worstOf } from "./places";

const portion = 200;

export function CountTable({ group, onOpen }: { group: Group; onOpen: (g: Group) => void }) {
  const [shown, setShown] = useState(portion);
  const parts = shares(group, 100_000).sort(
    (a, b) => statusRank(worstOf(b.counts)) - statusRank(worstOf(a.counts)) || b.total - a.total,
  );
  const seen = statuses.filter((s) => group.counts[s]);
  return (
    <>
      <Table.ScrollContainer minWidth={0} className="card">
        <Table verticalSpacing={6}>
          <Table.Caption>Objects by status in {group.name}</Table.Caption>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th ta="right">Objects</Table.Th>
              {seen.map((s) => (
                <Table.Th key={s} ta="right">
                  <StatusIcon status={s} size={14} label={false} />{" "}
                  <Text span size="xs" inherit visibleFrom="sm">
                    {statusName(s)}
                  </Text>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {parts.slice(0, shown).map((p) => (
              <Table.Tr key={p.key}>
                <Table.Td>
                  {p.children.length ? (
                    <Anchor
                      component="button"
                      type="button"
                      size="sm"
                      className="name"
                      ta="left"
                      onClick={() => onOpen(p)}
                    >
                      {p.name}
                    </Anchor>
                  ) : (
                    <Anchor component={Link} href={link.map(p.name, p.resource)} size="sm" className="name">
                      {p.name}
                    </Anchor>
                  )}
                </Table.Td>
                <Table.Td ta="right" className="number">
                  {p.total.toLocaleString()}
                </Table.Td>
                {seen.map((s) => (
                  <Table.Td key={s} ta="right" className="number">
                    {p.counts[s]?.toLocaleString() ?? "–"}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {parts.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + portion)}>
          Show more of {parts.length.toLocaleString()}
        </Button>
      )}
    </>
  );
}
