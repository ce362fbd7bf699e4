// The indicators of an object over a range of time: numbers as charts that share their cursor, texts as a line of changes.
import { Button, Group, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Class, ExplainedValue, StatusRow } from "../../api";
import { AsSql } from "../../parts/AsSql";
import { Chart } from "../../parts/Chart";
import type { Line } from "../../parts/chart/line";
import { Failure } from "../../parts/Page";
import { endsOf, RangePicker, type RangeState } from "../../parts/Range";
import { course, isText, levelsOf, pace } from "./series";
import { Texts } from "./Texts";
import { Card } from "./Why";

/** So many charts are shown at first: an object may have a hundred indicators. */
const first = 8;

export function Course({
  row,
  values,
  def,
  range,
}: {
  row: StatusRow;
  values: ExplainedValue[];
  def?: Class;
  range: RangeState;
}) {
  const [all, setAll] = useState(false);
  const types = useMemo(() => new Map(def?.indicators?.map((i) => [i.n, i.type])), [def]);
  const numbers = values.filter((v) => !isText(v, types));
  const texts = values.filter((v) => isText(v, types));
  const shown = all ? numbers : numbers.slice(0, first);
  const data = useQuery({
    queryKey: ["course", row.resource, row.name, shown.map((v) => v.n).join(), range.range.key],
    queryFn: ({ signal }) => course(row, shown, range.range, signal),
    enabled: shown.length > 0,
    refetchInterval: pace(range.range),
    placeholderData: keepPreviousData,
  });
  if (!values.length) return <Card title="Over time">{<NoData />}</Card>;
  const [from, to] = data.data && !data.isPlaceholderData ? [data.data.from, data.data.to] : endsOf(range.range);
  return (
    <Card title="Over time" tools={data.data && <AsSql q={data.data.q} rows={5000} />}>
      <RangePicker state={range} />
      {data.error && <Failure error={data.error} retry={() => data.refetch()} />}
      <SimpleGrid cols={{ base: 1, lg: shown.length > 1 ? 2 : 1 }} spacing="lg" verticalSpacing="md">
        {shown.map((v) => (
          <IndicatorChart
            key={v.n}
            value={v}
            line={data.data?.lines.get(v.n)}
            from={from}
            to={to}
            tall={shown.length === 1}
            range={range}
          />
        ))}
      </SimpleGrid>
      {numbers.length > shown.length && (
        <Group>
          <Button variant="default" size="xs" onClick={() => setAll(true)}>
            Show {numbers.length - shown.length} more indicators
          </Button>
        </Group>
      )}
      {texts.length > 0 && (
        <Stack gap="sm">
          {texts.map((v) => (
            <Texts key={v.n} row={row} value={v} range={range} />
          ))}
        </Stack>
      )}
    </Card>
  );
}

function NoData() {
  return (
    <Text size="sm" c="dimmed">
      No indicator has a value yet. Send some with a row of type data, and they will be shown here.
    </Text>
  );
}

function IndicatorChart({
  value,
  line,
  from,
  to,
  tall,
  range,
}: {
  value: ExplainedValue;
  line?: Line;
  from: number;
  to: number;
  tall: boolean;
  range: RangeState;
}) {
  const height = tall ? 260 : 180;
  const { when, lines } = useMemo(
    () => ({ when: levelsOf(value), lines: line ? [{ ...line, label: value.name, unit: value.unit }] : [] }),
    [value, line],
  );
  if (!line) return <Skeleton height={height + 30} />;
  return (
    <Chart
      lines={lines}
      levels={when}
      from={from}
      to={to}
      height={height}
      onZoom={range.zoom}
      onReset={range.custom ? range.reset : undefined}
    />
  );
}
