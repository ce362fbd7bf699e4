// What the status list can be narrowed by, behind a button. Few need it, so it is loaded when someone presses that.
import { Autocomplete, Button, Chip, Group, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { quote, sql } from "../../api";
import { type Column, columnNames, columns, firstDesc, kinds, type FilterProps as Props } from "./filter";

export default function More({ filter, onFilter }: Props) {
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
      description="Direct and nested content"
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
