// The command palette: type a few letters of a name, a page or a command.
import { Combobox, Group, Modal, ScrollArea, Text, TextInput, useCombobox } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
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

export default function Palette({ onClose }: { onClose: () => void }) {
  const [, go] = useLocation();
  const [text, setText] = useState("");
  const [asked] = useDebouncedValue(text.trim(), 120);
  const combobox = useCombobox();
  const found = useQuery({
    queryKey: ["palette", asked],
    queryFn: ({ signal }) => find(asked, signal),
    enabled: asked.length > 0,
    placeholderData: (last) => last,
  });
  const pages = sections.filter((s) => `${s.label} ${s.about}`.toLowerCase().includes(text.trim().toLowerCase()));
  const items = asked ? (found.data?.rows ?? []) : [];
  const open = (to: string) => {
    onClose();
    go(to);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="10vh"
      aria-label="Search and commands"
    >
      <Combobox store={combobox} onOptionSubmit={open}>
        <Combobox.EventsTarget>
          <TextInput
            data-autofocus
            size="lg"
            variant="unstyled"
            px="md"
            placeholder="A name, a page…"
            aria-label="Search for items and pages"
            value={text}
            onChange={(e) => {
              setText(e.currentTarget.value);
              combobox.selectFirstOption();
            }}
          />
        </Combobox.EventsTarget>
        <ScrollArea.Autosize mah="60vh" type="auto">
          <Combobox.Options p="xs">
            {pages.map((s) => (
              <Combobox.Option key={s.path} value={s.path}>
                <Group gap="sm">
                  <s.icon size={16} />
                  <Text size="sm">{s.label}</Text>
                  <Text size="xs" c="dimmed">
                    {s.about}
                  </Text>
                </Group>
              </Combobox.Option>
            ))}
            {items.map((i) => (
              <Combobox.Option key={`${i.kind} ${i.resource} ${i.name}`} value={link.item(i)}>
                <Group gap="sm" wrap="nowrap">
                  <StatusIcon {...i} />
                  <Text size="sm" className="cut">
                    {i.name}
                  </Text>
                  <Text size="xs" c="dimmed" className="cut">
                    {i.kind === "object" ? `in ${i.resource}` : i.kind}
                  </Text>
                </Group>
              </Combobox.Option>
            ))}
            {pages.length + items.length === 0 && (
              <Combobox.Empty>{found.isFetching ? "Searching…" : "Nothing of that name"}</Combobox.Empty>
            )}
          </Combobox.Options>
        </ScrollArea.Autosize>
      </Combobox>
    </Modal>
  );
}
