// The forms of the operations. Each keeps what is typed and reports the request that it means.
import {
  Box,
  Button,
  Checkbox,
  Collapse,
  Group,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
  UnstyledButton,
} from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type ActWish, explain } from "../../api";
import { pageNow } from "../../clock";
import { zone as browserZone } from "../Time";
import { ItemWindows } from "../windows/ItemWindows";
import { ends } from "./ends";
import type { ActionItem } from "./item";
import { counted, kindsText, type Way, wayOf, ways } from "./operations";
import { noWindow, WindowFields, windowBody } from "./Window";
import { ZoneSelect } from "./ZoneSelect";

/** Request is what a form wants to send. */
export interface Request {
  body: ActWish;
  /** Those of the items that it is for. */
  items: ActionItem[];
  /** The note of the item as the form has shown it; only of a note for one item. */
  seenNote?: string;
}

export interface FormProps {
  items: ActionItem[];
  onChange: (r: Request) => void;
}

export const longestText = 4000;

function More({ label, children }: { label: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const inside = useRef<HTMLDivElement>(null);
  // What is wrong stays in sight: a form with such a field cannot be sent.
  const toggle = () => setOpen(!open || !!inside.current?.querySelector("input:invalid"));
  return (
    <Box>
      <UnstyledButton onClick={toggle} aria-expanded={open} fz="sm" fw={500}>
        {open ? (
          <IconChevronDown size={14} style={{ verticalAlign: "-2px" }} />
        ) : (
          <IconChevronRight size={14} style={{ verticalAlign: "-2px" }} />
        )}{" "}
        {label}
      </UnstyledButton>
      <Collapse expanded={open}>
        <Box pt="sm" ref={inside}>
          {children}
        </Box>
      </Collapse>
    </Box>
  );
}

export function AcknowledgeForm({ items, onChange }: FormProps) {
  const [text, setText] = useState("");
  const [until, setUntil] = useState("");
  const [zone, setZone] = useState(browserZone);
  const [sticky, setSticky] = useState("");
  const [worse, setWorse] = useState(false);
  useEffect(() => {
    onChange({
      body: {
        ack: text,
        ...(until && { ackuntil: until, timezone: zone }),
        ...(sticky.trim() && { acksticky: sticky.trim() }),
        ...(worse && { ackuntilworse: true }),
      },
      items,
    });
  }, [text, until, zone, sticky, worse, items, onChange]);
  return (
    <Stack gap="sm">
      <Textarea
        label="Text"
        description="What is known, who is working on it; may be empty"
        autosize
        minRows={2}
        maxLength={longestText}
        data-autofocus
        value={text}
        onChange={(e) => setText(e.currentTarget.value)}
      />
      <Text size="sm" c="dimmed">
        It ends automatically when the item is no longer in error. On a view or resource it covers everything in error
        inside.
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <Box>
          <TextInput
            type="datetime-local"
            label="At the latest at"
            value={until}
            onChange={(e) => setUntil(e.currentTarget.value)}
          />
          <Group gap="xs" mt={6} role="group" aria-label="Ends at the latest">
            {ends(pageNow()).map((end) => (
              <Button
                key={end.label}
                size="compact-xs"
                variant="default"
                onClick={() => {
                  setUntil(end.at);
                  setZone(browserZone);
                }}
              >
                {end.label}
              </Button>
            ))}
          </Group>
        </Box>
        {until && <ZoneSelect value={zone} onChange={setZone} />}
      </SimpleGrid>
      <More label="When it ends">
        <Stack gap="sm">
          <Checkbox
            label="When it becomes worse than it is now"
            checked={worse}
            onChange={(e) => setWorse(e.currentTarget.checked)}
          />
          <TextInput
            label="Keep over recoveries shorter than"
            description="For errors that come and go; as 10m or 1h"
            value={sticky}
            onChange={(e) => setSticky(e.currentTarget.value)}
          />
        </Stack>
      </More>
    </Stack>
  );
}

export function UnacknowledgeForm({ items, onChange }: FormProps) {
  useEffect(() => onChange({ body: { unack: true }, items }), [items, onChange]);
  return (
    <Text size="sm">
      The error counts as unseen again. On a view or resource this also applies to its content, no matter who
      acknowledged it.
    </Text>
  );
}

/** fitting are the items that a way to unmanage is meant for. */
const fitting = (items: ActionItem[], way: Way) => items.filter((i) => wayOf(way).kinds.includes(i.kind));

export function UnmanageForm({ items, onChange }: FormProps) {
  const [way, setWay] = useState<Way>("stored");
  const [note, setNote] = useState("");
  const [window, setWindow] = useState(noWindow);
  useEffect(() => {
    onChange({
      body: { ...wayOf(way).flags, ...(note && { unmanagenote: note }), ...windowBody(window) },
      items: fitting(items, way),
    });
  }, [way, note, window, items, onChange]);
  return (
    <Stack gap="md">
      <Radio.Group label="How" value={way} onChange={(w) => setWay(w as Way)}>
        <Stack gap="xs" mt={4}>
          {ways.map((w) => {
            const n = fitting(items, w.way).length;
            if (n === 0) return null;
            const part =
              n < items.length ? ` For ${kindsText(w.kinds)}: ${n} of the ${counted(items.length, "item")}.` : "";
            return (
              <Radio
                key={w.way}
                value={w.way}
                data-autofocus={w.way === way || undefined}
                label={w.label}
                description={w.about + part}
              />
            );
          })}
        </Stack>
      </Radio.Group>
      <TextInput
        label="Why"
        description="Shown with the item while it is unmanaged"
        maxLength={longestText}
        value={note}
        onChange={(e) => setNote(e.currentTarget.value)}
      />
      <WindowFields value={window} onChange={setWindow} />
      {items.length === 1 && items[0] && <HasWindows item={items[0]} />}
    </Stack>
  );
}

/** HasWindows lists the windows that an item has already. */
function HasWindows({ item }: { item: ActionItem }) {
  const client = useQueryClient();
  const resource = item.kind === "resource" ? undefined : item.resource;
  const why = useQuery({
    queryKey: ["explain", item.kind, item.name, resource ?? ""],
    queryFn: () => explain(item.kind, item.name, resource),
  });
  const windows = why.data?.management.windows;
  if (!windows?.length) return null;
  return (
    <Box>
      <Text size="sm" fw={500} mb={4}>
        Windows that it has
      </Text>
      <ItemWindows
        item={item}
        windows={windows}
        onDone={() => void client.invalidateQueries({ queryKey: ["explain"] })}
      />
    </Box>
  );
}

export function ManageForm({ items, onChange }: FormProps) {
  const [window, setWindow] = useState(noWindow);
  const [clear, setClear] = useState(true);
  const planned = !!(window.from || window.to);
  useEffect(() => {
    onChange({
      body: { isunmanaged: false, ...(clear && !planned && { unmanagenote: "" }), ...windowBody(window) },
      items,
    });
  }, [window, clear, planned, items, onChange]);
  return (
    <Stack gap="md">
      <Text size="sm">
        Statuses follow the data again, and all windows that are planned or open are cancelled. What was unmanaged by
        itself inside a view or resource stays unmanaged.
      </Text>
      <Checkbox
        label="Remove the note that says why it was unmanaged"
        checked={clear && !planned}
        disabled={planned}
        onChange={(e) => setClear(e.currentTarget.checked)}
      />
      <More label="Only for some time">
        <WindowFields value={window} onChange={setWindow} />
      </More>
    </Stack>
  );
}
