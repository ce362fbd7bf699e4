// When what a policy covers is monitored.
import { Autocomplete, Fieldset, Group, Stack, Text, TextInput } from "@mantine/core";
import { Add, Bin, type FormProps, replaced } from "./PolicyRows";
import { newTime, type TimeDraft } from "./policyDraft";

const zones = Intl.supportedValuesOf("timeZone");
const most = 50;

export function PolicyPeriod({ draft, onChange, faults }: FormProps) {
  const set = (i: number, t?: TimeDraft) => onChange({ ...draft, times: replaced(draft.times, i, t) });
  const add = (kind: TimeDraft["kind"]) => onChange({ ...draft, times: [...draft.times, newTime(kind)] });
  return (
    <Fieldset legend="Monitored">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {draft.times.length === 0
            ? "Always, or according to a policy further up."
            : "During any of these times. Outside of them, objects are Unknown."}
        </Text>
        {draft.times.map((t, i) => (
          <Time
            key={t.id}
            t={t}
            called={`time ${i + 1}`}
            fault={faults[`period.times[${i}]`]}
            onChange={(to) => set(i, to)}
            onRemove={() => set(i)}
          />
        ))}
        <Group gap="sm">
          <Add onClick={() => add("hours")} disabled={draft.times.length >= most}>
            Add hours of the week
          </Add>
          <Add onClick={() => add("dates")} disabled={draft.times.length >= most}>
            Add dates
          </Add>
        </Group>
        {(draft.times.length > 0 || draft.timezone !== "" || faults["period.timezone"]) && (
          <Autocomplete
            label="Time zone"
            description="As Europe/Berlin. Empty: that of the server."
            data={zones}
            limit={20}
            value={draft.timezone}
            onChange={(timezone) => onChange({ ...draft, timezone })}
            error={faults["period.timezone"]}
            maw={420}
          />
        )}
      </Stack>
    </Fieldset>
  );
}

function Time({
  t,
  called,
  fault,
  onChange,
  onRemove,
}: {
  t: TimeDraft;
  called: string;
  fault?: string;
  onChange: (t: TimeDraft) => void;
  onRemove: () => void;
}) {
  const field = (label: string, name: "hours" | "from" | "to" | "rrule", placeholder: string, error?: string) => (
    <TextInput
      label={label}
      aria-label={`${label}, ${called}`}
      placeholder={placeholder}
      value={t[name]}
      onChange={(e) => onChange({ ...t, [name]: e.currentTarget.value })}
      error={error}
    />
  );
  return (
    <div className={t.kind === "hours" ? "policy-hours" : "policy-dates"}>
      {t.kind === "hours" ? (
        field("Hours", "hours", "mon-fri 08:00-18:00", fault)
      ) : (
        <>
          {field("From", "from", "2026-01-05T08:00", fault)}
          {field("To", "to", "2026-01-05T18:00")}
          {field("Repeats", "rrule", "FREQ=MONTHLY;BYDAY=1MO")}
        </>
      )}
      <Bin label={`Remove ${called}`} onClick={onRemove} />
    </div>
  );
}
