// What a dry run says would happen, or what has happened: counts, and the wrong rows beside their own text.
import { Button, Code, Group, Paper, SimpleGrid, Stack, Table, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { download } from "./file";
import { type Duplicate, repeats } from "./repeated";
import { type Fault, type Result, rejectedFile, type Task } from "./run";
import type { Sheet } from "./sheet";

const kinds: [keyof Result["created"], string, string][] = [
  ["resources", "resource", "resources"],
  ["views", "view", "views"],
  ["objects", "object", "objects"],
  ["elements", "element", "elements"],
];

/** made says what was created, by kind. */
export function made(r: Result): string {
  return kinds
    .filter(([k]) => r.created[k] > 0)
    .map(([k, one, many]) => `${r.created[k].toLocaleString()} ${r.created[k] === 1 ? one : many}`)
    .join(", ");
}

export function Counts({ result: r, task, dry }: { result: Result; task: Task; dry: boolean }) {
  const created = Object.values(r.created).reduce((a, b) => a + b, 0);
  const list: [string, number, string?][] =
    task === "remove"
      ? [[dry ? "Would be removed" : "Removed", r.removed]]
      : [
          [dry ? "Would be created" : "Created", created, made(r)],
          [dry ? "Would be changed" : "Changed", r.updated],
          ["As they are", r.unchanged],
        ];
  list.push(["Wrong rows", r.rejected]);
  return (
    <SimpleGrid
      cols={{ base: 2, sm: list.length }}
      spacing="xs"
      component="section"
      aria-label={dry ? "What would change" : "What has changed"}
    >
      {list.map(([label, n, more]) => (
        <Paper key={label} className="card" p="sm">
          <Text size="xs" c="dimmed">
            {label}
          </Text>
          <Text
            fw={650}
            size="xl"
            className="number"
            c={label === "Wrong rows" && n > 0 ? "var(--mantine-color-error)" : undefined}
          >
            {n.toLocaleString()}
          </Text>
          {more && (
            <Text size="xs" c="dimmed">
              {more}
            </Text>
          )}
        </Paper>
      ))}
    </SimpleGrid>
  );
}

/** As many as are read; the rest is in the file of the rejected rows. */
const shown = 200;

export function Faults({
  sheet,
  result,
  secrets,
  duplicates,
  onGo,
}: {
  sheet: Sheet;
  result: Result;
  secrets: Set<string>;
  duplicates: Duplicate[];
  onGo: (f: Fault) => void;
}) {
  const { faults } = result;
  if (faults.length === 0) return null;
  const twice = new Map(duplicates.map((d) => [d.at, repeats(sheet, d)]));
  return (
    <Stack gap="xs">
      <Table.ScrollContainer
        className="card"
        minWidth={300}
        mah={420}
        type="native"
        tabIndex={0}
        aria-label="Wrong rows"
      >
        <Table className="faults" verticalSpacing={6} stickyHeader>
          <Table.Thead visibleFrom="sm">
            <Table.Tr>
              <Table.Th w={80}>Line</Table.Th>
              <Table.Th w={150}>Column</Table.Th>
              <Table.Th>What is wrong, and the row</Table.Th>
              <Table.Th w={90} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {faults.slice(0, shown).map((f) => (
              <Table.Tr key={`${f.at} ${f.column} ${f.code}`}>
                <Table.Td className="number" visibleFrom="sm">
                  {sheet.line(f.at).toLocaleString()}
                </Table.Td>
                <Table.Td visibleFrom="sm" className="name">
                  {f.column ?? "–"}
                  <Text size="xs" c="dimmed">
                    {f.code}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Text size="xs" c="dimmed" hiddenFrom="sm">
                    Line {sheet.line(f.at).toLocaleString()}
                    {f.column && `, ${f.column}`}, {f.code}
                  </Text>
                  <Text size="sm" className="name">
                    {f.message}
                    {twice.has(f.at) && `. ${twice.get(f.at)}.`}
                  </Text>
                  <Code className="name" style={{ display: "inline-block" }}>
                    {clip(secrets.size ? masked(sheet, f.at, secrets) : sheet.raw(f.at))}
                  </Code>
                </Table.Td>
                <Table.Td>
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => onGo(f)}
                    aria-label={`Correct line ${sheet.line(f.at)}`}
                  >
                    Correct
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group gap="sm">
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} />}
          onClick={() => download("rejected.csv", rejectedFile(sheet, result))}
        >
          Wrong rows as CSV
        </Button>
        <Text size="sm" c="dimmed">
          {faults.length > shown && `The first ${shown} of ${faults.length.toLocaleString()} are listed. `}
          {result.unnamed > 0 &&
            `${result.unnamed.toLocaleString()} more rows are wrong; the service names the first hundred. Correct these, and try again.`}
        </Text>
      </Group>
    </Stack>
  );
}

const clip = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

const masked = (sheet: Sheet, at: number, secrets: Set<string>) =>
  sheet.broken(at)
    ? sheet.raw(at)
    : sheet
        .cells(at)
        .map((c, i) => (secrets.has((sheet.columns[i] ?? "").trim().toLowerCase()) && c ? "••••" : c))
        .join(",");
