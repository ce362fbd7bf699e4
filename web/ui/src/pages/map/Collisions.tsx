// What two people have saved at the same moment: whose change was replaced, and by which.
import { Button, Group, Stack, Text } from "@mantine/core";
import type { Tree } from "../../api";
import { Notice } from "../../parts/Notice";
import { local } from "../../parts/Time";
import { type Collision, presentOf } from "./collisions";
import { type Conflict, inWords, type Side } from "./conflicts";
import { kindName } from "./scene";
import type { Drafting } from "./useDraft";

/** saying describes a collision in a sentence, with what the item has now. */
export function saying(c: Collision, now: Side): string {
  const at = c.at && ` at ${local(c.at)}`;
  if (c.lost) return `${c.by} replaced what you saved${at}: now ${inWords(now)}; yours was ${inWords(c.mine)}`;
  return `you replaced what ${c.by} saved${at}: now ${inWords(now)}; theirs was ${inWords(c.theirs)}`;
}

interface Props {
  tree: Tree;
  /** What is to be decided first. */
  conflicts: Conflict[];
  drafting: Drafting;
  onRestore: () => void;
}

export function Collisions({ tree, conflicts, drafting, onRestore }: Props) {
  const all = drafting.collisions.flatMap((c) => {
    const now = conflicts.some((x) => x.key === c.key) ? undefined : presentOf(c, tree);
    return now ? [{ c, now }] : [];
  });
  if (!all.length) return null;
  return (
    <Notice title="Another user saved the same items at the same time">
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label="Saved at the same time">
        {all.map(({ c, now }) => {
          const label = c.lost ? "Put mine back" : "Take theirs";
          return (
            <Group key={c.key} component="li" gap="xs" justify="space-between">
              <Text size="sm" className="name" style={{ flex: "1 1 16rem" }}>
                {kindName(c.item)} <b className="name">{c.item.name}</b>: {saying(c, now)}
              </Text>
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`${label}: ${c.item.name}`}
                onClick={() => {
                  onRestore();
                  drafting.restore(tree, c);
                }}
              >
                {label}
              </Button>
            </Group>
          );
        })}
      </Stack>
      <Group mt="xs" justify="flex-end">
        <Button size="compact-sm" variant="default" onClick={() => drafting.closeCollisions(all.map(({ c }) => c))}>
          Leave it as it is
        </Button>
      </Group>
    </Notice>
  );
}
