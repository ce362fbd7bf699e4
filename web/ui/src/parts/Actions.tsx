// What operators do about items: acknowledge, manage, unmanage in its five ways, note. Used by the status list, the map and
// the item pages.
import { ActionIcon, Button, Group, Menu, Tooltip } from "@mantine/core";
import {
  IconArrowBackUp,
  IconCheck,
  IconDots,
  IconNote,
  IconPlayerPause,
  IconPlayerPlay,
  type IconProps,
} from "@tabler/icons-react";
import { type ComponentType, useState } from "react";
import { useMay } from "../session";
import type { ActionItem } from "./actions/item";
import { useOperationKeys } from "./actions/keys";
import { fits, type Operation, operationName, operations } from "./actions/operations";
import { Boundary } from "./Boundary";
import { later, Opening } from "./later";

const Dialog = later(() => import("./actions/Dialog"), Opening);

const icons: Record<Operation, ComponentType<IconProps>> = {
  acknowledge: IconCheck,
  unacknowledge: IconArrowBackUp,
  unmanage: IconPlayerPause,
  manage: IconPlayerPlay,
  note: IconNote,
};

/** ActionDialog asks what an operation needs to know and does it. */
export function ActionDialog(props: {
  operation: Operation;
  items: ActionItem[];
  onClose: () => void;
  onDone?: () => void;
}) {
  return (
    <Boundary of="dialog" onClose={props.onClose}>
      <Dialog {...props} />
    </Boundary>
  );
}

interface ActionsProps {
  items: ActionItem[];
  onDone?: () => void;
}

/** useOperation opens the dialog of an operation that fits the items. */
function useOperation({ items, onDone }: ActionsProps) {
  const may = useMay();
  // The items are those of the moment the dialog opens: what changes behind it does not change what is asked.
  const [open, setOpen] = useState<{ operation: Operation; items: ActionItem[] }>();
  const can = may.write ? operations.filter((o) => items.some((i) => fits(o, i))) : [];
  const start = (operation: Operation) => {
    if (can.includes(operation)) setOpen({ operation, items });
  };
  const dialog = open && <ActionDialog {...open} onClose={() => setOpen(undefined)} onDone={onDone} />;
  return { can, start, dialog };
}

/** ActionButtons are the operations that fit the items, as buttons (or, compact, as a menu). onDone is called after each. */
export function ActionButtons({ compact, ...p }: ActionsProps & { compact?: boolean }) {
  const { can, start, dialog } = useOperation(p);
  return (
    <>
      {can.length > 0 &&
        (compact ? <Compact can={can} items={p.items} onStart={start} /> : <Buttons can={can} onStart={start} />)}
      {dialog}
    </>
  );
}

/** PageActions are the operations of the item that a page is about, with their keys. */
export function PageActions(p: ActionsProps) {
  const { can, start, dialog } = useOperation(p);
  useOperationKeys(start);
  return (
    <>
      {can.length > 0 && <Buttons can={can} onStart={start} />}
      {dialog}
    </>
  );
}

interface Offered {
  can: Operation[];
  onStart: (o: Operation) => void;
}

function Buttons({ can, onStart }: Offered) {
  return (
    <Group gap="xs">
      {can.map((o) => {
        const Icon = icons[o];
        return (
          <Button key={o} size="xs" variant="default" leftSection={<Icon size={16} />} onClick={() => onStart(o)}>
            {operationName[o]}
          </Button>
        );
      })}
    </Group>
  );
}

function Compact({ can, items, onStart }: Offered & { items: ActionItem[] }) {
  const label = items.length === 1 ? `Actions for ${items[0]?.name}` : `Actions for ${items.length} items`;
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Tooltip label="Actions" openDelay={400}>
          <ActionIcon variant="subtle" color="gray" aria-label={label}>
            <IconDots size={18} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {can.map((o) => {
          const Icon = icons[o];
          return (
            <Menu.Item key={o} leftSection={<Icon size={16} />} onClick={() => onStart(o)}>
              {operationName[o]}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}
