// The thresholds that a policy sets, by indicator of a class.
import { Autocomplete, Button, Fieldset, Group, Stack, Text } from "@mantine/core";
import { IconCopy } from "@tabler/icons-react";
import type { Class, Indicator } from "../../api";
import { statusName } from "../../parts/StatusIcon";
import { ThresholdRow } from "./ClassForm";
import type { Faults, ThresholdDraft } from "./classDraft";
import { Add, Bin, type FormProps, replaced } from "./PolicyRows";
import { newOverride, newThreshold, type OverrideDraft } from "./policyDraft";
import { useClasses } from "./useClasses";

export function PolicyThresholds({ draft, onChange, faults }: FormProps) {
  const all = useClasses();
  const set = (i: number, o?: OverrideDraft) => onChange({ ...draft, thresholds: replaced(draft.thresholds, i, o) });
  return (
    <Fieldset legend="Thresholds">
      <Stack gap="md">
        {draft.thresholds.length === 0 && (
          <Text size="sm" c="dimmed">
            Those of the classes, or of a policy further up.
          </Text>
        )}
        {draft.thresholds.map((o, i) => (
          <Override
            key={o.id}
            i={i}
            o={o}
            all={all}
            own={draft.kind === "object"}
            faults={faults}
            onChange={(to) => set(i, to)}
            onRemove={() => set(i)}
          />
        ))}
        <Add onClick={() => onChange({ ...draft, thresholds: [...draft.thresholds, newOverride()] })}>
          Add an indicator
        </Add>
      </Stack>
    </Fieldset>
  );
}

const nameOf = (ind: Indicator) => [ind.name, ind.unit && `(${ind.unit})`].filter(Boolean).join(" ");

/** elsewhere is the row when it is about another indicator: of which type that is, the service finds out. */
function elsewhere(o: OverrideDraft, part: Partial<Pick<OverrideDraft, "class" | "n">>): OverrideDraft {
  const { type: _, ...rest } = o.rest;
  return { ...o, ...part, rest };
}

function Override({
  i,
  o,
  all,
  own,
  faults,
  onChange,
  onRemove,
}: {
  i: number;
  o: OverrideDraft;
  all: Class[];
  own: boolean;
  faults: Faults;
  onChange: (o: OverrideDraft) => void;
  onRemove: () => void;
}) {
  const at = `thresholds[${i}]`;
  const called = `indicator ${i + 1}`;
  const indicators = all.find((c) => c.name === o.class)?.indicators ?? [];
  const ind = indicators.find((x) => String(x.n) === o.n);
  const set = (k: number, t?: ThresholdDraft) => onChange({ ...o, thresholds: replaced(o.thresholds, k, t) });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset in a fieldset has a frame too many
    <div className="policy-override" role="group" aria-label={called}>
      <div className="policy-pair">
        <Autocomplete
          label="Class"
          aria-label={`Class, ${called}`}
          placeholder={own ? "that of the object" : undefined}
          data={all.map((c) => c.name)}
          limit={20}
          value={o.class}
          onChange={(v) => onChange(elsewhere(o, { class: v }))}
          error={faults[`${at}.class`]}
        />
        <Autocomplete
          label="Indicator"
          aria-label={`Number, ${called}`}
          description={ind && nameOf(ind)}
          placeholder="its number"
          inputWrapperOrder={["label", "input", "description", "error"]}
          inputMode="numeric"
          data={indicators.map((x) => String(x.n))}
          filter={({ options }) => options}
          renderOption={({ option }) => {
            const of = indicators.find((x) => String(x.n) === option.value);
            return <span className="name">{of ? `${of.n} ${nameOf(of)}` : option.value}</span>;
          }}
          value={o.n}
          onChange={(v) => onChange(elsewhere(o, { n: v.trim() }))}
          error={faults[`${at}.n`]}
        />
        <Bin label={`Remove ${called}`} onClick={onRemove} />
      </div>
      {o.thresholds.map((t, k) => (
        <ThresholdRow
          key={t.id}
          at={`${at}.thresholds[${k}]`}
          first={k === 0}
          called={`threshold ${k + 1} of ${called}`}
          t={t}
          text={(ind?.type ?? o.rest.type) === "string"}
          faults={faults}
          onChange={(to) => set(k, to)}
          onRemove={() => set(k)}
        />
      ))}
      {o.thresholds.length === 0 && (
        <Text size="sm" c="dimmed">
          Without a threshold, no value raises an error.
        </Text>
      )}
      <Group gap="sm">
        <Add
          onClick={() => onChange({ ...o, thresholds: [...o.thresholds, newThreshold()] })}
          disabled={o.thresholds.length >= 20}
        >
          Add a threshold
        </Add>
        {o.thresholds.length === 0 && ind?.thresholds?.length && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconCopy size={14} />}
            onClick={() => onChange({ ...o, thresholds: (ind.thresholds ?? []).map(copied) })}
            title={(ind.thresholds ?? []).map((t) => `${t.when} is ${statusName(String(t.status))}`).join(", ")}
          >
            Start with those of the class
          </Button>
        )}
      </Group>
    </div>
  );
}

const copied = (t: { when: string; status: number; recover?: string; after?: number }): ThresholdDraft => ({
  ...newThreshold(),
  when: t.when,
  status: String(t.status),
  recover: t.recover ?? "",
  after: t.after ? String(t.after) : "",
});
