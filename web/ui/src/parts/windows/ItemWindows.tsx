// The windows of one item, on its page and in the dialog that plans another.
import { Badge, Box, Group, Stack, Text } from "@mantine/core";
import type { ExplainedWindow } from "../../api";
import { useMay } from "../../session";
import { Time } from "../Time";
import { RemoveWindow } from "./RemoveWindow";
import { byTime, inItsZone, type OneWindow, ofItem, repeatOf, type Whose } from "./windows";

export function ItemWindows({
  item,
  windows,
  onDone,
}: {
  item: Whose;
  windows: ExplainedWindow[];
  onDone: () => void;
}) {
  const may = useMay();
  return (
    <Stack gap="xs" component="ul" m={0} p={0} aria-label={`Windows of ${item.name}`} style={{ listStyle: "none" }}>
      {windows
        .map(ofItem)
        .sort(byTime)
        .map((w) => (
          <Group key={w.name} component="li" gap="sm" justify="space-between" align="flex-start">
            <Box style={{ minWidth: 0, flex: "1 1 16rem" }}>
              <Named window={w} />
              <Text size="sm" c="dimmed" component="div" className="name">
                <Span window={w} />
                <br />
                <Rule window={w} />
                {w.by && `, by ${w.by}`}
              </Text>
            </Box>
            {may.write && <RemoveWindow item={item} window={w} onDone={onDone} />}
          </Group>
        ))}
    </Stack>
  );
}

/** Named is what a window is called, and what it does. */
export function Named({ window: w }: { window: OneWindow }) {
  return (
    <Group gap={6} component="span" style={{ rowGap: 2 }}>
      <Text span size="sm" fw={600} className="name" c={w.name ? undefined : "dimmed"}>
        {w.name || "without a name"}
      </Text>
      <Badge variant={w.open ? "filled" : "default"} color="bell" size="sm" tt="none">
        {w.open ? "open" : "planned"}
      </Badge>
      <Text span size="xs">
        {w.mode}
      </Text>
    </Group>
  );
}

/** Span is when it is open: now, or the next time. */
export function Span({ window: w }: { window: OneWindow }) {
  const there = inItsZone(w);
  return (
    <>
      <Text span inherit style={{ whiteSpace: "nowrap" }}>
        <Time at={w.from} /> –
      </Text>{" "}
      {w.to ? (
        <Text span inherit style={{ whiteSpace: "nowrap" }}>
          <Time at={w.to} />
        </Text>
      ) : (
        "until you end it"
      )}
      {there && (
        <>
          <br />
          <Text span size="xs" c="dimmed" className="number">
            {there}
          </Text>
        </>
      )}
    </>
  );
}

/** Rule says how it recurs, and in which zone its times were given. */
export function Rule({ window: w }: { window: OneWindow }) {
  return (
    <>
      {repeatOf(w)}
      {w.zone ? `, ${w.zone}` : w.rule && ", local time of the service"}
    </>
  );
}
