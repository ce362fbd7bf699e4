// The dialogs of edit mode. They change the draft only; whether an answer is right, the service says when it is saved.
import {
  Autocomplete,
  Button,
  Checkbox,
  ColorInput,
  Group,
  Modal,
  NumberInput,
  Select,
  Stack,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { quote, sql, type TreeItem } from "../../api";
import { isColour } from "./colour";
import { add, change, changeView, replaceAdded } from "./draft";
import type { Form } from "./EditTools";
import { Gallery } from "./Gallery";
import { keyOf } from "./scene";
import type { Drafting } from "./useDraft";

interface Props {
  form: Form;
  view: TreeItem;
  items: TreeItem[];
  drafting: Drafting;
  onClose: () => void;
  onAdded: (key: string) => void;
}

const titles: Record<string, string> = {
  label: "Label",
  link: "Link",
  picture: "Picture",
  shortcut: "Shortcut",
  view: "View",
  place: "Place and size",
};

export function Forms(p: Props) {
  const { form } = p;
  if (form.what === "settings") return <Settings {...p} />;
  return <ElementForm {...p} form={form} />;
}

/** freshName is random, so that it is practically unique: names of elements are unique within the customer. */
function freshName(what: string, view: string): string {
  const random = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  return `${what} ${random.toString(36)} in ${view}`.slice(0, 200).trimEnd();
}

type Values = Record<string, string>;

const numbers = ["posx", "posy", "width", "height"] as const;

function valuesOf(i?: TreeItem): Values {
  const out: Values = { ...i?.answers };
  for (const n of numbers) if (i?.[n] !== undefined) out[n] = String(i[n]);
  return out;
}

function ElementForm({
  form,
  view,
  items,
  drafting,
  onClose,
  onAdded,
}: Props & { form: Exclude<Form, { what: "settings" }> }) {
  const { what, item } = form;
  const fresh = !item || drafting.draft.added.some((i) => keyOf(i) === keyOf(item));
  const [name, setName] = useState(item?.name ?? (what === "view" ? "" : freshName(what, view.name)));
  const [v, setV] = useState<Values>(() => ({
    ...(item ? {} : startOf(what, view, items)),
    ...valuesOf(item),
    ...(what === "view" && item?.autoarrange && { autoarrange: item.autoarrange }),
  }));
  const set = (column: string) => (value: string) => setV((o) => ({ ...o, [column]: value }));
  const submit = (e: FormEvent) => {
    e.preventDefault();
    const place: Record<string, number> = {};
    const answers: Values = {};
    for (const [k, value] of Object.entries(v)) {
      if (!(numbers as readonly string[]).includes(k)) answers[k] = value;
      else if (value !== "") place[k] = Number(value);
    }
    if (item && !fresh) {
      drafting.edit((d) => change(d, item, { ...place, ...(Object.keys(answers).length ? { answers } : {}) }));
    } else {
      const { autoarrange, ...rest } = answers;
      const base = { name, parentview: view.name, ...place };
      const made: TreeItem =
        what === "view"
          ? {
              ...base,
              kind: "view",
              status: "?",
              autoarrange: autoarrange as TreeItem["autoarrange"],
              resource: view.resource,
            }
          : { ...base, kind: "element", package: what, answers: rest };
      drafting.edit((d) => (item ? replaceAdded(d, keyOf(item), made) : add(d, made)));
      onAdded(keyOf(made));
    }
    onClose();
  };
  const hasPlace = what !== "link" && !(view.autoarrange === "linear" && (what === "view" || what === "shortcut"));
  return (
    <Modal
      opened
      onClose={onClose}
      closeButtonProps={{ "aria-label": "Close" }}
      title={item ? `${titles[what]} ${item.name}` : `New ${what}`}
      centered
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          {what === "view" && <ViewFields name={name} setName={setName} v={v} set={set} />}
          {what === "label" && <LabelFields v={v} set={set} />}
          {what === "link" && <LinkFields v={v} set={set} items={items} />}
          {what === "picture" && <Gallery chosen={v.picture ?? ""} onChoose={set("picture")} />}
          {what === "shortcut" && <TargetField value={v.target ?? ""} onChange={set("target")} />}
          {hasPlace && <PlaceFields v={v} set={set} sized={what !== "label"} />}
          {fresh && what !== "view" && (
            <TextInput
              label="Name"
              description="For scripts and exports; unique within the customer"
              required
              maxLength={255}
              value={name}
              onChange={(e) => setName(e.currentTarget.value)}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit">{item ? "Change" : "Add"}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** startOf gives a new element its first answers, and a place below all others. */
function startOf(what: string, view: TreeItem, items: TreeItem[]): Values {
  if (what === "link") return {};
  const bottom = Math.max(0, ...items.map((i) => (i.posx === undefined ? 0 : i.posx + (i.height ?? 30) + 30)));
  const place = { posx: String(Math.ceil(bottom / 10) * 10 || 10), posy: "10" };
  if (what === "picture") return { ...place, width: "100", height: "100" };
  if (what === "label") return { ...place, size: "12" };
  return view.autoarrange === "linear" ? {} : place;
}

interface Fields {
  v: Values;
  set: (column: string) => (value: string) => void;
}

function PlaceFields({ v, set, sized }: Fields & { sized: boolean }) {
  const field = (column: string, label: string) => (
    <NumberInput
      label={label}
      min={0}
      max={100_000}
      step={10}
      clampBehavior="none"
      value={v[column] ?? ""}
      onChange={(n) => set(column)(String(n))}
      allowDecimal={false}
    />
  );
  return (
    <Group grow>
      {field("posx", "From the top")}
      {field("posy", "From the left")}
      {sized && field("width", "Width")}
      {sized && field("height", "Height")}
    </Group>
  );
}

function LabelFields({ v, set }: Fields) {
  return (
    <>
      <Textarea
        label="Text"
        required
        autosize
        minRows={2}
        data-autofocus
        value={v.text ?? ""}
        onChange={(e) => set("text")(e.currentTarget.value)}
      />
      <Group grow align="flex-end">
        <NumberInput
          label="Size in points"
          min={6}
          max={200}
          clampBehavior="none"
          value={v.size ?? "12"}
          onChange={(n) => set("size")(String(n))}
        />
        <ColorInput
          label="Colour"
          placeholder="as ordinary text"
          withEyeDropper={false}
          closeOnColorSwatchClick
          swatches={swatches}
          value={v.colour ?? ""}
          onChange={set("colour")}
        />
      </Group>
    </>
  );
}

const swatches = ["#c92a2a", "#d9480f", "#b08900", "#2b8a3e", "#00766b", "#1864ab", "#5f3dc4", "#495057"];

function LinkFields({ v, set, items }: Fields & { items: TreeItem[] }) {
  const inside = !items.some((i) => i.kind === "resource") && items.some((i) => i.kind === "object");
  const names = items.filter((i) => i.kind !== "element" && !(inside && i.kind === "view")).map((i) => i.name);
  const data = [...new Set([...names, v.from ?? "", v.to ?? ""])].filter(Boolean);
  const end = (column: string, label: string) => (
    <Select
      label={label}
      required
      searchable
      limit={100}
      data={data}
      value={v[column] ?? null}
      onChange={(x) => set(column)(x ?? "")}
      nothingFoundMessage="Nothing in this view matches this name"
    />
  );
  return (
    <>
      {end("from", "From")}
      {end("to", "To")}
      <TextInput label="Text" value={v.text ?? ""} onChange={(e) => set("text")(e.currentTarget.value)} />
    </>
  );
}

function ViewFields({ name, setName, v, set }: Fields & { name: string; setName: (n: string) => void }) {
  return (
    <>
      <TextInput
        label="Name"
        required
        maxLength={255}
        data-autofocus
        value={name}
        onChange={(e) => setName(e.currentTarget.value)}
      />
      <Arranged value={v.autoarrange} onChange={set("autoarrange")} />
    </>
  );
}

const Arranged = ({ value, onChange }: { value?: string; onChange: (v: string) => void }) => (
  <Checkbox
    label="Arrange its icons automatically"
    description="One after the other, in rows (autoarrange linear)"
    checked={value === "linear"}
    onChange={(e) => onChange(e.currentTarget.checked ? "linear" : "none")}
  />
);

/** TargetField finds views and resources by a part of their name. */
function TargetField({ value, onChange }: { value: string; onChange: (v: string) => void }) {
  const [asked] = useDebouncedValue(value, 200);
  const found = useQuery({
    queryKey: ["targetsearch", asked],
    queryFn: ({ signal }) =>
      sql<{ name: string }>(
        `SELECT name FROM objectstatus WHERE (kind='resource' OR kind='view' AND resource IS NULL) AND name LIKE ${quote(`%${asked}%`)} ORDER BY name`,
        { rows: 20, signal },
      ),
  });
  return (
    <Autocomplete
      label="Leads to"
      description="A view or a resource"
      required
      data-autofocus
      data={[...new Set(found.data?.rows.map((r) => r.name))]}
      filter={({ options }) => options}
      value={value}
      onChange={onChange}
    />
  );
}

/** Settings of the view itself. */
function Settings({ view, drafting, onClose }: Props) {
  const colour = isColour(view.bg) ? view.bg : "";
  const [kind, setKind] = useState(colour ? "colour" : view.bg ? "picture" : "none");
  const [picture, setPicture] = useState(colour ? "" : (view.bg ?? ""));
  const [ground, setGround] = useState(colour || "#e9f7f6");
  const [arranged, setArranged] = useState<string>(view.autoarrange ?? "none");
  const submit = (e: FormEvent) => {
    e.preventDefault();
    const bg = kind === "colour" ? ground : kind === "picture" ? picture : "";
    const changes = {
      ...(arranged !== (view.autoarrange ?? "none") && { autoarrange: arranged as TreeItem["autoarrange"] }),
      ...(bg !== (view.bg ?? "") && { bg }),
    };
    if (Object.keys(changes).length) drafting.edit((d) => changeView(d, view, changes));
    onClose();
  };
  return (
    <Modal opened onClose={onClose} closeButtonProps={{ "aria-label": "Close" }} title={`View ${view.name}`} centered>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Arranged value={arranged} onChange={setArranged} />
          {view.kind === "view" && (
            <Select
              label="Background"
              allowDeselect={false}
              data={[
                { value: "none", label: "None" },
                { value: "colour", label: "A colour" },
                { value: "picture", label: "A picture" },
              ]}
              value={kind}
              onChange={(k) => setKind(k ?? "none")}
            />
          )}
          {kind === "colour" && (
            <ColorInput label="Colour" withEyeDropper={false} value={ground} onChange={setGround} swatches={swatches} />
          )}
          {kind === "picture" && <Gallery chosen={picture} onChoose={setPicture} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit">Change</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
