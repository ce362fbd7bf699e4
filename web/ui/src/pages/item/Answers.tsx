// The answers with which a resource was provisioned. The service hides what is secret; this asks only for what it gives out.
import { Button, Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { packages, provisioning } from "../../api";
import { Failure, Waiting } from "../../parts/Page";
import { csvRecords } from "./csv";
import { Card } from "./Why";

export async function answersOf(pkg: string, name: string): Promise<[string, string][]> {
  const [header, ...rows] = csvRecords(await provisioning.export(pkg));
  const at = header?.indexOf("name") ?? -1;
  const row = rows.find((r) => r[at] === name);
  return (header ?? []).map((column, i): [string, string] => [column, row?.[i] ?? ""]).filter(([c]) => c !== "name");
}

/** Answers reads them when someone wants to see them: the service gives out a whole package at a time. */
export function Answers({ name, pkg }: { name: string; pkg: string }) {
  const [open, setOpen] = useState(false);
  const def = useQuery({ queryKey: ["package", pkg], queryFn: () => packages.get(pkg), staleTime: 300_000 });
  const answers = useQuery({ queryKey: ["answers", pkg, name], queryFn: () => answersOf(pkg, name), enabled: open });
  return (
    <Card title="Settings">
      <Text size="sm">
        Package {pkg}
        {typeof def.data?.help === "string" && (
          <Text span size="sm" c="dimmed">
            : {def.data.help}
          </Text>
        )}
      </Text>
      {!open && (
        <Group>
          <Button size="xs" variant="default" onClick={() => setOpen(true)}>
            Show its settings
          </Button>
        </Group>
      )}
      {answers.error && <Failure error={answers.error} retry={() => answers.refetch()} />}
      {open && answers.isPending && !answers.error && <Waiting />}
      {open && answers.data && (
        <Table fz="sm" verticalSpacing={4} layout="fixed">
          <Table.Tbody>
            {answers.data.map(([column, value]) => (
              <Table.Tr key={column}>
                <Table.Th w="40%" fw={400} c="dimmed" className="name" scope="row">
                  {column}
                </Table.Th>
                <Table.Td className="name">{value === "***" ? "secret, not shown" : value || "–"}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Card>
  );
}
