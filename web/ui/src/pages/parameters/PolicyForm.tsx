// The form of a policy: which item it is about, and what it says about it.
import { Autocomplete, Fieldset, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { PolicyAbout } from "./PolicyAbout";
import { PolicyPeriod } from "./PolicyPeriod";
import { Add, Bin, type FormProps, replaced } from "./PolicyRows";
import { PolicyThresholds } from "./PolicyThresholds";
import { newPace, type PaceDraft, type PolicyDraft } from "./policyDraft";
import { useClassNames } from "./useClasses";

export function PolicyForm(props: FormProps) {
  const { draft } = props;
  return (
    <Stack>
      <PolicyAbout {...props} />
      <PolicyThresholds {...props} />
      <Intervals {...props} />
      {(draft.kind !== "object" || draft.rollup !== "") && <Rollup {...props} />}
      <PolicyPeriod {...props} />
    </Stack>
  );
}

function Intervals({ draft, onChange, faults }: FormProps) {
  const set = (i: number, p?: PaceDraft) => onChange({ ...draft, intervals: replaced(draft.intervals, i, p) });
  const names = useClassNames();
  return (
    <Fieldset legend="Expected interval">
      <Stack gap="sm">
        <TextInput
          label="Of any class"
          description="As 60s, 5m, 12h, or none: nothing is expected. Empty: as it is elsewhere."
          placeholder="5m"
          value={draft.interval}
          onChange={(e) => onChange({ ...draft, interval: e.currentTarget.value })}
          error={faults.interval}
          maw={640}
        />
        {draft.intervals.map((p, i) => (
          <div key={p.id} className="policy-pair">
            <Autocomplete
              label="Class"
              aria-label={`Class, interval ${i + 1}`}
              data={names}
              limit={20}
              value={p.class}
              onChange={(v) => set(i, { ...p, class: v })}
              error={faults[`intervals[${i}].class`]}
            />
            <TextInput
              label="Interval"
              aria-label={`Interval, interval ${i + 1}`}
              placeholder="60s"
              value={p.interval}
              onChange={(e) => set(i, { ...p, interval: e.currentTarget.value })}
              error={faults[`intervals[${i}].interval`]}
            />
            <Bin label={`Remove interval ${i + 1}`} onClick={() => set(i)} />
          </div>
        ))}
        <Add onClick={() => onChange({ ...draft, intervals: [...draft.intervals, newPace()] })}>
          Add an interval of a class
        </Add>
      </Stack>
    </Fieldset>
  );
}

const rollups = [
  { value: "", label: "Nothing is said" },
  { value: "worst", label: "As bad as the worst" },
  { value: "best", label: "As bad as the best" },
  { value: "number", label: "As bad as several at once" },
];

function Rollup({ draft, onChange, faults }: FormProps) {
  return (
    <Fieldset legend="Roll-up">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          How the statuses of its content are combined. It is about the {draft.kind || "item"} itself, not the views
          inside it.
        </Text>
        <div className="policy-rollup">
          <NativeSelect
            label="It is"
            data={draft.rollup === "other" ? [...rollups, { value: "other", label: draft.other }] : rollups}
            value={draft.rollup}
            onChange={(e) => onChange({ ...draft, rollup: e.currentTarget.value as PolicyDraft["rollup"] })}
            error={draft.rollup !== "number" && faults.rollup}
          />
          {draft.rollup === "number" && (
            <TextInput
              label="How many"
              inputMode="numeric"
              value={draft.many}
              onChange={(e) => onChange({ ...draft, many: e.currentTarget.value })}
              error={faults.rollup}
            />
          )}
        </div>
      </Stack>
    </Fieldset>
  );
}
