// The restrictions of a key: fields in the form that makes one, and words in the list.
import { Checkbox, Text, Textarea } from "@mantine/core";
import type { Narrowing } from "../../api";
import { lines } from "./lines";

/** Restrictions as someone writes them. */
export interface Draft {
  sends: boolean;
  views: string;
  addresses: string;
}

export const unrestricted: Draft = { sends: false, views: "", addresses: "" };

export const narrowing = (d: Draft): Narrowing => ({
  only: d.sends ? ["send"] : undefined,
  views: d.views.trim() ? lines(d.views) : undefined,
  addresses: d.addresses.trim() ? lines(d.addresses) : undefined,
});

export function NarrowFields({ draft, onChange }: { draft: Draft; onChange: (d: Draft) => void }) {
  return (
    <>
      <Checkbox
        label="Only for sending"
        description="It sends rows to /api/send, /d, /l and /cv, and reads nothing."
        checked={draft.sends}
        onChange={(e) => onChange({ ...draft, sends: e.currentTarget.checked })}
      />
      <Textarea
        label="Limited to views"
        description="Names of views or resources, one per line: the key has access only to these and their content. Empty: everything."
        value={draft.views}
        onChange={(e) => onChange({ ...draft, views: e.currentTarget.value })}
        autosize
        minRows={1}
        maxRows={8}
      />
      <Textarea
        label="Accepted from addresses"
        description="Addresses or networks, one per line, such as 192.0.2.7 or 10.0.0.0/8. Empty: from everywhere."
        value={draft.addresses}
        onChange={(e) => onChange({ ...draft, addresses: e.currentTarget.value })}
        autosize
        minRows={1}
        maxRows={8}
      />
    </>
  );
}

export function Restrictions({ only, views, addresses }: Narrowing) {
  const words = [
    only?.includes("send") && "only for sending",
    views?.length && `views: ${views.join(", ")}`,
    addresses?.length && `from ${addresses.join(", ")}`,
  ].filter(Boolean);
  return words.map((w) => (
    <Text key={w as string} size="xs" c="dimmed" className="name">
      {w}
    </Text>
  ));
}
