// What the parts of the form of a policy have in common: rows that are added and removed.
import { ActionIcon, Button, Group } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { Faults } from "./classDraft";
import type { PolicyDraft } from "./policyDraft";

export interface FormProps {
  draft: PolicyDraft;
  onChange: (d: PolicyDraft) => void;
  faults: Faults;
}

/** replaced puts another row in the place of one, or none. */
export const replaced = <T,>(rows: T[], i: number, row?: T): T[] =>
  rows.flatMap((o, k) => (k === i ? (row === undefined ? [] : [row]) : [o]));

export function Add({ onClick, disabled, children }: { onClick: () => void; disabled?: boolean; children: string }) {
  return (
    <Group>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconPlus size={14} />}
        onClick={onClick}
        disabled={disabled}
      >
        {children}
      </Button>
    </Group>
  );
}

export function Bin({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <ActionIcon variant="default" size={36} className="bin" onClick={onClick} aria-label={label}>
      <IconTrash size={16} />
    </ActionIcon>
  );
}
