// What exists of a package, as the CSV that would make it again.
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { IconDownload, IconPencil, IconSearch, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo, useState } from "react";
import { type Package, provisioning } from "../../api";
import { Empty, Failure, Waiting } from "../../parts/Page";
import { useMay } from "../../session";
import { download } from "./file";
import { Rows } from "./Rows";
import { Sheet } from "./sheet";

export function Export({
  pkg,
  onEdit,
  onRemove,
}: {
  pkg: Package;
  onEdit: (s: Sheet) => void;
  onRemove: (s: Sheet) => void;
}) {
  const may = useMay();
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const asked = useQuery({
    queryKey: ["export", pkg.name],
    queryFn: async ({ signal }) => {
      const csv = await provisioning.export(pkg.name, signal);
      return { csv, sheet: await Sheet.read(`${pkg.name}.csv`, csv, undefined, signal) };
    },
    staleTime: 0,
    gcTime: 0, // it may be large
  });
  const all = asked.data?.sheet ?? null;
  const shown = useMemo(() => (all && wanted ? filtered(all, wanted) : all), [all, wanted]);
  if (asked.isPending) return <Waiting what="Reading what exists…" />;
  if (asked.error) return <Failure error={asked.error} retry={() => asked.refetch()} />;
  if (!all || !shown || all.count === 0)
    return (
      <Empty title={`There is no ${pkg.name} yet`}>
        {may.write && "Add some: from a file, pasted, or with the form."}
      </Empty>
    );
  return (
    <Stack gap="sm">
      <Group gap="xs" align="flex-end">
        <TextInput
          data-search
          aria-label="Only rows with this text"
          placeholder="Only rows with…"
          leftSection={<IconSearch size={16} />}
          value={text}
          onChange={(e) => setText(e.currentTarget.value)}
          style={{ flexGrow: 1 }}
          maw={360}
        />
        <Button
          variant="default"
          leftSection={<IconDownload size={16} />}
          onClick={() =>
            download(
              `${pkg.name}.csv`,
              wanted ? shown.take(Array.from({ length: shown.count }, (_, i) => i)) : asked.data.csv,
            )
          }
        >
          Download
        </Button>
        {may.write && (
          <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => onEdit(shown)}>
            Edit and send back
          </Button>
        )}
        {may.administer && (
          <Button
            variant="default"
            leftSection={<IconTrash size={16} />}
            onClick={() => onRemove(forRemoval(shown, pkg))}
          >
            Choose for removal
          </Button>
        )}
      </Group>
      {shown.count === 0 ? (
        <Empty title="No row contains this text" />
      ) : (
        <Rows sheet={shown} faults={[]} secrets={new Set()} only="all" onOnly={() => {}} />
      )}
    </Stack>
  );
}

/** filtered is the rows that hold a text. */
function filtered(all: Sheet, wanted: string): Sheet {
  const rows: string[][] = [];
  for (let i = 0; i < all.count; i++) if (all.raw(i).toLowerCase().includes(wanted)) rows.push(all.cells(i));
  return Sheet.of(all.source, [...all.given], rows);
}

/** forRemoval keeps what a removal needs: which, and in which resource. */
function forRemoval(all: Sheet, pkg: Package): Sheet {
  const columns = pkg.kind === "object" || pkg.kind === "view" ? ["name", "resname"] : ["name"];
  const rows: string[][] = [];
  for (let i = 0; i < all.count; i++) rows.push(columns.map((c) => all.value(i, c)));
  return Sheet.of(`Removal of ${pkg.name}`, columns, rows);
}
