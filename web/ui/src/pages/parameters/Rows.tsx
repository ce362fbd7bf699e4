// A list as a table; on a phone each row is a card with the names of the columns in it.
import { Table, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useSearchParams } from "wouter";

export interface Column<T> {
  label: string;
  cell: (row: T) => ReactNode;
  /** Buttons: they need no name on a phone. */
  tools?: boolean;
  /** Numbers are aligned to the right. */
  number?: boolean;
}

/** Rows lists things. The first column says what a row is about. */
export function Rows<T>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string;
  columns: Column<T>[];
  rows: T[];
  keyOf: (row: T) => string;
}) {
  return (
    <div className="card table-rows">
      <Table role="table" aria-label={label} verticalSpacing={8} horizontalSpacing="md">
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map((c) => (
              <Table.Th key={c.label} role="columnheader" className={c.number ? "right" : undefined}>
                {c.tools ? <span className="table-unseen">{c.label}</span> : c.label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Table.Tr role="row" key={keyOf(row)}>
              {columns.map((c, i) => (
                <Table.Td
                  role={i === 0 ? "rowheader" : "cell"}
                  key={c.label}
                  data-label={i === 0 || c.tools ? undefined : c.label}
                  className={c.number ? "number right" : undefined}
                >
                  <div>{c.cell(row)}</div>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** useFound gives what someone looks for, which is in the address, and reports whether a text has it. */
export function useFound() {
  const [params] = useSearchParams();
  const text = params.get("q") ?? "";
  const wanted = text.trim().toLowerCase();
  return { text, has: (...texts: (string | undefined)[]) => texts.some((t) => t?.toLowerCase().includes(wanted)) };
}

export function Find({ label }: { label: string }) {
  const { text } = useFound();
  const [, setParams] = useSearchParams();
  const set = (value: string) =>
    setParams(
      (p) => {
        if (value) p.set("q", value);
        else p.delete("q");
        return p;
      },
      { replace: true },
    );
  return (
    <TextInput
      data-search
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} />}
      value={text}
      onChange={(e) => set(e.currentTarget.value)}
      w={{ base: "100%", xs: 260 }}
    />
  );
}
