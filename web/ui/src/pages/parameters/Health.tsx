// How the service fares: what comes in, what is refused, what waits, what space is left, which queries are slow.
import { Progress, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Health, health } from "../../api";
import { pageNow } from "../../clock";
import { bytes } from "../../parts/bytes";
import { Chart } from "../../parts/Chart";
import { Failure, Page, Waiting } from "../../parts/Page";
import { StatusIcon } from "../../parts/StatusIcon";
import { Age, ago, Time } from "../../parts/Time";
import { Copied } from "./Copy";
import { Faults } from "./Faults";
import { type FileSystem, fileSystems } from "./filesystems";
import { type Column, Rows } from "./Rows";

export default function HealthPage() {
  const q = useQuery({ queryKey: ["health"], queryFn: health, refetchInterval: 10_000 });
  return (
    <Page title="Health">
      {q.isPending && <Waiting />}
      {q.error && <Failure error={q.error} retry={() => q.refetch()} />}
      {q.data && <Shown of={q.data} />}
    </Page>
  );
}

const count = (n: number) => n.toLocaleString();
const total = (m: Record<string, number>) => Object.values(m).reduce((a, b) => a + b, 0);

/** notReady says why, unless a fault above says it already. */
const notReady = (h: Health) =>
  h.faults.some((f) => f.blocks) ? "The service is not ready." : `The service is not ready: ${h.why}`;

function Shown({ of: h }: { of: Health }) {
  return (
    <Stack gap="lg">
      <Faults of={h.faults} />
      <Text component="div">
        <StatusIcon status={h.ready ? "0" : "3"} label={false} />{" "}
        {h.ready ? "The service accepts data and answers queries." : notReady(h)}{" "}
        <Text span c="dimmed" size="sm">
          Version {h.version.version}, started <Time at={h.started} />, {ago(h.started)} ago.
        </Text>
      </Text>
      <Ingest of={h} />
      <Storage of={h} />
      {h.backup && <Backups of={h.backup} />}
      <Queries of={h} />
      <Part title="The process">
        <div className="facts">
          <Fact label="Memory">{bytes(h.memory.resident)}</Fact>
          <Fact label="Connections">{count(h.connections.open)}</Fact>
          <Fact label="Sessions">{count(h.sessions)}</Fact>
          <Fact label="Live streams">{count(h.streams)}</Fact>
          {Object.entries(h.items).map(([kind, n]) => (
            <Fact key={kind} label={kind}>
              {count(n)}
            </Fact>
          ))}
        </div>
      </Part>
    </Stack>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function Fact({ label, children, alarm }: { label: string; children: ReactNode; alarm?: boolean }) {
  return (
    <div className="card fact">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="lg" fw={600} className="number" c={alarm ? "var(--mantine-color-error)" : undefined}>
        {children}
      </Text>
    </div>
  );
}

function Ingest({ of: h }: { of: Health }) {
  const at = h.rows.series.map((p) => new Date(p.timestamp).getTime() / 1000);
  const dropped = Object.entries(h.rows.dropped).filter(([, n]) => n > 0);
  const now = pageNow() / 1000;
  return (
    <Part title="Rows">
      <div className="facts">
        <Fact label="Received per second">{h.rows.rate.toLocaleString(undefined, { maximumFractionDigits: 1 })}</Fact>
        <Fact label="Received since the start">{count(h.rows.received)}</Fact>
        <Fact label="Stored">{count(h.rows.stored)}</Fact>
        <Fact label="Rejected">{count(h.rows.rejected)}</Fact>
        <Fact label="Dropped" alarm={total(h.rows.dropped) > 0}>
          {count(total(h.rows.dropped))}
        </Fact>
        <Fact label="Waiting for storage">
          {count(h.journal.rows)}
          {h.journal.oldest >= 1 && ` (${Math.round(h.journal.oldest)} s)`}
        </Fact>
      </div>
      {dropped.length > 0 && (
        <Text size="sm">Dropped because: {dropped.map(([why, n]) => `${why} ${count(n)}`).join(", ")}.</Text>
      )}
      {at.length > 1 && (
        <Chart
          height={180}
          from={at[0] ?? now - 900}
          to={now}
          lines={[
            {
              label: "Received",
              unit: "rows/s",
              points: h.rows.series.map((p, i): [number, number] => [at[i] ?? 0, p.received]),
            },
            {
              label: "Stored",
              unit: "rows/s",
              points: h.rows.series.map((p, i): [number, number] => [at[i] ?? 0, p.stored]),
            },
          ]}
        />
      )}
    </Part>
  );
}

const usedPart = (d: FileSystem) => (d.total ? ((d.total - d.free) / d.total) * 100 : 0);

const disks: Column<FileSystem>[] = [
  { label: "Folders", cell: (d) => <b>{d.names.join(", ")}</b> },
  {
    label: "Where",
    cell: (d) =>
      d.paths.map((path) => (
        <div key={path} className="name">
          {path}
        </div>
      )),
  },
  { label: "Free", number: true, cell: (d) => `${bytes(d.free)} of ${bytes(d.total)}` },
  {
    label: "Used",
    cell: (d) => (
      <Progress
        value={usedPart(d)}
        color={usedPart(d) > 90 ? "red" : undefined}
        aria-label={`Used part of the file system of ${d.names.join(", ")}`}
        miw={80}
      />
    ),
  },
];

type Space = { name: string; bytes: number; files?: number };

function Storage({ of: h }: { of: Health }) {
  const rows: Space[] = [
    ...h.disk.collections,
    { name: "journal", bytes: h.journal.bytes, files: h.journal.segments },
    { name: "metadata", bytes: h.disk.metadata },
  ].sort((a, b) => b.bytes - a.bytes);
  // A collection that nothing feeds takes a few bytes; a line for each would hide the others.
  const empty = rows.filter((r) => r.bytes < 1000).map((r) => r.name);
  const most = Math.max(1, ...rows.map((r) => r.bytes));
  const columns: Column<Space>[] = [
    { label: "What", cell: (r) => <b>{r.name}</b> },
    { label: "Space", number: true, cell: (r) => bytes(r.bytes) },
    { label: "Files", number: true, cell: (r) => (r.files === undefined ? "–" : count(r.files)) },
    {
      label: "Share",
      cell: (r) => <Progress value={(r.bytes / most) * 100} aria-label={`Share of ${r.name}`} miw={80} />,
    },
  ];
  return (
    <Part title="Storage">
      <Rows label="File systems" columns={disks} rows={fileSystems(h.disk.folders)} keyOf={(d) => d.names.join()} />
      <Rows label="Space" columns={columns} rows={rows.filter((r) => r.bytes >= 1000)} keyOf={(r) => r.name} />
      {empty.length > 0 && (
        <Text size="sm" c="dimmed">
          Nothing is stored yet in {empty.sort().join(", ")}.
        </Text>
      )}
    </Part>
  );
}

/** What the service backs up by itself, and what runs or ran last. */
function Backups({ of: b }: { of: NonNullable<Health["backup"]> }) {
  const s = b.scheduled;
  return (
    <Part title="Backups">
      <div className="facts">
        <Fact label="Newest backup" alarm={!!s && !s.newest}>
          {s?.newest ? <Age at={s.newest} /> : "none"}
        </Fact>
        {s && <Fact label="Kept">{count(s.count)}</Fact>}
        {b.next && (
          <Fact label="Next">
            <Time at={b.next} />
          </Fact>
        )}
      </div>
      {b.running && (
        <Text size="sm" className="name">
          A {b.running.kind} {b.running.waits ?? "is running"}: {count(b.running.files)}{" "}
          {b.running.files === 1 ? "file" : "files"}, {bytes(b.running.bytes)}
          {b.running.total ? ` of about ${bytes(b.running.total)}` : ""}, since <Time at={b.running.began} />,{" "}
          {b.running.backup}
        </Text>
      )}
      {b.last && (
        <Text size="sm" className="name" c={b.last.error ? "var(--mantine-color-error)" : undefined}>
          The last {b.last.kind} {b.last.error ? `failed: ${b.last.error}` : "succeeded"}, {bytes(b.last.bytes)},{" "}
          <Time at={b.last.ended ?? b.last.began} />, {b.last.backup}
        </Text>
      )}
      <Text size="sm" c="dimmed" className="name">
        {s
          ? `Backups are made by schedule into ${s.target}.${s.error ? ` That folder cannot be read: ${s.error}` : ""}${(s.passed ?? []).map((why) => ` ${why}.`).join("")}`
          : "No backups are scheduled. Set backup.target in the configuration file."}
      </Text>
    </Part>
  );
}

type Slow = Health["queries"]["slowest"][number];

function Queries({ of: h }: { of: Health }) {
  const slowest = h.queries.slowest ?? [];
  const columns: Column<Slow>[] = [
    { label: "Took", cell: (s) => <b className="number">{s.seconds.toFixed(2)} s</b> },
    { label: "When", cell: (s) => <Time at={s.timestamp} /> },
    { label: "Who", cell: (s) => <span className="name">{[s.by, s.customer].filter(Boolean).join(", ")}</span> },
    { label: "Rows", number: true, cell: (s) => (s.failed ? "failed" : count(s.rows)) },
    { label: "Query", cell: (s) => <Copied text={s.fq ? `${s.q}\n${s.fq}` : s.q} label="Query" /> },
  ];
  return (
    <Part title="Queries">
      <div className="facts">
        <Fact label="Running now">{count(h.queries.running)}</Fact>
        {Object.entries(h.queries.total).map(([how, n]) => (
          <Fact key={how} label={how}>
            {count(n)}
          </Fact>
        ))}
      </div>
      {slowest.length ? (
        <Rows
          label="Slowest queries of the last hour"
          columns={columns}
          rows={slowest}
          keyOf={(s) => `${s.timestamp} ${s.q}`}
        />
      ) : (
        <Text size="sm" c="dimmed">
          No query of the last hour was slow.
        </Text>
      )}
    </Part>
  );
}
