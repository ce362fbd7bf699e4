import "./map.css";
import { Alert, Anchor, Button, Group, Modal, SegmentedControl, Text, useComputedColorScheme } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconEdit, IconUnlink } from "@tabler/icons-react";
import { useEffect, useMemo, useState } from "react";
import { Link, useSearchParams } from "wouter";
import type { Tree, TreeItem } from "../../api";
import { link } from "../../links";
import { Empty, Failure, Page, Waiting } from "../../parts/Page";
import { StatusText } from "../../parts/StatusIcon";
import { useMay } from "../../session";
import { Board } from "./Board";
import { Collisions } from "./Collisions";
import { Conflicts, Strays } from "./Conflicts";
import { Crumbs } from "./Crumbs";
import { ink, isColour } from "./colour";
import { conflicts } from "./conflicts";
import { apply, change, remove, strays } from "./draft";
import { EditPanel, EditTools, type Form, Rejected } from "./EditTools";
import { brokenSaying } from "./Elements";
import { Forms } from "./Forms";
import { dress } from "./Icon";
import { List } from "./List";
import { useLeave } from "./leave";
import { Panel } from "./Panel";
import { isShortcut, keyOf, placeable } from "./scene";
import { most, useTargets, useTree } from "./tree";
import { type Drafting, type Reading, useDraft } from "./useDraft";

export function MapOf({ name, resource }: { name: string; resource?: string }) {
  const read = useTree(name, resource);
  if (!read.data)
    return (
      <Page title={name === "MAIN" ? "Map" : name}>
        {read.error ? <Failure error={read.error} retry={() => read.refetch()} /> : <Waiting />}
      </Page>
    );
  return <Loaded tree={read.data} again={read.again} reading={read} failed={read.error} />;
}

/** useShape reports whether to draw or to list: a small screen lists unless asked otherwise. */
function useShape(): ["drawing" | "list", (s: string) => void] {
  const [params, setParams] = useSearchParams();
  const small = useMediaQuery("(max-width: 48em)", false, { getInitialValueInEffect: false });
  const asked = params.get("as");
  const shape = asked === "list" || asked === "drawing" ? asked : small ? "list" : "drawing";
  const choose = (s: string) =>
    setParams(
      (p) => {
        p.set("as", s);
        return p;
      },
      { replace: true },
    );
  return [shape, choose];
}

interface LoadedProps {
  tree: Tree;
  again: () => Promise<unknown>;
  reading: Reading;
  failed: unknown;
}

function Loaded({ tree, again, reading, failed }: LoadedProps) {
  const may = useMay();
  const [shape, setShape] = useShape();
  const [editing, setEditing] = useState(false);
  const [chosen, choose] = useState("");
  const [form, setForm] = useState<Form>();
  const drafting = useDraft(tree, reading);
  const leaving = useLeave(drafting.count > 0);
  const names = tree.children.filter(isShortcut).map((i) => i.answers?.target ?? "");
  const targets = useTargets(names);
  const { view, children } = useMemo(() => apply(tree, drafting.draft), [tree, drafting.draft]);
  const conflicting = useMemo(() => conflicts(tree, drafting.draft), [tree, drafting.draft]);
  const gone = useMemo(() => strays(tree, drafting.draft), [tree, drafting.draft]);
  const items = useMemo(() => dress(children, targets), [children, targets]);
  const item = chosen ? items.find((i) => keyOf(i) === chosen) : undefined;
  useEditKeys(editing && !form, drafting, () => choose(""));

  const drawing = shape === "drawing" || editing;
  const title = view.name === "MAIN" ? "Map" : view.name;
  const stop = () => {
    drafting.drop();
    choose("");
    setEditing(false);
  };
  const tools = editing ? (
    <EditTools
      view={view}
      drafting={drafting}
      onForm={setForm}
      onSave={() => drafting.save()}
      undecided={conflicting.length > 0}
      onEnd={stop}
    />
  ) : (
    <>
      <SegmentedControl
        aria-label="Show as"
        value={shape}
        onChange={setShape}
        data={[
          { value: "drawing", label: "Drawing" },
          { value: "list", label: "List" },
        ]}
      />
      {may.write && (
        <Button variant="default" leftSection={<IconEdit size={16} />} onClick={() => setEditing(true)}>
          Edit
        </Button>
      )}
    </>
  );
  const panel = item && (
    <PanelFor
      item={item}
      {...{ editing, drafting, view }}
      target={targets.get(item.answers?.target ?? "")}
      onForm={setForm}
      onClose={() => choose("")}
      onDone={again}
    />
  );
  return (
    <Page title={title} before={<Crumbs view={view} />} tools={tools}>
      <About tree={tree} view={view} failed={failed} onRetry={again} editing={editing} />
      <Rejected drafting={drafting} onForm={setForm} />
      <Conflicts all={conflicting} drafting={drafting} />
      <Strays keys={gone} drafting={drafting} />
      <Collisions tree={tree} conflicts={conflicting} drafting={drafting} onRestore={() => setEditing(true)} />
      {drawing ? (
        <Drawing {...{ view, items, targets, chosen, choose, editing, drafting }}>{panel}</Drawing>
      ) : (
        <div className="map-frame">
          <List view={view} items={items} onChoose={choose} />
          {panel}
        </div>
      )}
      {form && (
        <Forms
          {...{ form, view, drafting }}
          items={items}
          onClose={() => setForm(undefined)}
          onAdded={(key) => choose(key)}
        />
      )}
      <Modal
        opened={leaving.asked}
        onClose={leaving.stay}
        closeButtonProps={{ "aria-label": "Close" }}
        title="Leave without saving?"
        centered
      >
        <Text size="sm">
          {drafting.count} {drafting.count === 1 ? "change is" : "changes are"} not saved and would be lost.
        </Text>
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={leaving.go}>
            Leave
          </Button>
          <Button onClick={leaving.stay}>Stay</Button>
        </Group>
      </Modal>
    </Page>
  );
}

function Drawing({
  view,
  items,
  drafting,
  children,
  ...rest
}: Pick<React.ComponentProps<typeof Board>, "view" | "items" | "targets" | "chosen" | "choose" | "editing"> & {
  drafting: Drafting;
  children: React.ReactNode;
}) {
  const scheme = useComputedColorScheme("light");
  const may = useMay();
  const ground = isColour(view.bg) ? view.bg : scheme === "dark" ? "#16191d" : "#ffffff";
  if (!items.length && !rest.editing)
    return (
      <Empty title="This view is empty">
        {may.write ? (
          <>
            Edit it to add views and labels, or{" "}
            <Anchor component={Link} href={link.provisioning()}>
              provision resources
            </Anchor>{" "}
            into it.
          </>
        ) : (
          "Nothing has been put into it yet."
        )}
      </Empty>
    );
  return (
    <Board
      {...rest}
      view={view}
      items={items}
      ground={ground}
      ink={ink(ground)}
      onMove={(item, to) => drafting.edit((d) => change(d, item, to))}
      onRemove={(item) => {
        if (may.administer && (item.kind === "element" || item.kind === "view")) {
          drafting.edit((d) => remove(d, item));
          rest.choose("");
        }
      }}
    >
      {children}
    </Board>
  );
}

function PanelFor(p: {
  item: TreeItem;
  view: TreeItem;
  editing: boolean;
  drafting: Drafting;
  target?: React.ComponentProps<typeof Panel>["target"];
  onForm: (f: Form) => void;
  onClose: () => void;
  onDone: () => void;
}) {
  if (!p.editing) return <Panel item={p.item} target={p.target} onClose={p.onClose} onDone={p.onDone} />;
  const arranged = p.view.autoarrange === "linear" && (p.item.kind !== "element" || isShortcut(p.item));
  return <EditPanel {...p} fixed={arranged || !placeable(p.item)} />;
}

/** About says in a line how the view is, and what cannot be seen in the drawing. */
function About({
  tree,
  view,
  failed,
  onRetry,
  editing,
}: {
  tree: Tree;
  view: TreeItem;
  failed: unknown;
  onRetry: () => void;
  editing: boolean;
}) {
  const { content } = tree;
  const counted = (["view", "resource", "object"] as const)
    .filter((k) => content[k] > 0)
    .map((k) => `${content[k].toLocaleString()} ${k}${content[k] === 1 ? "" : "s"}`);
  const items = content.view + content.resource + content.object;
  return (
    <>
      <Group gap="md">
        <StatusText status={view.status} acknowledged={view.acknowledged} isunmanaged={view.isunmanaged} />
        <Text size="sm" c="dimmed">
          {counted.join(", ") || "nothing in it"}
          {view.autoarrange === "linear" ? "; arranged automatically" : ""}
        </Text>
        {editing && (
          <Text size="sm" c="dimmed">
            Drag, or use the arrow keys (with Shift: size). Places are multiples of ten.
          </Text>
        )}
      </Group>
      <Broken of={tree.children} />
      {failed != null && <Failure error={failed} retry={onRetry} />}
      {tree.more && items > most && (
        <Alert color="yellow" variant="light">
          This view holds {items.toLocaleString()} items, of which the first {most.toLocaleString()} are shown.{" "}
          <Anchor component={Link} href={link.status({ view: view.name, kind: "all" })} inherit>
            All of them are in the status list.
          </Anchor>
        </Alert>
      )}
    </>
  );
}

const namedBroken = 5;

/** Broken names the links and shortcuts that lead nowhere: of some, nothing is left to be drawn. */
function Broken({ of }: { of: TreeItem[] }) {
  const all = of.filter((i) => i.broken?.length);
  if (!all.length) return null;
  const named = all.slice(0, namedBroken).map((i) => `${i.name} (${brokenSaying(i)})`);
  const more = all.length - named.length;
  return (
    <Text size="sm" className="name" role="status">
      <IconUnlink size={15} aria-hidden style={{ verticalAlign: "-2px" }} /> Broken: {named.join(", ")}
      {more > 0 && ` and ${more.toLocaleString()} more`}
    </Text>
  );
}

/** useEditKeys hears the keys that are the same everywhere in edit mode, and Escape for the panel in both modes. */
function useEditKeys(editing: boolean, drafting: Drafting, close: () => void) {
  useEffect(() => {
    const down = (e: KeyboardEvent) => {
      if (/^(INPUT|TEXTAREA|SELECT)$/.test((e.target as HTMLElement).tagName)) return;
      if (e.key === "Escape" && !document.querySelector("[role=dialog]")) close();
      if (!editing || !(e.ctrlKey || e.metaKey)) return;
      const key = e.key.toLowerCase();
      if (key === "z" && !e.shiftKey) drafting.undo();
      else if (key === "y" || key === "z") drafting.redo();
      else return;
      e.preventDefault();
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  });
}
