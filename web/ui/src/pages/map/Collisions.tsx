// What two people have saved at the same moment: whose change was replaced, and by which.
import { Button, Group, Stack, Text } from "@mantine/core";
import type { TreeItem } from "../../api";
import { Notice } from "../../parts/Notice";
import { local } from "../../parts/Time";
import type { Collision } from "./collisions";
import { inWords } from "./conflicts";
import { kindName } from "./scene";
import type { Drafting } from "./useDraft";

/** saying tells a collision in a sentence, which begins with the name of the item. */
export function saying(c: Collision): string {
  const at = c.at && ` at ${local(c.at)}`;
  if (c.lost) return `${c.by} replaced what you saved${at}: now ${inWords(c.theirs)}; yours was ${inWords(c.mine)}`;
  return `you replaced what ${c.by} saved${at}: now ${inWords(c.mine)}; theirs was ${inWords(c.theirs)}`;
}

interface Props {
  view: TreeItem;
  drafting: Drafting;
  onRestore: () => void;
}

export function Collisions({ view, drafting, onRestore }: Props) {
  const all = drafting.collisions;
  if (!all.length) return null;
  return (
    <Notice title="Somebody else saved the same at the same moment">
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label="Saved at the same moment">
        {all.map((c) => {
          const label = c.lost ? "Put mine back" : "Take theirs";
          return (
            <Group key={c.key} component="li" gap="xs" justify="space-between">
              <Text size="sm" className="name" style={{ flex: "1 1 16rem" }}>
                {kindName(c.item)} <b className="name">{c.item.name}</b>: {saying(c)}
              </Text>
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`${label}: ${c.item.name}`}
                onClick={() => {
                  onRestore();
                  drafting.restore(view, c);
                }}
              >
                {label}
              </Button>
            </Group>
          );
        })}
      </Stack>
      <Group mt="xs" justify="flex-end">
        <Button size="compact-sm" variant="default" onClick={() => drafting.closeCollisions(all)}>
          Leave it as it is
        </Button>
      </Group>
    </Notice>
  );
}
