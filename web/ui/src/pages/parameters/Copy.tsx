// A text to take along, with a button that copies it.
import { ActionIcon, Box, Button, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useRef, useState } from "react";

/** useCopy copies a text. Browsers allow the clipboard on encrypted pages alone; elsewhere the old way still works. */
function useCopy() {
  const [done, setDone] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const copy = async (text: string, beside: HTMLElement) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.style.position = "fixed";
      area.style.opacity = "0";
      beside.parentElement?.append(area); // inside the dialog, which keeps the focus to itself
      area.select();
      document.execCommand("copy");
      area.remove();
      beside.focus();
    }
    setDone(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDone(false), 2000);
  };
  return { done, copy };
}

/** Copied shows a text as it is, line by line, with a small button. */
export function Copied({ text, label }: { text: string; label: string }) {
  const { done, copy } = useCopy();
  return (
    <Box className="copied">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <Tooltip label={done ? "Copied" : "Copy"}>
        <ActionIcon
          variant="default"
          aria-label={done ? `${label}: copied` : `Copy: ${label}`}
          onClick={(e) => copy(text, e.currentTarget)}
        >
          {done ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </ActionIcon>
      </Tooltip>
    </Box>
  );
}

export function CopyButton({ text, children }: { text: string; children: string }) {
  const { done, copy } = useCopy();
  return (
    <Button
      leftSection={done ? <IconCheck size={16} /> : <IconCopy size={16} />}
      onClick={(e) => copy(text, e.currentTarget)}
    >
      {done ? "Copied" : children}
    </Button>
  );
}
