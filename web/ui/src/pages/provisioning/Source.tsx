// Where rows come from: a file, the clipboard, or a form made from the questions of the package.
import { Button, Group, Paper, Progress, SegmentedControl, SimpleGrid, Stack, Text, Textarea } from "@mantine/core";
import { IconFileUpload, IconPlus } from "@tabler/icons-react";
import { type DragEvent, type FormEvent, useRef, useState } from "react";
import type { Package, Question } from "../../api";
import { Failure } from "../../parts/Page";
import { Field } from "./Field";
import { textOf, Unreadable } from "./file";
import { Sheet } from "./sheet";

export type Way = "file" | "paste" | "form";

interface Props {
  pkg: Package;
  columns: Question[];
  way: Way;
  onWay: (w: Way) => void;
  onSheet: (s: Sheet) => void;
}

export function Source({ pkg, columns, way, onWay, onSheet }: Props) {
  const [busy, setBusy] = useState<number | null>(null);
  const [wrong, setWrong] = useState<{ error: unknown; file?: File } | null>(null);

  const take = async (source: string, text: () => Promise<string>, file?: File) => {
    setBusy(0);
    setWrong(null);
    try {
      const sheet = await Sheet.read(source, await text(), setBusy);
      if (sheet) onSheet(sheet);
      else
        setWrong({ error: new Error(`${source} is empty. Its first line names the columns, as ${example(columns)}.`) });
    } catch (error) {
      setWrong({ error, file });
    } finally {
      setBusy(null);
    }
  };
  const takeFile = (f: File, encoding?: string) => take(f.name, () => textOf(f, encoding), f);

  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="Where the rows come from"
        value={way}
        onChange={(v) => {
          setWrong(null);
          onWay(v as Way);
        }}
        data={[
          { value: "file", label: "File" },
          { value: "paste", label: "Paste" },
          { value: "form", label: "Form" },
        ]}
        style={{ alignSelf: "flex-start" }}
      />
      {way === "file" && <Drop columns={columns} onFile={takeFile} />}
      {way === "paste" && <Paste columns={columns} onText={(t) => take("What was pasted", async () => t)} />}
      {way === "form" && (
        <Form
          columns={columns}
          onRow={(values) => {
            const used = columns.filter((c) => values[c.name]).map((c) => c.name);
            onSheet(Sheet.of(`Rows of ${pkg.name}`, used).add(values));
          }}
        />
      )}
      {busy !== null && (
        <Progress.Root size="lg">
          <Progress.Section value={busy * 100} aria-label="Reading the rows" />
        </Progress.Root>
      )}
      {wrong && (
        <Stack gap="xs" align="flex-start">
          <Failure error={wrong.error} />
          {wrong.file && wrong.error instanceof Unreadable && wrong.error.encoding && (
            <Button variant="default" onClick={() => wrong.file && takeFile(wrong.file, "windows-1252")}>
              Read it as Western European
            </Button>
          )}
        </Stack>
      )}
    </Stack>
  );
}

/** example is a header that would do. */
export function example(columns: Question[]): string {
  const needed = columns.filter((c) => c.required || c.name === "view").map((c) => c.name);
  return needed.join(",") || "name";
}

function Drop({ columns, onFile }: { columns: Question[]; onFile: (f: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const drop = (e: DragEvent) => {
    e.preventDefault();
    setOver(false);
    const f = e.dataTransfer.files[0];
    if (f) onFile(f);
  };
  return (
    <Paper
      className="card"
      p="xl"
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      style={{ borderStyle: "dashed", borderWidth: 2, borderColor: over ? "var(--mantine-color-anchor)" : undefined }}
    >
      <Stack align="center" gap="sm" ta="center">
        <IconFileUpload size={36} stroke={1.4} aria-hidden />
        <Text>Drop a CSV file here, or</Text>
        <Button onClick={() => input.current?.click()}>Choose a file</Button>
        <input
          ref={input}
          type="file"
          accept=".csv,text/csv,text/plain"
          aria-label="CSV file"
          hidden
          onChange={(e) => {
            const f = e.currentTarget.files?.[0];
            e.currentTarget.value = "";
            if (f) onFile(f);
          }}
        />
        <Text size="sm" c="dimmed">
          The first line names the columns, as <code>{example(columns)}</code>. Nothing is changed before you have seen
          what would be.
        </Text>
      </Stack>
    </Paper>
  );
}

function Paste({ columns, onText }: { columns: Question[]; onText: (t: string) => void }) {
  const [text, setText] = useState("");
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        onText(text);
      }}
    >
      <Stack gap="sm" align="flex-start">
        <Textarea
          w="100%"
          label="CSV, with the names of the columns in its first line"
          placeholder={`${example(columns)}\n…`}
          value={text}
          onChange={(e) => setText(e.currentTarget.value)}
          minRows={10}
          maxRows={24}
          autosize
          spellCheck={false}
          styles={{
            input: { fontFamily: "var(--mantine-font-family-monospace)", whiteSpace: "pre", overflowX: "auto" },
          }}
        />
        <Button type="submit" disabled={!text.trim()}>
          Look at it
        </Button>
      </Stack>
    </form>
  );
}

/** Form asks the questions of a package, those that need an answer first, and gives a row for each time it is sent. */
export function Form({ columns, onRow }: { columns: Question[]; onRow: (values: Record<string, string>) => void }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [round, setRound] = useState(0);
  const [more, setMore] = useState(false);
  const needed = columns.filter((c) => c.required || c.name === "view" || c.name === "name" || c.name === "resname");
  const others = columns.filter((c) => !needed.includes(c));
  const send = (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    onRow(values);
    setValues({});
    setRound((n) => n + 1);
    e.currentTarget.querySelector("input")?.focus();
  };
  const field = (q: Question) => (
    <Field
      key={`${round} ${q.name}`}
      question={q}
      value={values[q.name] ?? ""}
      onChange={(v) => setValues((old) => ({ ...old, [q.name]: v }))}
    />
  );
  return (
    <Paper className="card" p="md">
      <form onSubmit={send} aria-label="One row">
        <Stack gap="md" align="stretch">
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>{needed.map(field)}</SimpleGrid>
          {others.length > 0 && more && <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>{others.map(field)}</SimpleGrid>}
          <Group>
            <Button type="submit" leftSection={<IconPlus size={16} />}>
              Add this row
            </Button>
            {others.length > 0 && (
              <Button variant="subtle" onClick={() => setMore(!more)} aria-expanded={more}>
                {more ? "Fewer questions" : `${others.length} more questions`}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}
