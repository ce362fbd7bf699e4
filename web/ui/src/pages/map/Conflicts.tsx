// What another user has changed since the draft was begun, and what is to become of it.
import { Button, Group, Stack, Text } from "@mantine/core";
import { Notice } from "../../parts/Notice";
import { type Conflict, inWords, keepMine, takeTheirs } from "./conflicts";
import { type Draft, nameOfKey, settle } from "./draft";
import { kindName } from "./scene";
import type { Drafting } from "./useDraft";

/** So many are listed one by one. */
const listed = 10;

const said = (c: Conflict) =>
  c.removal
    ? `now ${inWords(c.theirs)}; you remove it, when it had ${inWords(c.mine)}`
    : `now ${inWords(c.theirs)}; yours ${inWords(c.mine)}`;

export function Conflicts({ all, drafting }: { all: Conflict[]; drafting: Drafting }) {
  if (!all.length) return null;
  if (drafting.busy)
    return (
      <Notice title="Another user has changed this view since you started">
        <Text size="sm">Your changes are being saved. You can choose afterwards.</Text>
      </Notice>
    );
  const decide = (how: (d: Draft, c: Conflict) => Draft, of: Conflict[]) => drafting.edit((d) => of.reduce(how, d));
  const more = all.length - listed;
  return (
    <Notice title="Another user has changed this view since you started">
      <Text size="sm">None of your changes are saved until you choose.</Text>
      <Stack gap="xs" mt="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }} aria-label="Conflicts">
        {all.slice(0, listed).map((c) => (
          <Group key={c.key} component="li" gap="xs" justify="space-between">
            <Text size="sm" className="name" style={{ flex: "1 1 16rem" }}>
              {kindName(c.item)} <b className="name">{c.item.name}</b>: {said(c)}
            </Text>
            <Choice of={c} decide={(how) => decide(how, [c])} />
          </Group>
        ))}
      </Stack>
      {more > 0 && (
        <Text size="sm" mt="xs">
          and {more.toLocaleString()} more
        </Text>
      )}
      {all.length > 1 && (
        <Group mt="xs" justify="flex-end">
          <Choice decide={(how) => decide(how, all)} />
        </Group>
      )}
    </Notice>
  );
}

/** Strays names what the draft changes and another user has removed or moved away. */
export function Strays({ keys, drafting }: { keys: string[]; drafting: Drafting }) {
  if (!keys.length) return null;
  const named = keys.slice(0, listed).map(nameOfKey).join(", ");
  const more = keys.length - listed;
  return (
    <Notice title="Another user has removed items that you changed">
      <Text size="sm" className="name">
        No longer in this view: {named}
        {more > 0 && ` and ${more.toLocaleString()} more`}. Your changes to it cannot be saved.
      </Text>
      <Group mt="xs" justify="flex-end">
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            drafting.edit((d) => settle(d, new Set(keys), ""));
            drafting.forgive();
          }}
        >
          Drop these changes
        </Button>
      </Group>
    </Notice>
  );
}

interface ChoiceProps {
  /** Absent for all. */
  of?: Conflict;
  decide: (how: (d: Draft, c: Conflict) => Draft) => void;
}

function Choice({ of, decide }: ChoiceProps) {
  const button = (label: string, how: (d: Draft, c: Conflict) => Draft) => (
    <Button
      size="compact-sm"
      variant="default"
      onClick={() => decide(how)}
      aria-label={of ? `${label}: ${of.item.name}` : label}
    >
      {label}
    </Button>
  );
  const [mine, theirs] = of?.removal ? ["Remove anyway", "Keep it"] : ["Keep mine", "Take theirs"];
  return (
    <Group gap="xs">
      {button(of ? mine : `${mine} for all`, keepMine)}
      {button(of ? theirs : `${theirs} for all`, takeTheirs)}
    </Group>
  );
}
