// The command palette: type a few letters of a name, a page or a command.
import { Modal, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { quote, type StatusRow, sql } from "./api";
import { link } from "./links";
import { StatusIcon } from "./parts/StatusIcon";
import { sections } from "./sections";

/** find asks for items whose name holds a text; LIKE minds the case, so the usual ways to write it are tried. */
function find(text: string, signal: AbortSignal) {
  const like = (t: string) => `name LIKE ${quote(`%${t.replaceAll(/[\\%_]/g, "_")}%`)}`;
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  const cond = [...new Set([text, text.toLowerCase(), text.toUpperCase(), capital])].map(like).join(" OR ");
  return sql<StatusRow>(
    `SELECT kind, name, resource, parentview, status, acknowledged, isunmanaged FROM objectstatus WHERE ${cond} ORDER BY status DESC, name`,
    {
      rows: 20,
      signal,
    },
  );
}

interface Choice {
  to: string;
  icon: ReactNode;
  label: string;
  about: string;
}

/** choices are the pages and items that fit what was typed. */
function choices(text: string, items: StatusRow[]): Choice[] {
  const wanted = text.trim().toLowerCase();
  return [
    ...sections
      .filter((s) => `${s.label} ${s.about}`.toLowerCase().includes(wanted))
      .map((s) => ({ to: s.path, icon: <s.icon size={16} />, label: s.label, about: s.about })),
    ...items.map((i) => ({
      to: link.item(i),
      icon: <StatusIcon {...i} />,
      label: i.name,
      about: i.kind === "object" ? `in ${i.resource}` : i.kind,
    })),
  ];
}

/** What is typed is the shell's: it may have been typed before this was loaded. */
export default function Palette({
  text,
  onText,
  onClose,
}: {
  text: string;
  onText: (text: string) => void;
  onClose: () => void;
}) {
  const [, go] = useLocation();
  const [at, setAt] = useState(0);
  const [asked] = useDebouncedValue(text.trim(), 120);
  const found = useQuery({
    queryKey: ["palette", asked],
    queryFn: ({ signal }) => find(asked, signal),
    enabled: asked.length > 0,
    placeholderData: (last) => last,
  });
  const all = choices(text, asked ? (found.data?.rows ?? []) : []);
  const open = (to: string) => {
    onClose();
    go(to);
  };
  const keys = (e: KeyboardEvent) => {
    const chosen = all[at];
    if (e.key === "ArrowDown") setAt(Math.min(at + 1, all.length - 1));
    else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (e.key === "Enter" && chosen) open(chosen.to);
    else return;
    e.preventDefault();
  };
  return (
    <Modal.Root opened onClose={onClose} size="lg" yOffset="10vh">
      <Modal.Overlay />
      <Modal.Content aria-label="Search and commands">
        <TextInput
          data-autofocus
          size="lg"
          variant="unstyled"
          px="md"
          placeholder="A name, a page…"
          aria-label="Search for items and pages"
          role="combobox"
          aria-expanded
          aria-controls="palette"
          aria-activedescendant={all[at] ? `palette-${at}` : undefined}
          value={text}
          onKeyDown={keys}
          onFocus={(e) => e.currentTarget.setSelectionRange(text.length, text.length)}
          onChange={(e) => {
            onText(e.currentTarget.value);
            setAt(0);
          }}
        />
        <div id="palette" role="listbox" aria-label="What was found" className="palette">
          {all.map((c, i) => (
            <Entry key={c.to} id={`palette-${i}`} choice={c} chosen={i === at} onChoose={() => open(c.to)} />
          ))}
        </div>
        {all.length === 0 && (
          <Text p="md" c="dimmed" role="status">
            {found.isFetching ? "Searching…" : "Nothing has this name"}
          </Text>
        )}
      </Modal.Content>
    </Modal.Root>
  );
}

function Entry({
  id,
  choice,
  chosen,
  onChoose,
}: {
  id: string;
  choice: Choice;
  chosen: boolean;
  onChoose: () => void;
}) {
  const self = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen) self.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    // The keys are heard by the field above, which keeps the focus.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      ref={self}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={chosen}
      className="palette-entry"
      onClick={onChoose}
    >
      {choice.icon}
      <Text size="sm" className="cut">
        {choice.label}
      </Text>
      <Text size="xs" c="dimmed" className="cut">
        {choice.about}
      </Text>
    </div>
  );
}
