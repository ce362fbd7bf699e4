// Which item a policy is about.
import { Autocomplete, Fieldset, NativeSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { quote, sql } from "../../api";
import { withValue } from "./ClassForm";
import type { FormProps } from "./PolicyRows";
import type { PolicyDraft } from "./policyDraft";

const kinds = [
  { value: "view", label: "View" },
  { value: "resource", label: "Resource" },
  { value: "object", label: "Object" },
];

const known = (kind: string) => kinds.some((k) => k.value === kind);

/** useNames offers names of items of a kind that hold what was typed. */
function useNames(kind: string, typed: string): string[] {
  const [asked] = useDebouncedValue(typed.trim(), 120);
  const found = useQuery({
    queryKey: ["policy items", kind, asked],
    queryFn: ({ signal }) =>
      sql<{ name: string }>(
        `SELECT name FROM objectstatus WHERE kind=${quote(kind)} AND name LIKE ${quote(`%${asked.replaceAll(/[\\%_]/g, "_")}%`)} ORDER BY name`,
        { rows: 100, signal },
      ),
    enabled: known(kind),
    placeholderData: (last) => last,
  });
  return [...new Set(found.data?.rows.map((r) => r.name))].slice(0, 20);
}

/** usePlaces offers the resources in which an item of that name is. */
function usePlaces(kind: string, item: string): string[] {
  const [asked] = useDebouncedValue(item.trim(), 120);
  const found = useQuery({
    queryKey: ["policy places", kind, asked],
    queryFn: ({ signal }) =>
      sql<{ resource?: string }>(
        `SELECT resource FROM objectstatus WHERE kind=${quote(kind)} AND name=${quote(asked)} ORDER BY resource`,
        { rows: 100, signal },
      ),
    enabled: asked !== "" && (kind === "object" || kind === "view"),
  });
  return [...new Set(found.data?.rows.flatMap((r) => r.resource || []))];
}

export function PolicyAbout({ draft, onChange, faults }: FormProps) {
  const names = useNames(draft.kind, draft.item);
  const places = usePlaces(draft.kind, draft.item);
  const set = (part: Partial<PolicyDraft>) => onChange({ ...draft, ...part });
  return (
    <Fieldset legend="About">
      <div className="policy-about">
        <NativeSelect
          label="Kind"
          data={withValue(kinds, draft.kind)}
          value={draft.kind}
          onChange={(e) => set({ kind: e.currentTarget.value })}
          error={faults.kind}
        />
        <Autocomplete
          label="Item"
          description={draft.kind === "view" ? "MAIN covers everything." : undefined}
          inputWrapperOrder={["label", "input", "description", "error"]}
          required
          data={names}
          filter={({ options }) => options}
          value={draft.item}
          onChange={(item) => set({ item })}
          error={faults.item}
        />
        {(draft.kind !== "resource" || draft.resource !== "") && (
          <Autocomplete
            label="In the resource"
            description={`Needed when several ${known(draft.kind) ? draft.kind : "item"}s have that name.`}
            inputWrapperOrder={["label", "input", "description", "error"]}
            data={places}
            filter={({ options }) => options}
            value={draft.resource}
            onChange={(resource) => set({ resource })}
            error={faults.resource}
          />
        )}
      </div>
    </Fieldset>
  );
}
