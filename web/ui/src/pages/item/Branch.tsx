// What the page of a view or resource shows below its head: why, its content, and what happened there.
import { SimpleGrid, Stack } from "@mantine/core";
import type { Explanation, StatusRow } from "../../api";
import { Waiting } from "../../parts/Page";
import { useMay } from "../../session";
import { Answers } from "./Answers";
import { Content } from "./Content";
import { ItemEvents } from "./ItemEvents";
import { samples, Try } from "./Try";
import { Why } from "./Why";

export function Branch({ row, why }: { row: StatusRow; why?: Explanation }) {
  const may = useMay();
  if (!why) return <Waiting />;
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, md: row.kind === "resource" ? 2 : 1 }} spacing="md">
        <Why why={why} />
        {row.kind === "resource" && row.package && <Answers name={row.name} pkg={row.package} />}
      </SimpleGrid>
      <Content row={row} />
      {may.write && row.kind === "resource" && row.package && samples[row.package] && (
        <Try name={row.name} pkg={row.package} />
      )}
      <ItemEvents row={row} problems />
      <ItemEvents row={row} />
    </Stack>
  );
}
