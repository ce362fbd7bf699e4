// One row. It is drawn again only when its item is another one than before.
import {
  IconBox,
  IconCheck,
  IconClock,
  IconFolder,
  IconNote,
  IconPlayerPause,
  type IconProps,
  IconServer,
} from "@tabler/icons-react";
import { type ComponentType, memo, type ReactNode } from "react";
import { Link } from "wouter";
import type { Kind } from "../../api";
import { link } from "../../links";
import { ActionButtons } from "../../parts/Actions";
import { StatusIcon, statusName } from "../../parts/StatusIcon";
import { Age, local, localTimes } from "../../parts/Time";
import type { Row } from "./feed";
import { Part } from "./grid";

const kindIcons: Record<Kind, ComponentType<IconProps>> = { object: IconBox, resource: IconServer, view: IconFolder };

interface Props {
  at: number;
  top: number;
  row?: Row;
  selected: boolean;
  current: boolean;
  mayAct: boolean;
  onTick: (at: number, range: boolean) => void;
  onTouch: (at: number) => void;
  onDone: () => void;
}

function Mark({ say, children }: { say: string; children: ReactNode }) {
  return (
    <span className="mark" role="img" aria-label={say} title={say}>
      {children}
    </span>
  );
}

function Marks({ row }: { row: Row }) {
  const by = row.ackby ? ` by ${row.ackby}` : "";
  const until = row.unmanageto ? ` until ${local(row.unmanageto)}` : "";
  const why = row.unmanagenote ? `: ${row.unmanagenote}` : "";
  return (
    <>
      {row.acknowledged && (
        <Mark say={`Acknowledged${by}${row.ack ? `: ${row.ack}` : ""}`}>
          <IconCheck size={15} />
        </Mark>
      )}
      {row.isunmanaged && (
        <Mark say={`Unmanaged${until}${why}`}>
          <IconPlayerPause size={15} />
        </Mark>
      )}
      {!row.isunmanaged && row.unmanageifred && (
        <Mark say={`Unmanaged whenever it is unavailable${why}`}>
          <IconPlayerPause size={15} />
        </Mark>
      )}
      {!row.isunmanaged && !row.unmanageifred && row.unmanagefrom && (
        <Mark say={`Will be unmanaged from ${local(row.unmanagefrom)}${until}${why}`}>
          <IconClock size={15} />
        </Mark>
      )}
      {row.note && (
        <Mark say={`Note: ${row.note}`}>
          <IconNote size={15} />
        </Mark>
      )}
    </>
  );
}

/** Place is the location of the item, with a link. */
function Place({ row }: { row: Row }) {
  const inner = row.kind === "view" ? row.parentview : row.view;
  const inResource = row.kind !== "resource" && row.resource;
  if (!inner) return null;
  const text = inResource && inner !== row.resource ? `${row.resource} › ${inner}` : inner;
  const to = inResource && inner !== row.resource ? link.map(inner, row.resource) : link.map(inner);
  return (
    <Link href={to} title={text}>
      {text}
    </Link>
  );
}

function Content({ row, mayAct, current, onDone }: Pick<Props, "mayAct" | "current" | "onDone"> & { row: Row }) {
  const Icon = kindIcons[row.kind];
  const status = row.isunmanaged ? "Unknown (Unmanaged)" : statusName(row.status);
  return (
    <>
      <Part role="gridcell" className="status" aria-label={status}>
        <StatusIcon {...row} label={false} />
        <span>{status}</span>
      </Part>
      <Part role="gridcell" className="title">
        <span className="mark" role="img" aria-label={row.kind} title={row.kind}>
          <Icon size={15} />
        </span>
        <Link href={link.item(row)} className="cut" title={row.name}>
          {row.name}
        </Link>
        <Marks row={row} />
      </Part>
      <Part role="gridcell" className="place cut quiet">
        <Place row={row} />
        {row.info && <span className="aside"> · {localTimes(row.info)}</span>}
      </Part>
      <Part role="gridcell" className="class cut quiet" title={row.class}>
        {row.class}
      </Part>
      <Part role="gridcell" className="since cut">
        <Age at={row.since} />
      </Part>
      <Part role="gridcell" className="info cut" title={row.info}>
        {row.info && localTimes(row.info)}
      </Part>
      <Part role="gridcell" className="data cut quiet">
        {row.lastdata && <Age at={row.lastdata} />}
      </Part>
      <Part role="gridcell" className="more">
        {mayAct && current && <ActionButtons compact items={[row]} onDone={onDone} />}
      </Part>
    </>
  );
}

/** Hollow is where a row will be. */
function Hollow({ at }: { at: number }) {
  return (
    <>
      <Part role="gridcell" className="status" aria-label="Loading">
        <div className="hollow" style={{ width: 18 }} />
      </Part>
      <Part role="gridcell" className="title">
        <div className="hollow" style={{ width: `${40 + ((at * 37) % 45)}%` }} />
      </Part>
      <Part role="gridcell" className="place">
        <div className="hollow" style={{ width: `${30 + ((at * 53) % 40)}%` }} />
      </Part>
    </>
  );
}

export const RowLine = memo(function RowLine({
  at,
  top,
  row,
  selected,
  current,
  mayAct,
  onTick,
  onTouch,
  onDone,
}: Props) {
  return (
    <Part
      role="row"
      id={`row-${at}`}
      aria-rowindex={at + 2}
      aria-selected={selected}
      className={`status-row item${selected ? " selected" : ""}${current ? " current" : ""}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onTouch(at)}
    >
      <Part role="gridcell" className="tick">
        {mayAct && row && (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${row.name}`}
            checked={selected}
            onChange={() => {}}
            onClick={(e) => onTick(at, e.shiftKey)}
          />
        )}
      </Part>
      {row ? <Content row={row} mayAct={mayAct} current={current} onDone={onDone} /> : <Hollow at={at} />}
    </Part>
  );
});
