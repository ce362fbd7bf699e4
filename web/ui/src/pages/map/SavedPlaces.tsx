// Listens for those who replace what was saved on a map, and tells of it above other pages; the map itself tells of its own.
import { Button, Group, Stack, Text } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { Link } from "wouter";
import { link } from "../../links";
import { useLive } from "../../live";
import { Notice } from "../../parts/Notice";
import { usePaced } from "../../parts/pacer";
import { title, told } from "./Collisions";
import { type Found, saved } from "./saved";

export function SavedPlaces() {
  const { found, shown } = useSyncExternalStore(saved.subscribe, saved.get);
  const soon = usePaced(() => void saved.look(), 1000);
  useLive({
    event: (events) => {
      if (events.some((e) => e.type === "configuration")) soon();
    },
    resync: () => void saved.look(),
  });
  const elsewhere = found.filter((c) => c.place.key !== shown?.key);
  if (!elsewhere.length) return null;
  return (
    <Notice title={title}>
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }}>
        {elsewhere.map((c) => (
          <Elsewhere key={`${c.place.key}\n${c.key}`} c={c} />
        ))}
      </Stack>
      <Group mt="xs" justify="flex-end">
        <Button size="compact-sm" variant="default" onClick={() => saved.close(elsewhere)}>
          Leave it as it is
        </Button>
      </Group>
    </Notice>
  );
}

const Elsewhere = ({ c }: { c: Found }) => (
  <Group component="li" gap="xs" justify="space-between">
    <Text size="sm" className="name" style={{ flex: "1 1 16rem" }}>
      {c.place.name}: {told(c, c.lost ? c.theirs : c.mine)}
    </Text>
    <Button size="compact-sm" variant="default" component={Link} href={link.map(c.place.name, c.place.resource)}>
      Open the map
    </Button>
  </Group>
);
