// The columns of a sheet, looked at before anything else: a column the service does not know is named at once, and can be given
// its right name or be left out.
import { Alert, Badge, Group, Select, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Question } from "../../api";
import { Failure } from "../../parts/Page";
import { checkHeader, type Options } from "./run";
import { clean, type Sheet } from "./sheet";

/** useHeader is what the service says about the header: null when it is right, undefined as long as no one knows. */
export function useHeader(sheet: Sheet | null, o: Options) {
  const header = sheet?.header() ?? "";
  return useQuery({
    queryKey: ["header", o.task, o.pkg, header],
    queryFn: ({ signal }) => (sheet ? checkHeader(sheet, o, signal) : null),
    enabled: sheet !== null,
    staleTime: 60_000,
  });
}

const leaveOut = "\u0000";

export function Header({
  sheet,
  columns,
  check,
  onSheet,
}: {
  sheet: Sheet;
  columns: Question[];
  check: ReturnType<typeof useHeader>;
  onSheet: (s: Sheet) => void;
}) {
  const message = check.data;
  const known = new Set(columns.map((c) => c.name));
  const used = new Set(sheet.columns.filter((c) => c !== null).map(clean));
  const free = columns.filter((c) => !used.has(c.name)).map((c) => c.name);
  const doubtful = (at: number) => {
    const c = sheet.columns[at];
    const g = sheet.given[at] ?? "";
    if (c === null || c === undefined || c !== g) return true; // changed by hand, so it can be changed again
    return !known.has(clean(c)) || sheet.columns.findIndex((o) => o !== null && clean(o) === clean(c)) < at;
  };
  if (check.error) return <Failure error={check.error} retry={() => check.refetch()} />;
  const many = sheet.given.length > 60; // not a header, more likely
  const odd = many ? [] : sheet.given.map((_, i) => i).filter(doubtful);
  if (message === null && odd.length === 0) return null;
  if (message === undefined && odd.length === 0) return null;
  const body = (
    <Stack gap="xs">
      {message && (
        <Text size="sm" className="name">
          {message}
        </Text>
      )}
      {odd.map((at) => (
        <Group key={at} gap="xs">
          <Badge variant="default" tt="none" maw={240} title={sheet.given[at]}>
            {sheet.given[at] || "(without a name)"}
          </Badge>
          <Select
            aria-label={`What the column ${sheet.given[at]} is`}
            size="xs"
            w={220}
            placeholder="is …"
            value={
              sheet.columns[at] === null
                ? leaveOut
                : known.has(clean(sheet.columns[at] ?? ""))
                  ? clean(sheet.columns[at] ?? "")
                  : null
            }
            data={[
              ...[
                ...new Set([...(sheet.columns[at] ? [clean(sheet.columns[at] ?? "")] : []), ...sorted(free, message)]),
              ]
                .filter((c) => known.has(c))
                .map((c) => ({ value: c, label: c })),
              { value: leaveOut, label: "left out" },
            ]}
            onChange={(v) => v && onSheet(sheet.rename(at, v === leaveOut ? null : v))}
          />
        </Group>
      ))}
    </Stack>
  );
  if (!message) return body;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title="The columns are not right yet" role="alert">
      {body}
    </Alert>
  );
}

/** sorted puts the column first that the service has named as the nearest. */
function sorted(names: string[], message?: string | null): string[] {
  const said = (n: string) => (message?.includes(`"${n}"`) ? 0 : 1);
  return [...names].sort((a, b) => said(a) - said(b));
}
