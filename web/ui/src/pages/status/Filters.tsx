// What is shown: a text, statuses with their numbers, and the rest behind a button. What is set can be seen and taken away.
import {
  Autocomplete,
  Button,
  Chip,
  CloseButton,
  Group,
  Pill,
  Popover,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from "@mantine/core";
import { useDebouncedCallback, useDebouncedValue } from "@mantine/hooks";
import { IconFilter, IconFolder, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { type Kind, quote, type Status, sql } from "../../api";
import { kindsText } from "../../parts/actions/operations";
import { StatusIcon, statuses, statusName } from "../../parts/StatusIcon";
import { useSummary } from "../../parts/summary";
import {
  type Column,
  columnNames,
  columns,
  everything,
  type Filter,
  firstDesc,
  kinds,
  narrows,
  plain,
  rollsUp,
} from "./filter";

interface Props {
  filter: Filter;
  onFilter: (part: Partial<Filter>) => void;
}

export function Filters({ filter, onFilter, counts: found }: Props & { counts?: ReadonlyMap<Status, number> }) {
  // As long as it is about all objects, it is what stands above every page.
  const all = useSummary();
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
  const tell = useDebouncedCallback((t: string) => onFilter({ text: t }), 200);
  // The address may change by other means than typing here.
  useEffect(() => setText((now) => (now.trim() === filter.text.trim() ? now : filter.text)), [filter.text]);
  const set = (t: string) => {
    setText(t);
    tell(t);
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

/** RollUps shows what objects stand in beside them. */
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

function More({ filter, onFilter }: Props) {
  const classes = useQuery({
    queryKey: ["classes in use"],
    queryFn: () =>
      sql<{ class: string; n: number }>("SELECT class, COUNT(*) AS n FROM objectstatus GROUP BY class", { rows: 1000 }),
  });
  const names = (classes.data?.rows ?? []).map((r) => r.class).filter(Boolean);
  return (
    <Stack gap="sm">
      <Chip.Group multiple value={filter.kind} onChange={(k) => onFilter({ kind: kinds.filter((x) => k.includes(x)) })}>
        <Group gap={6} role="group" aria-label="Kind">
          {kinds.map((k) => (
            <Chip key={k} value={k} size="xs" variant="outline">
              {`${k.charAt(0).toUpperCase()}${k.slice(1)}s`}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Select
        label="Class"
        placeholder="Any"
        searchable
        clearable
        limit={100}
        comboboxProps={{ withinPortal: false }}
        data={filter.class && !names.includes(filter.class) ? [filter.class, ...names] : names}
        value={filter.class || null}
        onChange={(c) => onFilter({ class: c ?? "" })}
      />
      <ViewChoice filter={filter} onFilter={onFilter} />
      <Sort filter={filter} onFilter={onFilter} />
      <Either
        label="Acknowledged"
        value={filter.acknowledged}
        onChange={(acknowledged) => onFilter({ acknowledged })}
      />
      <Either label="Unmanaged" value={filter.unmanaged} onChange={(unmanaged) => onFilter({ unmanaged })} />
    </Stack>
  );
}

/** Sort is for phones, where the list has no columns to click on. */
function Sort({ filter, onFilter }: Props) {
  return (
    <Group hiddenFrom="sm" gap="xs" align="flex-end" wrap="nowrap">
      <Select
        flex={1}
        label="Sort by"
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        data={columns.map((c) => ({ value: c, label: columnNames[c] }))}
        value={filter.sort}
        onChange={(c) => c && onFilter({ sort: c as Column, desc: firstDesc(c as Column) })}
      />
      <Button variant="default" onClick={() => onFilter({ desc: !filter.desc })}>
        {filter.desc ? "Falling" : "Rising"}
      </Button>
    </Group>
  );
}

function ViewChoice({ filter, onFilter }: Props) {
  const [text, setText] = useState(filter.view);
  const [asked] = useDebouncedValue(text.trim(), 150);
  const found = useQuery({
    queryKey: ["views", asked],
    queryFn: ({ signal }) => {
      const like = asked ? ` AND name LIKE ${quote(`%${asked.replaceAll(/[\\%_]/g, "_")}%`)}` : "";
      const q = `SELECT DISTINCT name FROM objectstatus WHERE kind IN ('view', 'resource')${like} ORDER BY name`;
      return sql<{ name: string }>(q, { rows: 30, signal });
    },
    placeholderData: (last) => last,
  });
  const set = (v: string) => onFilter({ view: v.trim() });
  return (
    <Autocomplete
      label="In the view or resource"
      description="What stands in it, and in what stands in it"
      placeholder="Any"
      comboboxProps={{ withinPortal: false }}
      data={(found.data?.rows ?? []).map((r) => r.name)}
      filter={({ options }) => options}
      value={text}
      onChange={setText}
      onOptionSubmit={set}
      onBlur={() => set(text)}
      onKeyDown={(e) => e.key === "Enter" && set(text)}
    />
  );
}

function Either({ label, value, onChange }: { label: string; value: string; onChange: (v: string) => void }) {
  return (
    <div>
      <Text size="sm" fw={500} mb={2}>
        {label}
      </Text>
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label={label}
        value={value || "any"}
        onChange={(v) => onChange(v === "any" ? "" : v)}
        data={[
          { value: "any", label: "Any" },
          { value: "yes", label: "Yes" },
          { value: "no", label: "No" },
        ]}
      />
    </div>
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
