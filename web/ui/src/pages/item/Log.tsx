// The log lines of an object, the newest first, searched by word.
import "./item.css";
import { Button, Group, Skeleton, Table, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useSearchParams } from "wouter";
import type { Class, StatusRow } from "../../api";
import { AsSql } from "../../parts/AsSql";
import { Failure } from "../../parts/Page";
import { type Asked, queryOf, rowsOf, usePaged } from "../../parts/paged";
import { condition, type RangeState } from "../../parts/Range";
import { Time } from "../../parts/Time";
import { whose } from "./series";
import { Card } from "./Why";

interface LogRow {
  id: string;
  timestamp: string;
  log: string;
  [column: `c${number}`]: string | undefined;
}

export function Log({ row, def, range }: { row: StatusRow; def?: Class; range: RangeState }) {
  const [params, setParams] = useSearchParams();
  const [text, setText] = useState(params.get("log") ?? "");
  const [words] = useDebouncedValue(text.trim(), 300);
  const [ever, setEver] = useState(false);
  const columns = def?.log?.columns ?? [];
  const where = ever ? [whose(row)] : [whose(row), condition(range.range)];
  const select = columns.length
    ? `timestamp, id, log, ${columns.map((_, i) => `c${i + 1}`).join(", ")}`
    : "timestamp, id, log";
  const asked: Asked = { select, from: "objectlog", where, fq: words || undefined };
  const pages = usePaged<LogRow>(["log"], asked, { size: 100, refetchInterval: range.range.span ? 5000 : false });
  const rows = rowsOf(pages.data);
  const search = (t: string) => {
    setText(t);
    setParams(
      (old) => {
        const next = new URLSearchParams(old);
        if (t.trim()) next.set("log", t.trim());
        else next.delete("log");
        return next;
      },
      { replace: true },
    );
  };
  return (
    <Card title="Log" tools={<AsSql q={queryOf(asked)} fq={asked.fq} rows={100} />}>
      <TextInput
        size="sm"
        leftSection={<IconSearch size={16} />}
        placeholder='Words, "a phrase", err*, -not'
        aria-label="Search the log"
        value={text}
        onChange={(e) => search(e.currentTarget.value)}
        maw={420}
      />
      {pages.error && <Failure error={pages.error} retry={() => pages.refetch()} />}
      {pages.isPending && !pages.error && <Skeleton height={60} />}
      {pages.data && rows.length === 0 && <Nothing words={words} ever={ever} onEver={() => setEver(true)} />}
      {rows.length > 0 && <Lines rows={rows} columns={columns} />}
      {pages.hasNextPage && (
        <Group>
          <Button size="xs" variant="default" onClick={() => pages.fetchNextPage()} loading={pages.isFetchingNextPage}>
            Load more lines
          </Button>
        </Group>
      )}
    </Card>
  );
}

function Nothing({ words, ever, onEver }: { words: string; ever: boolean; onEver: () => void }) {
  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed">
        {words ? "No line has these words" : "No lines"}
        {ever ? "." : " in this range."}
      </Text>
      {!ever && (
        <Button size="compact-sm" variant="default" onClick={onEver}>
          Show all times
        </Button>
      )}
    </Group>
  );
}

function Lines({ rows, columns }: { rows: LogRow[]; columns: string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard
    <section className="item-log" aria-label="Lines of the log" tabIndex={0}>
      <Table fz="inherit" verticalSpacing={2} horizontalSpacing="xs" stickyHeader={columns.length > 0}>
        {columns.length > 0 && (
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time</Table.Th>
              {columns.map((c) => (
                <Table.Th key={c}>{c}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
        )}
        <Table.Tbody>
          {rows.map((r) => (
            <Table.Tr key={r.id}>
              <Table.Td>
                <Time at={r.timestamp} />
              </Table.Td>
              {columns.length ? (
                columns.map((c, i) => <Table.Td key={c}>{r[`c${i + 1}`]}</Table.Td>)
              ) : (
                <Table.Td className="name">{r.log}</Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
