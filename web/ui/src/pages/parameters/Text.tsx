// The same definition as a form and as text. The text can be written in YAML or JSON; the service reads both.
import { Box, Group, SegmentedControl, Stack, Tabs, Textarea } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useSearchParams } from "wouter";
import type { Definition } from "../../api";
import { Notice } from "../../parts/Notice";
import { messageOf } from "../../parts/Page";
import { yaml } from "./yaml";

export type Language = "yaml" | "json";

const write = (v: object, language: Language) => (language === "yaml" ? yaml(v) : `${JSON.stringify(v, null, 2)}\n`);

/** useText keeps a definition as text beside the form. What someone has written stays as written until it is saved. */
export function useText(value: object, onForm: (v: unknown) => void) {
  const [params, setParams] = useSearchParams();
  const [language, choose] = useState<Language>("yaml");
  const [edited, setEdited] = useState<string>();
  const [fault, setFault] = useState("");
  const tab = params.get("tab") === "text" ? "text" : "form";
  const show = (to: string | null) =>
    setParams(
      (p) => {
        if (to === "text") p.set("tab", "text");
        else p.delete("tab");
        return p;
      },
      { replace: true },
    );
  const open = (to: string | null) => {
    setFault("");
    if (to === "form" && edited !== undefined) {
      if (language === "yaml") {
        setFault("The form does not read YAML that is not saved. Save it first, or undo your changes.");
        return;
      }
      try {
        onForm(JSON.parse(edited));
        setEdited(undefined);
      } catch (e) {
        setFault(`The form cannot show this: ${messageOf(e)}`);
        return;
      }
    }
    show(to);
  };
  const written: Definition | undefined =
    tab === "form"
      ? undefined
      : edited === undefined
        ? { json: value }
        : { yaml: edited }; /* JSON is read as YAML, too, and an error in it is reported with its line */
  return {
    tab,
    open,
    language,
    choose,
    edited,
    setEdited,
    fault,
    written,
    shown: edited ?? write(value, language),
    reset: () => {
      setEdited(undefined);
      setFault("");
    },
  };
}

export type TextState = ReturnType<typeof useText>;

export function FormAndText({
  text,
  label,
  onEdit,
  children,
}: {
  text: TextState;
  label: string;
  onEdit: () => void;
  children: ReactNode;
}) {
  return (
    <Tabs value={text.tab} onChange={text.open} keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="form">Form</Tabs.Tab>
        <Tabs.Tab value="text">YAML or JSON</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="form">{children}</Tabs.Panel>
      <Tabs.Panel value="text">
        <TextEditor text={text} label={label} onEdit={onEdit} />
      </Tabs.Panel>
    </Tabs>
  );
}

export function TextEditor({ text, label, onEdit }: { text: TextState; label: string; onEdit: () => void }) {
  return (
    <Stack gap="sm">
      <Group>
        <SegmentedControl
          aria-label="Language"
          data={[
            { value: "yaml", label: "YAML" },
            { value: "json", label: "JSON" },
          ]}
          value={text.language}
          onChange={(v) => text.choose(v as Language)}
          disabled={text.edited !== undefined}
        />
      </Group>
      {text.fault && <Notice>{text.fault}</Notice>}
      <Box className="code">
        <Textarea
          aria-label={`${label}, as text`}
          value={text.shown}
          onChange={(e) => {
            text.setEdited(e.currentTarget.value);
            onEdit();
          }}
          autosize
          minRows={10}
          maxRows={30}
          spellCheck={false}
          autoCapitalize="off"
          autoCorrect="off"
        />
      </Box>
    </Stack>
  );
}
