// What is shown: a text, statuses with their numbers, and the rest behind a button. What is set can be seen and taken away.
import { Button, CloseButton, Group, Pill, Popover, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconFilter, IconFolder, IconSearch } from "@tabler/icons-react";
import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import type { Kind, Status } from "../../api";

import { kindsText } from "../../parts/actions/operations";
import { later } from "../../parts/later";
import { StatusIcon, statuses, statusName } from "../../parts/StatusIcon";
import { useSummary } from "../../parts/summary";
import type { Feed } from "./feed";
import { everything, type Filter, kinds, narrows, type FilterProps as Props, plain, rollsUp } from "./filter";

/** unwatched is for a list that has not been read yet. */
const unwatched = () => () => {};

const More = later(() => import("./MoreFilters"));

export function Filters({ filter, onFilter, feed }: Props & { feed?: Feed }) {
  // As long as it is about all objects, it is the line above every page.
  const all = useSummary();
  const found = useSyncExternalStore(feed?.subscribe ?? unwatched, () => feed?.counts);
  const counts = plain(filter) ? all : found;
  return (
    <Stack gap="xs" className="off-paper">
      <Group gap="xs" wrap="nowrap" align="center">
        <Search filter={filter} onFilter={onFilter} />
        <Popover position="bottom-end" width={320} trapFocus returnFocus shadow="md">
          <Popover.Target>
            <Button variant="default" leftSection={<IconFilter size={16} />} style={{ flex: "none" }}>
              Filter
            </Button>
          </Popover.Target>
          <Popover.Dropdown>
            <More filter={filter} onFilter={onFilter} />
          </Popover.Dropdown>
        </Popover>
      </Group>
      <Group
        gap={6}
        className="status-toggles"
        component="section"
        aria-label={`Filter by status; the numbers are ${kindsText(counted(filter))}`}
      >
        {statuses.map((s) => (
          <StatusToggle key={s} status={s} count={counts && (counts.get(s) ?? 0)} filter={filter} onFilter={onFilter} />
        ))}
        <RollUps filter={filter} onFilter={onFilter} />
      </Group>
      <Pills filter={filter} onFilter={onFilter} />
    </Stack>
  );
}

function Search({ filter, onFilter }: Props) {
  const [text, setText] = useState(filter.text);
  const applyText = useDebouncedCallback((t: string) => onFilter({ text: t }), 200);
  // The address may change by other means than typing here.
  useEffect(() => setText((now) => (now.trim() === filter.text.trim() ? now : filter.text)), [filter.text]);
  const set = (t: string) => {
    setText(t);
    applyText(t);
  };
  return (
    <TextInput
      data-search
      flex={1}
      maw={560}
      type="search"
      aria-label="Filter by text"
      placeholder="Name, resource, info, note…"
      leftSection={<IconSearch size={16} />}
      rightSection={text && <CloseButton size="sm" aria-label="Clear the text" onClick={() => set("")} />}
      value={text}
      onChange={(e) => set(e.currentTarget.value)}
    />
  );
}

/** counted are the kinds that the numbers beside the statuses are about: a fault counts once. */
const counted = (f: Filter): Kind[] => (f.kind.includes("object") ? ["object"] : f.kind);

/** RollUps shows what objects are in beside them. */
function RollUps({ filter, onFilter }: Props) {
  const on = rollsUp(filter);
  return (
    <UnstyledButton
      className="status-toggle"
      aria-pressed={on}
      onClick={() => onFilter({ kind: on ? ["object"] : kinds })}
      title="Also show views and resources: each has the worst status of what is in it"
    >
      <IconFolder size={16} />
      <Text span size="sm">
        Views and resources too
      </Text>
    </UnstyledButton>
  );
}

function StatusToggle({ status, count, filter, onFilter }: Props & { status: Status; count?: number }) {
  const on = filter.status.includes(status);
  const toggle = () =>
    onFilter({ status: on ? filter.status.filter((s) => s !== status) : [...filter.status, status] });
  return (
    <UnstyledButton
      className="status-toggle"
      aria-pressed={on}
      onClick={toggle}
      data-none={count === 0 || undefined}
      title={`${statusName(status)}: so many ${kindsText(counted(filter))}${plain(filter) ? "" : " that fit the filter"}`}
    >
      <StatusIcon status={status} size={16} label={false} />
      <Text span size="sm" className="word">
        {statusName(status)}{" "}
      </Text>
      <Text span size="sm" fw={600} className="number">
        {count?.toLocaleString() ?? "–"}
      </Text>
    </UnstyledButton>
  );
}

/** Pills are what hides behind the button, each with a way to be rid of it. */
function Pills({ filter, onFilter }: Props) {
  const pill = (text: string, part: Partial<Filter>): ReactNode => (
    <Pill
      key={text}
      withRemoveButton
      onRemove={() => onFilter(part)}
      removeButtonProps={{ "aria-label": `Without: ${text}`, tabIndex: 0, "aria-hidden": false }}
      maw="100%"
    >
      {text}
    </Pill>
  );
  const list = [
    !filter.kind.includes("object") && pill(kindsText(filter.kind), { kind: ["object"] }),
    filter.class && pill(`class ${filter.class}`, { class: "" }),
    filter.view && pill(`in ${filter.view}`, { view: "" }),
    filter.acknowledged &&
      pill(filter.acknowledged === "yes" ? "acknowledged" : "not acknowledged", { acknowledged: "" }),
    filter.unmanaged && pill(filter.unmanaged === "yes" ? "unmanaged" : "managed", { unmanaged: "" }),
  ].filter(Boolean);
  if (!list.length) return null;
  return (
    <Group gap={6}>
      {list}
      {narrows(filter) && (
        <UnstyledButton fz="xs" td="underline" onClick={() => onFilter(everything)}>
          Clear all
        </UnstyledButton>
      )}
    </Group>
  );
}
