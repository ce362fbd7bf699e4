// Tells whoever has just saved a note that another user has replaced it, with what it was.
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useNow } from "../../clock";
import { useLive } from "../../live";
import { ActionDialog } from "../Actions";
import { Notice } from "../Notice";
import { usePaced } from "../pacer";
import { readReplacing, said } from "./notes";
import { itemKey } from "./operations";
import { forgetNotes, minute, type SavedNote, savedNotes } from "./saved";

export function SavedNotes() {
  const { notes } = useSyncExternalStore(savedNotes.subscribe, savedNotes.get);
  const [again, setAgain] = useState<SavedNote>();
  return (
    <>
      {notes.map((n) => (
        <Saved key={`${itemKey(n.item)}\n${n.at}`} note={n} onAgain={() => setAgain(n)} />
      ))}
      {again && (
        <ActionDialog
          operation="note"
          items={[{ ...again.item, note: again.text }]}
          onClose={() => setAgain(undefined)}
        />
      )}
    </>
  );
}

function Saved({ note, onAgain }: { note: SavedNote; onAgain: () => void }) {
  const { item, text } = note;
  const over = useNow((now) => Number(now > note.at + minute)) === 1;
  const { data: by, refetch } = useQuery({
    queryKey: ["savednote", itemKey(item), note.at],
    queryFn: ({ signal }) => readReplacing(note, signal),
    enabled: !over,
    gcTime: 0,
    refetchInterval: 5000,
  });
  const soon = usePaced(() => void refetch(), 1000);
  useLive({
    event: (events) => {
      if (!over && events.some((e) => e.type === "note")) soon();
    },
  });
  useEffect(() => {
    if (over && !by) forgetNotes([item]);
  }, [over, by, item]);
  if (!by) return null;
  return (
    <Notice title="Another user has replaced your note">
      <Stack gap={4}>
        <Text size="sm" className="name">
          The note of {item.kind} <b className="name">{item.name}</b>
          {item.kind !== "resource" && item.resource && ` in ${item.resource}`} was replaced by {said(by)}
        </Text>
        <Text size="sm">{text ? "Yours was:" : "You had removed it."}</Text>
        {/* A note may have thousands of characters and lines. */}
        <Text
          size="sm"
          className="name"
          mah="9rem"
          style={{ whiteSpace: "pre-wrap", overflowY: "auto" }}
          tabIndex={text.length > 200 ? 0 : undefined}
        >
          {text}
        </Text>
      </Stack>
      <Group mt="xs" justify="flex-end">
        <Button size="compact-sm" variant="default" onClick={onAgain} aria-label={`Put mine back: ${item.name}`}>
          Put mine back
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => forgetNotes([item])}>
          Leave it as it is
        </Button>
      </Group>
    </Notice>
  );
}
