// What is to be seen of the events.
import { Button, Group, MultiSelect, Pill, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconFilter, IconSearch } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { StatusIcon, statuses, statusName } from "../../parts/StatusIcon";
import { exact, isEmpty, sources, types, type useFilter } from "./filter";

type State = ReturnType<typeof useFilter>;

export function Filters({ state }: { state: State }) {
  const { filter, change } = state;
  const [more, setMore] = useState(false);
  return (
    <search aria-label="Filter">
      <Group gap="xs" align="flex-start">
        <Words state={state} />
        <Choice
          label="Type"
          values={filter.type}
          data={types.map((t) => ({ value: t, label: t }))}
          onChange={(v) => change({ type: v.join() })}
        />
        <Choice
          label="Status"
          values={filter.status}
          data={statuses.map((s) => ({ value: s, label: statusName(s) }))}
          onChange={(v) => change({ status: v.join() })}
          icons
        />
        <Choice
          label="Source"
          values={filter.source}
          data={sources.map((s) => ({ value: s, label: s }))}
          onChange={(v) => change({ source: v.join() })}
        />
        <Button
          size="sm"
          variant="default"
          leftSection={<IconFilter size={14} />}
          onClick={() => setMore(!more)}
          aria-expanded={more}
        >
          Item, user
        </Button>
        {!isEmpty(filter) && (
          <Button size="sm" variant="subtle" color="gray" c="inherit" onClick={state.clear}>
            Clear
          </Button>
        )}
      </Group>
      {more && <Exact state={state} onDone={() => setMore(false)} />}
      <Group gap={6} mt={Object.keys(filter.exact).length ? "xs" : 0}>
        {Object.entries(filter.exact).map(([k, v]) => (
          <Pill
            key={k}
            size="md"
            withRemoveButton
            onRemove={() => change({ [k]: undefined })}
            removeButtonProps={{ "aria-label": `Any ${k}`, "aria-hidden": false, tabIndex: 0 }}
            title={v}
          >
            {k}: {v}
          </Pill>
        ))}
      </Group>
    </search>
  );
}

function Choice({
  label,
  values,
  data,
  onChange,
  icons,
}: {
  label: string;
  values: string[];
  data: { value: string; label: string }[];
  onChange: (v: string[]) => void;
  icons?: boolean;
}) {
  return (
    <MultiSelect
      size="sm"
      w={{ base: "calc(50% - 5px)", xs: values.length > 1 ? 260 : 180 }}
      aria-label={label}
      placeholder={values.length ? undefined : `Any ${label.toLowerCase()}`}
      data={data}
      value={values}
      onChange={onChange}
      renderOption={
        icons
          ? ({ option }) => (
              <Group gap={8}>
                <StatusIcon status={option.value} size={16} label={false} />
                {option.label}
              </Group>
            )
          : undefined
      }
    />
  );
}

/** Words is the search by Lucene; it is asked for when one pauses. */
function Words({ state }: { state: State }) {
  const [text, setText] = useState(state.filter.words);
  const ask = useDebouncedCallback((t: string) => state.change({ q: t.trim() || undefined }, true), 300);
  useEffect(
    () => setText((old) => (old.trim() === state.filter.words ? old : state.filter.words)),
    [state.filter.words],
  );
  return (
    <TextInput
      data-search
      size="sm"
      w={{ base: "100%", xs: 280 }}
      leftSection={<IconSearch size={16} />}
      aria-label="Search in words"
      placeholder="Words, object:web*, -user:*"
      value={text}
      onChange={(e) => {
        setText(e.currentTarget.value);
        ask(e.currentTarget.value);
      }}
    />
  );
}

/** Exact takes the name of a resource, view, object, class or user. */
function Exact({ state, onDone }: { state: State; onDone: () => void }) {
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        const data = new FormData(e.currentTarget);
        state.change(Object.fromEntries(exact.map((k) => [k, String(data.get(k) ?? "").trim() || undefined])));
        onDone();
      }}
    >
      <Group gap="xs" align="flex-end" mt="xs">
        {exact.map((k) => (
          <TextInput
            key={k}
            name={k}
            size="sm"
            w={{ base: "100%", xs: 170 }}
            label={k.charAt(0).toUpperCase() + k.slice(1)}
            defaultValue={state.filter.exact[k] ?? ""}
          />
        ))}
        <Button type="submit" size="sm">
          Apply
        </Button>
      </Group>
    </form>
  );
}
