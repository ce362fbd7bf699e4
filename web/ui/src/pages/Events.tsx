// What happened: a histogram to see when, and the list of it, which grows as things happen.
import { Button, Group, Paper, Text } from "@mantine/core";
import { AsSql } from "../parts/AsSql";
import { CsvButton } from "../parts/CsvButton";
import { Page } from "../parts/Page";
import { queryOf } from "../parts/paged";
import { fixed, RangePicker, useRange } from "../parts/Range";
import { Filters } from "./events/Filters";
import { askedOf, useFilter } from "./events/filter";
import { Histogram } from "./events/Histogram";
import { List } from "./events/List";

export default function EventsPage() {
  const range = useRange("24h");
  const state = useFilter();
  const asked = askedOf(state.filter, range.range);
  const q = queryOf(asked);
  return (
    <Page
      title="Events"
      tools={
        <>
          <AsSql q={q} fq={asked.fq} rows={200} />
          <CsvButton
            name="events.csv"
            ask={() => ({ q: queryOf(askedOf(state.filter, fixed(range.range))), fq: asked.fq })}
          />
        </>
      }
    >
      <Filters state={state} />
      <Paper withBorder p="sm" component="section" aria-label="How many, and when">
        <Group justify="space-between" gap="xs" mb="xs" className="off-paper">
          <RangePicker state={range} />
          <Group gap={6}>
            <Text size="sm" c="dimmed" id="by">
              Coloured by
            </Text>
            {(["status", "type"] as const).map((by) => (
              <Button
                key={by}
                size="compact-sm"
                variant={state.by === by ? "default" : "subtle"}
                color="gray"
                c="inherit"
                aria-pressed={state.by === by}
                onClick={() => state.change({ by: by === "status" ? undefined : by }, true)}
              >
                {by}
              </Button>
            ))}
          </Group>
        </Group>
        <Histogram filter={state.filter} range={range} by={state.by} />
      </Paper>
      <List asked={asked} range={range} />
    </Page>
  );
}
