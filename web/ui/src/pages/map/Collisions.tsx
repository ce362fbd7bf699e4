// What two people have saved without having seen each other's: whose change was replaced, and by which.
import { Button, Group, Stack, Text } from "@mantine/core";
import type { Tree } from "../../api";
import { Notice } from "../../parts/Notice";
import { local } from "../../parts/Time";
import { type Collision, presentOf, restorable } from "./collisions";
import { type Conflict, inWords, type Side } from "./conflicts";
import { kindName } from "./scene";
import type { Drafting } from "./useDraft";

export const title = "Another user saved the same items";

/** saying describes a collision in a sentence, with what the item has now. */
export function saying(c: Collision, now: Side): string {
  const at = c.at && ` at ${local(c.at)}`;
  const when = c.at && ` (${c.together ? "at the same time" : "afterwards"},${at})`;
  if (c.lost && c.removed) return `${c.by} removed what you saved${when}; yours was ${inWords(c.mine)}`;
  if (c.lost) return `${c.by} replaced what you saved${when}: now ${inWords(now)}; yours was ${inWords(c.mine)}`;
  if (c.removed)
    return `you removed what ${c.by} changed${at}, which you had not seen; theirs was ${inWords(c.theirs)}`;
  return `you replaced what ${c.by} saved${at}, which you had not seen: now ${inWords(now)}; theirs was ${inWords(c.theirs)}`;
}

/** told is the same with what it is about. */
export const told = (c: Collision, now: Side): string => `${kindName(c.item)} ${c.item.name}: ${saying(c, now)}`;

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
    <Notice title={title}>
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label="Saved by another user, too">
        {all.map(({ c, now }) => {
          const label = c.lost ? "Put mine back" : c.removed ? "Put theirs back" : "Take theirs";
          return (
            <Group key={c.key} component="li" gap="xs" justify="space-between">
              <Text size="sm" className="name" style={{ flex: "1 1 16rem" }}>
                {kindName(c.item)} <b className="name">{c.item.name}</b>: {saying(c, now)}
              </Text>
              {restorable(c) && (
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
              )}
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
