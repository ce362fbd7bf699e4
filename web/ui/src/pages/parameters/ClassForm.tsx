// The form of a class: indicators with their thresholds as rows, the log, the interval.
import { ActionIcon, Button, Fieldset, Group, NativeSelect, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { Class } from "../../api";
import {
  type Draft,
  type Faults,
  type IndicatorDraft,
  newIndicator,
  newThreshold,
  type ThresholdDraft,
} from "./classDraft";

interface Props {
  draft: Draft;
  onChange: (d: Draft) => void;
  faults: Faults;
  was?: Class;
}

export function ClassForm({ draft, onChange, faults, was }: Props) {
  const set = (i: number, ind?: IndicatorDraft) =>
    onChange({ ...draft, indicators: draft.indicators.flatMap((o, k) => (k === i ? (ind ? [ind] : []) : [o])) });
  return (
    <Stack>
      <Stack gap="sm" component="section" aria-label="Indicators">
        {draft.indicators.map((ind, i) => (
          <IndicatorRow
            key={ind.id}
            at={`indicators[${i}]`}
            ind={ind}
            faults={faults}
            bound={typeOf(was, ind.n) !== undefined}
            onChange={(to) => set(i, to)}
            onRemove={() => set(i)}
          />
        ))}
        <Group>
          <Button
            variant="default"
            leftSection={<IconPlus size={16} />}
            onClick={() => onChange({ ...draft, indicators: [...draft.indicators, newIndicator(draft)] })}
          >
            Add an indicator
          </Button>
        </Group>
      </Stack>
      <Group align="flex-start" gap="lg" grow preventGrowOverflow={false} wrap="wrap">
        <TextInput
          label="Expected interval"
          description="Between two rows, as 60s, 5m, 1h. Three of them without data: Unknown. Empty: nothing is expected."
          placeholder="60s"
          value={draft.interval}
          onChange={(e) => onChange({ ...draft, interval: e.currentTarget.value })}
          error={faults.interval}
          miw={220}
        />
        <TextInput
          label="Log separator"
          description="Between the columns of a log line; \t is a tab."
          value={draft.separator}
          onChange={(e) => onChange({ ...draft, separator: e.currentTarget.value })}
          error={faults["log.separator"]}
          miw={220}
        />
        <Textarea
          label="Log columns"
          description="Their names, one per line."
          value={draft.columns}
          onChange={(e) => onChange({ ...draft, columns: e.currentTarget.value })}
          error={faults["log.columns"]}
          autosize
          minRows={2}
          maxRows={12}
          miw={220}
        />
      </Group>
    </Stack>
  );
}

/** typeOf returns the type that an indicator has, or once had: it never changes. */
function typeOf(was: Class | undefined, n: string): string | undefined {
  return (was?.indicators?.find((i) => String(i.n) === n) ?? was?.former?.find((f) => String(f.n) === n))?.type;
}

function IndicatorRow({
  at,
  ind,
  faults,
  bound,
  onChange,
  onRemove,
}: {
  at: string;
  ind: IndicatorDraft;
  faults: Faults;
  bound: boolean;
  onChange: (i: IndicatorDraft) => void;
  onRemove: () => void;
}) {
  const set = (k: number, t?: ThresholdDraft) =>
    onChange({ ...ind, thresholds: ind.thresholds.flatMap((o, i) => (i === k ? (t ? [t] : []) : [o])) });
  const called = `indicator i${ind.n}`;
  return (
    <Fieldset legend={`i${ind.n} ${ind.name}`} className="name">
      <Stack gap="xs">
        <div className="indicator-head">
          <TextInput
            label="Number"
            inputMode="numeric"
            value={ind.n}
            onChange={(e) => onChange({ ...ind, n: e.currentTarget.value.trim() })}
            error={faults[`${at}.n`]}
          />
          <TextInput
            label="Name"
            placeholder={`i${ind.n}`}
            value={ind.name}
            onChange={(e) => onChange({ ...ind, name: e.currentTarget.value })}
            error={faults[`${at}.name`]}
          />
          <TextInput
            label="Unit"
            value={ind.unit}
            onChange={(e) => onChange({ ...ind, unit: e.currentTarget.value })}
            error={faults[`${at}.unit`]}
          />
          <NativeSelect
            label="Type"
            data={[
              { value: "number", label: "Number" },
              { value: "string", label: "Text" },
            ]}
            value={ind.type}
            onChange={(e) => onChange({ ...ind, type: e.currentTarget.value as IndicatorDraft["type"] })}
            disabled={bound}
            title={bound ? "The type of an indicator never changes, since its history is kept." : undefined}
            error={faults[`${at}.type`]}
          />
          <ActionIcon variant="default" size={36} className="bin" onClick={onRemove} aria-label={`Remove ${called}`}>
            <IconTrash size={16} />
          </ActionIcon>
        </div>
        {ind.thresholds.map((t, k) => (
          <ThresholdRow
            key={t.id}
            at={`${at}.thresholds[${k}]`}
            first={k === 0}
            called={`threshold ${k + 1} of ${called}`}
            t={t}
            text={ind.type === "string"}
            faults={faults}
            onChange={(to) => set(k, to)}
            onRemove={() => set(k)}
          />
        ))}
        <Group gap="sm">
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            disabled={ind.thresholds.length >= 20}
            onClick={() => onChange({ ...ind, thresholds: [...ind.thresholds, newThreshold()] })}
          >
            Add a threshold<span className="table-unseen"> to {called}</span>
          </Button>
          {ind.thresholds.length === 0 && (
            <Text size="sm" c="dimmed">
              It has no thresholds.
            </Text>
          )}
        </Group>
      </Stack>
    </Fieldset>
  );
}

export const thresholdStatuses = [
  { value: "1", label: "1 Warning" },
  { value: "2", label: "2 Major" },
  { value: "3", label: "3 Critical" },
];

/** withValue adds a value that is none of those offered, so that it is seen rather than taken for the first of them. */
export const withValue = (offered: { value: string; label: string }[], value: string) =>
  offered.some((o) => o.value === value) ? offered : [...offered, { value, label: value || "—" }];

export function ThresholdRow({
  at,
  first,
  called,
  t,
  text,
  faults,
  onChange,
  onRemove,
}: {
  at: string;
  first: boolean;
  called: string;
  t: ThresholdDraft;
  text: boolean;
  faults: Faults;
  onChange: (t: ThresholdDraft) => void;
  onRemove: () => void;
}) {
  // The names of the columns are written once; every field has its own for those who cannot see.
  const label = (name: string) => ({
    label: name,
    labelProps: { className: first ? undefined : "later" },
    "aria-label": `${name}, ${called}`,
  });
  return (
    <div className="threshold">
      <TextInput
        {...label("When")}
        placeholder={text ? "<> ok" : ">= 80"}
        value={t.when}
        onChange={(e) => onChange({ ...t, when: e.currentTarget.value })}
        error={faults[`${at}.when`]}
      />
      <NativeSelect
        {...label("Status")}
        data={withValue(thresholdStatuses, t.status)}
        value={t.status}
        onChange={(e) => onChange({ ...t, status: e.currentTarget.value })}
        error={faults[`${at}.status`]}
      />
      <TextInput
        {...label("Until")}
        placeholder={text ? "= ok" : "no longer so"}
        value={t.recover}
        onChange={(e) => onChange({ ...t, recover: e.currentTarget.value })}
        error={faults[`${at}.recover`]}
      />
      <TextInput
        {...label("After rows")}
        inputMode="numeric"
        placeholder="1"
        value={t.after}
        onChange={(e) => onChange({ ...t, after: e.currentTarget.value.trim() })}
        error={faults[`${at}.after`]}
      />
      <ActionIcon
        variant="default"
        size={36}
        className={first ? "bin" : "bin later-bin"}
        onClick={onRemove}
        aria-label={`Remove ${called}`}
      >
        <IconTrash size={16} />
      </ActionIcon>
    </div>
  );
}
