// Provisioning: choose a package, bring rows, see what they would do, apply them. Or take away, or look at what there is.
import { SegmentedControl, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { type Package, packages, type Question } from "../api";
import { Empty, Failure, Page, Waiting } from "../parts/Page";
import { useMay } from "../session";
import { PackageHead, PackageList } from "./provisioning/Choice";
import { Export } from "./provisioning/Export";
import { Known } from "./provisioning/Field";
import { RowsTask } from "./provisioning/RowsTask";
import type { Way } from "./provisioning/Source";
import type { Sheet } from "./provisioning/sheet";

type Task = "send" | "remove" | "export";

export default function ProvisioningPage() {
  const [params, setParams] = useSearchParams();
  const list = useQuery({ queryKey: ["packages"], queryFn: packages.list, staleTime: 60_000 });
  const wanted = params.get("package") ?? "";
  return (
    <Page title="Provisioning">
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {list.data && !wanted && <PackageList packages={list.data.packages} />}
      {list.data && wanted && (
        <Chosen key={wanted} list={list.data.packages} name={wanted} params={params} setParams={setParams} />
      )}
    </Page>
  );
}

function Chosen({
  list,
  name,
  params,
  setParams,
}: {
  list: Package[];
  name: string;
  params: URLSearchParams;
  setParams: ReturnType<typeof useSearchParams>[1];
}) {
  const may = useMay();
  const [initialSheet, setInitialSheet] = useState<{ task: Task; sheet: Sheet } | null>(null);
  const [round, setRound] = useState(0);
  const pkg = list.find((p) => p.name === name);
  const set = (changes: Record<string, string>) =>
    setParams((old) => {
      const next = new URLSearchParams(old);
      for (const [k, v] of Object.entries(changes)) next.set(k, v);
      return next;
    });
  if (!pkg)
    return (
      <Stack>
        <Empty title={`There is no package ${name}`}>It may have been removed. These exist:</Empty>
        <PackageList packages={list} />
      </Stack>
    );
  const tasks: { value: Task; label: string }[] = [
    ...(may.write ? [{ value: "send" as const, label: "Add or change" }] : []),
    ...(may.administer ? [{ value: "remove" as const, label: "Remove" }] : []),
    { value: "export", label: "Export" },
  ];
  const asked = params.get("do");
  const task = tasks.find((t) => t.value === asked)?.value ?? tasks[0]?.value ?? "export";
  const way = (["file", "paste", "form"] as Way[]).find((w) => w === params.get("way")) ?? "file";
  const columns = task === "remove" ? removalColumns(pkg) : pkg.columns;
  const hand = (to: Task, sheet: Sheet) => {
    setInitialSheet({ task: to, sheet });
    setRound((n) => n + 1);
    set({ do: to, way: "file" });
  };
  return (
    <Stack gap="md">
      <PackageHead pkg={pkg} packages={list} columns={columns} onChoose={(v) => setParams({ package: v, do: task })} />
      {tasks.length > 1 ? (
        <SegmentedControl
          aria-label="What to do"
          value={task}
          onChange={(v) => {
            setInitialSheet(null);
            set({ do: v });
          }}
          data={tasks}
          style={{ alignSelf: "flex-start" }}
        />
      ) : (
        <Text size="sm" c="dimmed">
          You can view the packages. Changing items needs the role operator.
        </Text>
      )}
      {task !== "export" && <Known />}
      {task === "export" ? (
        <Export pkg={pkg} onEdit={(s) => hand("send", s)} onRemove={(s) => hand("remove", s)} />
      ) : (
        <RowsTask
          key={`${task} ${round}`}
          task={task}
          pkg={pkg}
          columns={columns}
          way={way}
          onWay={(w) => set({ way: w })}
          initialSheet={initialSheet?.task === task ? initialSheet.sheet : null}
          onLeave={() => setInitialSheet(null)}
        />
      )}
    </Stack>
  );
}

/** removalColumns are the columns of a removal: name and place. */
function removalColumns(pkg: Package): Question[] {
  const q = (name: string, help: string): Question => ({ name, type: "name", required: false, secret: false, help });
  return [
    q("name", `Which ${pkg.name} to remove; * for all directly in the view.`),
    q("view", "Its parent view; empty for any view."),
    ...(pkg.kind === "object" || pkg.kind === "view" ? [q("resname", "Resource to which it belongs.")] : []),
  ];
}
