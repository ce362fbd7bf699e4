// When something is to be so: from, to, in which zone, and whether it comes again. Times go to the service as they are
// written, with the zone beside them: what 02:30 means on the night the clocks change is for the service to say.
import { Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import type { ActWish } from "../../api";
import { zone as browserZone } from "../Time";

export interface WindowValue {
  from: string;
  to: string;
  zone: string;
  repeat: string;
  rule: string;
}

export const noWindow: WindowValue = { from: "", to: "", zone: browserZone, repeat: "", rule: "" };

const repeats = [
  { value: "", label: "Once" },
  { value: "FREQ=DAILY", label: "Every day" },
  { value: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", label: "From Monday to Friday" },
  { value: "FREQ=WEEKLY", label: "Every week on that day" },
  { value: "FREQ=MONTHLY", label: "Every month on that date" },
  { value: "own", label: "By a rule…" },
];

let known: string[] | undefined;

/** zones are those the browser knows, the likely ones first. */
function zones(): string[] {
  known ??= [...new Set([browserZone, "UTC", ...Intl.supportedValuesOf("timeZone")])];
  return known;
}

/** windowBody is what the service is told. */
export function windowBody(w: WindowValue): ActWish {
  if (!w.from && !w.to) return {};
  const rrule = w.repeat === "own" ? w.rule.trim() : w.repeat;
  return {
    ...(w.from && { fromdatetime: w.from }),
    ...(w.to && { todatetime: w.to }),
    ...(rrule && { rrule }),
    timezone: w.zone,
  };
}

export function ZoneSelect({ value, onChange }: { value: string; onChange: (zone: string) => void }) {
  return (
    <Select
      label="Time zone"
      searchable
      limit={60}
      allowDeselect={false}
      data={zones()}
      value={value}
      onChange={(z) => onChange(z ?? browserZone)}
      nothingFoundMessage="No such zone"
    />
  );
}

export function WindowFields({ value, onChange }: { value: WindowValue; onChange: (w: WindowValue) => void }) {
  const set = (part: Partial<WindowValue>) => onChange({ ...value, ...part });
  const planned = !!(value.from || value.to);
  const both = !!(value.from && value.to);
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          type="datetime-local"
          label="From"
          description="Empty: from now on"
          value={value.from}
          onChange={(e) => set({ from: e.currentTarget.value })}
        />
        <TextInput
          type="datetime-local"
          label="To"
          description="Empty: until somebody says otherwise"
          value={value.to}
          onChange={(e) => set({ to: e.currentTarget.value })}
        />
      </SimpleGrid>
      {planned && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <ZoneSelect value={value.zone} onChange={(zone) => set({ zone })} />
          <Select
            label="Repeat"
            allowDeselect={false}
            disabled={!both}
            data={repeats}
            value={both ? value.repeat : ""}
            onChange={(repeat) => set({ repeat: repeat ?? "" })}
          />
        </SimpleGrid>
      )}
      {both && value.repeat === "own" && (
        <TextInput
          label="Rule"
          description="A recurrence rule of RFC 5545, as FREQ=MONTHLY;BYDAY=1SU for the first Sunday of a month"
          value={value.rule}
          onChange={(e) => set({ rule: e.currentTarget.value })}
        />
      )}
      {planned && (
        <Text size="xs" c="dimmed">
          An item has one window: a new one takes the place of the one before.
        </Text>
      )}
    </Stack>
  );
}
