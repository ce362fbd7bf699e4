// An item of a view as an icon: the frame shows its kind, the sign in it its status, small marks the rest.
import { IconActivity, IconArrowUpRight, IconFolder, IconNote, IconServer, IconUnlink } from "@tabler/icons-react";
import { memo } from "react";
import type { Kind, Status, TreeItem } from "../../api";
import { link } from "../../links";
import { StatusIcon, saying, statuses, statusName } from "../../parts/StatusIcon";
import { ending } from "./ending";
import { isShortcut, kindName, placeable } from "./scene";
import type { Target } from "./tree";

export const scaled = (n: number) => `calc(var(--s) * ${n}px)`;

const kindIcons = { view: IconFolder, resource: IconServer, object: IconActivity, shortcut: IconArrowUpRight };

/** dress gives shortcuts that are not stored yet the status of what they lead to. The others have it. */
export function dress(children: TreeItem[], targets: Map<string, Target>): TreeItem[] {
  return children.map((i) => {
    const t = isShortcut(i) && !i.status ? targets.get(i.answers?.target ?? "") : undefined;
    if (!t) return i;
    const { status, statusname, acknowledged, isunmanaged, since, info } = t;
    return { ...i, status, statusname, acknowledged, isunmanaged, since, info };
  });
}

/** wayInto is where an item leads, if one can go into it. */
export function wayInto(i: TreeItem): string | undefined {
  if (isShortcut(i)) return i.broken ? undefined : link.map(i.answers?.target);
  if (i.kind === "view") return link.map(i.name, i.resource);
  if (i.kind === "resource") return link.map(i.name);
  return undefined;
}

/** pageOf is the page of an item; of a shortcut, that of what it leads to. */
export function pageOf(i: TreeItem, target?: Target): string | undefined {
  if (isShortcut(i)) return target && link.item(target);
  if (i.kind === "element") return undefined;
  return link.item({ kind: i.kind as Kind, name: i.name, resource: i.resource });
}

export function countsOf(i: TreeItem): [Status, number][] {
  const all = i.counts;
  if (!all) return [];
  return statuses.map((s): [Status, number] => [s, all[s] ?? 0]).filter(([, n]) => n > 0);
}

/** spoken says all of an icon in words. */
export function spoken(i: TreeItem, homeless: boolean): string {
  const inside = countsOf(i).map(([s, n]) => `${n} ${statusName(s)}`);
  const parts = [
    `${i.name}, ${kindName(i)}`,
    isShortcut(i) && (i.broken || !i.status)
      ? `leads to ${i.answers?.target}, which ${i.broken ? "has been removed" : "is not there"}`
      : saying(i),
    inside.length ? `inside: ${inside.join(", ")}` : "",
    i.note ? "has a note" : "",
    homeless ? "has no place" : "",
  ];
  return parts.filter(Boolean).join("; ");
}

interface Props {
  id: string;
  item: TreeItem;
  left: number;
  top: number;
  width: number;
  height: number;
  homeless: boolean;
  chosen: boolean;
  editing: boolean;
  fixed: boolean;
  /** How much of it is drawn: 0 is what the keyboard and screen readers need, 1 the icon, 2 also its name in a line, 3 all. */
  detail: 0 | 1 | 2 | 3;
}

/** Icon is drawn again only when something of it changed: there may be thousands, and changes every moment. */
export const Icon = memo(function Icon(p: Props) {
  const { item } = p;
  const kind = isShortcut(item) ? "shortcut" : (item.kind as Kind);
  const into = wayInto(item);
  const homeless = p.homeless && placeable(item);
  return (
    <div
      className="map-item"
      data-kind={kind}
      data-status={item.status}
      data-homeless={homeless || undefined}
      data-broken={!!item.broken || undefined}
      data-chosen={p.chosen || undefined}
      data-fixed={p.fixed || undefined}
      style={{ left: scaled(p.left), top: scaled(p.top), width: scaled(p.width), height: scaled(p.height) }}
    >
      <button
        type="button"
        className="map-icon"
        data-key={p.id}
        aria-label={spoken(item, homeless)}
        aria-pressed={p.chosen}
        title={item.name}
      >
        {p.detail > 0 && <Face item={item} kind={kind} />}
      </button>
      {p.chosen && p.editing && !p.fixed && <span className="map-handle" data-resize={p.id} />}
      {p.detail > 1 && (
        <div className="map-under">
          {into && !p.editing ? (
            // Not a Link: thousands of them would each watch the address. The board hears the click.
            // It is named, since the two parts of a short name would be read as two words.
            <a
              href={`/ui${into}`}
              data-way={into}
              className="map-name"
              tabIndex={-1}
              title={item.name}
              aria-label={item.name}
            >
              <Name of={item.name} short={p.detail === 2} />
            </a>
          ) : (
            <span className="map-name" title={item.name}>
              <Name of={item.name} short={p.detail === 2} />
            </span>
          )}
          {p.detail === 3 && <Counts item={item} />}
        </div>
      )}
    </div>
  );
});

/** Name is the whole name, or one shortened in the middle: names of one kind differ at their ends. */
function Name({ of, short }: { of: string; short: boolean }) {
  if (!short) return <>{of}</>; // a bare text would be shown as it is: see shown/jsx-runtime.ts
  const at = ending(of);
  if (!at)
    return (
      <span className="map-head" dir="auto">
        {of}
      </span>
    );
  return (
    <>
      <span className="map-head">{of.slice(0, at)}</span>
      <span className="map-tail">{of.slice(at)}</span>
    </>
  );
}

function Face({ item, kind }: { item: TreeItem; kind: keyof typeof kindIcons }) {
  const Sign = kindIcons[kind];
  return (
    <>
      <span className="map-sign">
        {item.broken ? (
          <IconUnlink aria-hidden />
        ) : (
          <StatusIcon
            status={item.status}
            acknowledged={item.acknowledged}
            isunmanaged={item.isunmanaged}
            label={false}
          />
        )}
      </span>
      <span className="map-mark" data-at="kind">
        <Sign size={13} aria-hidden />
      </span>
      {item.note && (
        <span className="map-mark" data-at="note">
          <IconNote size={14} aria-hidden />
        </span>
      )}
    </>
  );
}

export function Counts({ item, size = 10 }: { item: TreeItem; size?: number }) {
  const counts = countsOf(item);
  if (!counts.length) return null;
  return (
    <div className="map-counts number" aria-hidden="true">
      {counts.slice(0, 5).map(([s, n]) => (
        <span key={s}>
          <StatusIcon status={s} size={size} label={false} />
          {n}
        </span>
      ))}
    </div>
  );
}
