// When a window is open: from, to, in which zone, and whether it recurs. Times go to the service as they are
// written, with the zone beside them: what 02:30 means on the night the clocks change is for the service to say.
import { Select, SimpleGrid, Stack, TextInput } from "@mantine/core";
import type { ActWish } from "../../api";
import { zone as browserZone } from "../Time";
import { repeats } from "../windows/windows";
import { ZoneSelect } from "./ZoneSelect";

export interface WindowValue {
  from: string;
  to: string;
  zone: string;
  repeat: string;
  rule: string;
  name: string;
}

export const noWindow: WindowValue = { from: "", to: "", zone: browserZone, repeat: "", rule: "", name: "" };

const ways = [...repeats, { value: "own", label: "By a rule…" }];

/** windowBody is the body of the request. */
export function windowBody(w: WindowValue): ActWish {
  if (!w.from && !w.to) return {};
  const rrule = w.repeat === "own" ? w.rule.trim() : w.repeat;
  return {
    ...(w.from && { fromdatetime: w.from }),
    ...(w.to && { todatetime: w.to }),
    ...(rrule && { rrule }),
    ...(w.name.trim() && { window: w.name.trim() }),
    timezone: w.zone,
  };
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
          description="Empty: no end"
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
            data={ways}
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
        <TextInput
          label="Name of the window"
          description="An item may have several: a window replaces an earlier one of the same name"
          maxLength={255}
          value={value.name}
          onChange={(e) => set({ name: e.currentTarget.value })}
        />
      )}
    </Stack>
  );
}
