// A button that saves all rows of a query as CSV, however many they are.
import { Button, Text } from "@mantine/core";
import { IconDownload, IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { download } from "../pages/provisioning/file";
import { messageOf } from "./Page";
import { wholeCsv } from "./wholeCsv";

/** CsvButton asks for the query when it is pressed: its end is that moment. */
export function CsvButton({ name, ask }: { name: string; ask: () => { q: string; fq?: string } }) {
  const [rows, setRows] = useState<number>();
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const save = async () => {
    const control = new AbortController();
    stop.current = control;
    setRows(0);
    setError(undefined);
    try {
      const { q, fq } = ask();
      download(name, await wholeCsv(q, { fq }, control.signal, setRows));
    } catch (e) {
      if (!control.signal.aborted) setError(e);
    } finally {
      setRows(undefined);
    }
  };
  return (
    <>
      {error !== undefined && (
        <Text size="sm" role="alert" className="name">
          The CSV was not saved: {messageOf(error)}
        </Text>
      )}
      {rows === undefined ? (
        <Button size="compact-sm" variant="default" leftSection={<IconDownload size={14} />} onClick={save}>
          CSV
        </Button>
      ) : (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconX size={14} />}
          aria-label="Stop reading the CSV"
          onClick={() => stop.current?.abort()}
        >
          {rows.toLocaleString()} rows…
        </Button>
      )}
    </>
  );
}
