// The form of a note. It shows when another user changes the note.
import { Button, Stack, Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { sql } from "../../api";
import { useLive } from "../../live";
import { Notice } from "../Notice";
import { type FormProps, longestText } from "./Forms";
import { type ActionItem, itemCondition } from "./item";
import { isNews, type NoteDraft, putBefore } from "./notes";

export function NoteForm({ items, onChange }: FormProps) {
  // The note of a single item can be edited; several items get the same new one.
  const one = items.length === 1 ? items[0] : undefined;
  const [draft, setDraft] = useState<NoteDraft>({ text: one?.note ?? "", base: one?.note ?? "" });
  const current = useCurrentNote(one) ?? draft.base;
  useEffect(
    () => onChange({ body: { note: draft.text }, items, seenNote: one && current }),
    [draft.text, items, onChange, one, current],
  );
  return (
    <Stack gap="xs">
      {isNews(draft, current) && (
        <Notice title="Another user has changed the note">
          {/* A note may have thousands of characters and lines; the form below it stays in sight. */}
          <Text
            size="sm"
            className="name"
            mah="9rem"
            style={{ whiteSpace: "pre-wrap", overflowY: "auto" }}
            tabIndex={current.length > 200 ? 0 : undefined}
          >
            {current ? `It now says: ${current}` : "It is empty now."}
          </Text>
          <Text size="sm">What you save replaces it.</Text>
          {current && (
            <Button size="xs" variant="default" mt="xs" onClick={() => setDraft((d) => putBefore(d, current))}>
              Put it before mine
            </Button>
          )}
        </Notice>
      )}
      <Textarea
        label="Note"
        description="Stays with the item whatever its status is. Leave it empty to remove the note."
        autosize
        minRows={3}
        maxRows={12}
        maxLength={longestText}
        data-autofocus
        value={draft.text}
        onChange={(e) => {
          const text = e.currentTarget.value;
          setDraft((d) => ({ ...d, text }));
        }}
      />
    </Stack>
  );
}

/** useCurrentNote is the note that an item has now, kept up to date. */
function useCurrentNote(one?: ActionItem): string | undefined {
  const read = useQuery({
    queryKey: ["note", one?.kind, one?.name, one?.resource],
    enabled: !!one,
    gcTime: 0,
    refetchInterval: 5000,
    queryFn: async ({ signal }) => {
      const found = await sql<{ note?: string }>(
        `SELECT note FROM objectstatus WHERE ${one ? itemCondition(one) : ""}`,
        { rows: 1, signal },
      );
      return found.rows[0]?.note ?? "";
    },
  });
  useLive({
    event: (events) => {
      if (one && events.some((e) => e.type === "note")) void read.refetch();
    },
  });
  return read.data;
}
