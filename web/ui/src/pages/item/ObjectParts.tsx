// What the page of an object shows below its head.
import { SimpleGrid, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ApiError, classes, type Explanation, type StatusRow } from "../../api";
import { Waiting } from "../../parts/Page";
import { useRange } from "../../parts/Range";
import { Course } from "./Course";
import { ItemEvents } from "./ItemEvents";
import { Log } from "./Log";
import { indicatorsOf } from "./series";
import { Values } from "./Values";
import { Why } from "./Why";

export function ObjectParts({ row, why }: { row: StatusRow; why?: Explanation }) {
  const range = useRange("24h");
  const name = row.class ?? "";
  const def = useQuery({
    queryKey: ["class", name],
    queryFn: () => classes.get(name),
    enabled: name !== "",
    staleTime: 60_000,
    retry: (n, e) => !(e instanceof ApiError && e.status === 404) && n < 2,
  });
  if (!why) return <Waiting />;
  const values = indicatorsOf(why);
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, md: values.length ? 2 : 1 }} spacing="md">
        <Why why={why} />
        <Values values={values} />
      </SimpleGrid>
      <Course row={row} values={values} def={def.data} range={range} />
      <Log row={row} def={def.data} range={range} />
      <ItemEvents row={row} range={range} />
    </Stack>
  );
}
