// A class for those who may look at it but not change it.
import { Text } from "@mantine/core";
import type { Class, Indicator, Threshold } from "../../api";
import { StatusText } from "../../parts/StatusIcon";
import { type Column, Rows } from "./Rows";

export function ClassView({ of }: { of: Class }) {
  return (
    <>
      {of.indicators?.length ? (
        <Rows label="Indicators" columns={columns} rows={of.indicators} keyOf={(i) => String(i.n)} />
      ) : (
        <Text>It has no indicators yet.</Text>
      )}
      <Text size="sm">
        {of.interval ? `Data are expected every ${of.interval}.` : "No data are expected at fixed intervals."}{" "}
        {of.log?.columns?.length ? (
          <span className="name">A log line has the columns {of.log.columns.join(", ")}.</span>
        ) : null}
      </Text>
    </>
  );
}

const columns: Column<Indicator>[] = [
  { label: "Indicator", cell: (i) => <b className="name">{i.name ?? `i${i.n}`}</b> },
  { label: "Number", cell: (i) => `i${i.n}` },
  { label: "Unit", cell: (i) => <span className="name">{i.unit || "–"}</span> },
  { label: "Type", cell: (i) => (i.type === "string" ? "text" : "number") },
  { label: "Thresholds", cell: (i) => <Thresholds of={i.thresholds ?? []} /> },
];

export function Thresholds({ of }: { of: Threshold[] }) {
  if (!of.length) return <>none</>;
  return (
    <>
      {of.map((t) => (
        <Text size="sm" key={`${t.when} ${t.status} ${t.recover} ${t.after}`} component="div">
          <span className="name">{t.when}</span> <StatusText status={String(t.status)} />
          {t.recover && <span className="name"> until {t.recover}</span>}
          {t.after ? ` after ${t.after} rows` : ""}
        </Text>
      ))}
    </>
  );
}
