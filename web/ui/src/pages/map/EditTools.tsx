// The tools of edit mode: above the drawing those for the view, in the panel those for what is chosen.
import { ActionIcon, Alert, Button, Group, List, Menu, Text, Tooltip } from "@mantine/core";
import {
  IconAdjustments,
  IconAlertTriangle,
  IconArrowBackUp,
  IconArrowForwardUp,
  IconArrowUpRight,
  IconFolderPlus,
  IconLetterT,
  IconLine,
  IconPhoto,
  IconPlus,
} from "@tabler/icons-react";
import type { TreeItem } from "../../api";
import { useMay } from "../../session";
import { remove } from "./draft";
import { PanelFrame } from "./Panel";
import { isShortcut, keyOf, placeable } from "./scene";
import type { Drafting } from "./useDraft";

export type Form =
  | { what: "label" | "link" | "picture" | "shortcut" | "view" | "place"; item?: TreeItem }
  | { what: "settings" };

const additions = [
  { what: "view", label: "View", icon: IconFolderPlus },
  { what: "label", label: "Label", icon: IconLetterT },
  { what: "link", label: "Link", icon: IconLine },
  { what: "picture", label: "Picture", icon: IconPhoto },
  { what: "shortcut", label: "Shortcut", icon: IconArrowUpRight },
] as const;

export function EditTools({
  view,
  drafting,
  onForm,
  onSave,
  undecided,
  onEnd,
}: {
  view: TreeItem;
  drafting: Drafting;
  onForm: (f: Form) => void;
  onSave: () => void;
  /** Another user has changed the same, and it is not decided what counts. */
  undecided: boolean;
  onEnd: () => void;
}) {
  // Labels and the like can be in views of the customer and in resources, not in views inside a resource.
  const inside = view.kind === "view" && !!view.resource;
  return (
    <Group gap="xs" role="toolbar" aria-label="Editing">
      <Tooltip label="Undo (Ctrl-Z)">
        <ActionIcon variant="default" size="lg" onClick={drafting.undo} disabled={!drafting.canUndo} aria-label="Undo">
          <IconArrowBackUp size={18} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Redo (Ctrl-Y)">
        <ActionIcon variant="default" size="lg" onClick={drafting.redo} disabled={!drafting.canRedo} aria-label="Redo">
          <IconArrowForwardUp size={18} />
        </ActionIcon>
      </Tooltip>
      <Menu>
        <Menu.Target>
          <Button variant="default" leftSection={<IconPlus size={16} />}>
            Add
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {additions
            .filter((a) => !inside || a.what === "view")
            .map((a) => (
              <Menu.Item key={a.what} leftSection={<a.icon size={16} />} onClick={() => onForm({ what: a.what })}>
                {a.label}
              </Menu.Item>
            ))}
        </Menu.Dropdown>
      </Menu>
      {view.name !== "MAIN" && (
        <Button
          variant="default"
          leftSection={<IconAdjustments size={16} />}
          onClick={() => onForm({ what: "settings" })}
        >
          This view
        </Button>
      )}
      <Button onClick={onSave} loading={drafting.busy} disabled={drafting.count === 0 || undecided}>
        {drafting.count === 0 ? "Save" : `Save ${drafting.count} ${drafting.count === 1 ? "change" : "changes"}`}
      </Button>
      <Button variant="default" onClick={onEnd}>
        {drafting.count === 0 ? "Done" : "Discard"}
      </Button>
    </Group>
  );
}

/** formOf is the form by which something that can be added was made. */
const formOf = (item: TreeItem) => (item.package ?? "view") as Exclude<Form["what"], "settings">;

/** Rejected shows what the service refused, in its own words. */
export function Rejected({ drafting, onForm }: { drafting: Drafting; onForm: (f: Form) => void }) {
  if (!drafting.wrong.length) return null;
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      icon={<IconAlertTriangle />}
      title="Not saved"
      withCloseButton
      closeButtonLabel="Close"
      onClose={drafting.forgive}
    >
      <List size="sm" spacing={4}>
        {drafting.wrong.map((w, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a message may be there twice
          <List.Item key={n} className="name">
            {w.what && <b>{w.what}: </b>}
            {w.message} <Rename of={drafting.draft.added.find((i) => keyOf(i) === w.taken)} onForm={onForm} />
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** Rename offers another name for something new. */
function Rename({ of, onForm }: { of?: TreeItem; onForm: (f: Form) => void }) {
  if (!of) return null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Another name: ${of.name}`}
      onClick={() => onForm({ what: formOf(of), item: of })}
    >
      Another name
    </Button>
  );
}

/** EditPanel is shown for what is chosen in edit mode. */
export function EditPanel({
  item,
  fixed,
  drafting,
  onForm,
  onClose,
}: {
  item: TreeItem;
  fixed: boolean;
  drafting: Drafting;
  onForm: (f: Form) => void;
  onClose: () => void;
}) {
  const may = useMay();
  const element = item.kind === "element";
  // To remove a resource is more than to edit a drawing; and operators may not remove anything.
  const removable = (element || item.kind === "view") && may.administer;
  const form = element ? formOf(item) : "place";
  return (
    <PanelFrame item={item} onClose={onClose}>
      <Where item={item} fixed={fixed} />
      <Group gap="xs">
        {(element || placeable(item)) && !(fixed && !element) && (
          <Button size="xs" variant="default" onClick={() => onForm({ what: form, item })}>
            {element ? "Change" : "Place and size"}
          </Button>
        )}
        {removable && (
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              drafting.edit((d) => remove(d, item));
              onClose();
            }}
          >
            Remove
          </Button>
        )}
      </Group>
    </PanelFrame>
  );
}

function Where({ item, fixed }: { item: TreeItem; fixed: boolean }) {
  let text = `Top ${item.posx}, left ${item.posy}, ${item.width ?? 30} × ${item.height ?? 30}`;
  if (item.kind === "object") text = "Objects are placed where there is room; they have no fixed position.";
  else if (item.package === "link") text = `From ${item.answers?.from} to ${item.answers?.to}`;
  else if (fixed) text = "This view arranges its icons automatically.";
  else if (item.posx === undefined) text = "It has no position yet: drag it, or use the arrow keys.";
  return (
    <>
      <Text size="sm" className="name" data-where>
        {text}
      </Text>
      {isShortcut(item) && (
        <Text size="sm" c="dimmed" className="name">
          Leads to {item.answers?.target}
        </Text>
      )}
    </>
  );
}
