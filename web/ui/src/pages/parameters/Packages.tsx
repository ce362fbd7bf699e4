// Packages: what can be provisioned, and what each asks.
import { Anchor, Breadcrumbs, Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconFileImport } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { type Package, packages, type Question } from "../../api";
import { link } from "../../links";
import { Empty, Failure, Page, Waiting } from "../../parts/Page";
import { useMay } from "../../session";
import { Copied } from "./Copy";
import { exampleOf } from "./example";
import { type Column, Find, Rows, useFound } from "./Rows";
import { sourceName } from "./sources";

export default function PackagesPage() {
  const [params] = useSearchParams();
  const list = useQuery({ queryKey: ["packages"], queryFn: packages.list, staleTime: 60_000 });
  const found = useFound();
  const name = params.get("package");
  const one = list.data?.packages.find((p) => p.name === name);
  if (one) return <One of={one} />;
  const shown = list.data?.packages.filter((p) => found.has(p.name, p.help));
  return (
    <Page title="Packages" tools={<Find label="Find a package" />}>
      <Text c="dimmed" size="sm" maw={720}>
        A package says what can be provisioned: which columns its CSV has, and which objects come with each resource.
        Your own are files in the folder <code>packages</code> of the service's data.
      </Text>
      {list.isPending && <Waiting />}
      {list.error && <Failure error={list.error} retry={() => list.refetch()} />}
      {list.data && name && (
        <Failure error={new Error(`There is no package “${name}”. The existing ones are listed below.`)} />
      )}
      {shown?.length === 0 && <Empty title="No package has this name" />}
      {!!shown?.length && <Rows label="Packages" columns={packageColumns} rows={shown} keyOf={(p) => p.name} />}
    </Page>
  );
}

const packageLink = (name: string) => `${link.parameters("packages")}?${new URLSearchParams({ package: name })}`;

const packageColumns: Column<Package>[] = [
  {
    label: "Package",
    cell: (p) => (
      <Anchor component={Link} href={packageLink(p.name)} fw={600} className="name">
        {p.name}
      </Anchor>
    ),
  },
  { label: "Makes", cell: (p) => `${p.kind}s` },
  { label: "What for", cell: (p) => <span className="name">{p.help}</span> },
  {
    label: "Required",
    cell: (p) =>
      p.columns
        .filter((c) => c.required)
        .map((c) => c.name)
        .join(", "),
  },
  { label: "Source", cell: (p) => sourceName[p.source] },
];

function One({ of }: { of: Package }) {
  const may = useMay();
  return (
    <Page
      title={of.name}
      before={
        <Breadcrumbs>
          <Anchor component={Link} href={link.parameters("packages")} size="sm">
            Packages
          </Anchor>
          <Text size="sm">{of.name}</Text>
        </Breadcrumbs>
      }
      tools={
        may.write && (
          <Button component={Link} href={link.provisioning(of.name)} leftSection={<IconFileImport size={16} />}>
            Provision with it
          </Button>
        )
      }
    >
      <Text className="name">{of.help}</Text>
      <Text size="sm" c="dimmed">
        It makes {of.kind}s; {sourceName[of.source]}.
        {of.kind === "resource" &&
          (of.collector ? ` Each resource collects its data itself (${of.collector}).` : " Data come through the API.")}
      </Text>
      <Title order={2} size="h4">
        Columns
      </Title>
      <Rows label="Columns" columns={questionColumns} rows={of.columns} keyOf={(c) => c.name} />
      {of.parts.length > 0 && <Parts of={of} />}
      <Stack gap="xs">
        <Title order={2} size="h4">
          Example
        </Title>
        <Text size="sm" c="dimmed">
          Only the required columns must be present; an empty cell means no value.
        </Text>
        <Copied text={exampleOf(of)} label="Example CSV" />
      </Stack>
    </Page>
  );
}

function Parts({ of }: { of: Package }) {
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Objects that come with each resource
      </Title>
      {of.parts.map((p) => (
        <Group key={p.name} gap="xs">
          <Text size="sm" className="name">
            <i>resource</i> - {p.name}
          </Text>
          <Text size="sm" c="dimmed">
            of class{" "}
            <Anchor component={Link} href={link.class(p.class)} underline="always" className="name">
              {p.class}
            </Anchor>
          </Text>
        </Group>
      ))}
    </Stack>
  );
}

const questionColumns: Column<Question>[] = [
  { label: "Column", cell: (q) => <b className="name">{q.name}</b> },
  { label: "Type", cell: (q) => <span className="name">{typeText(q)}</span> },
  { label: "Required", cell: (q) => (q.required ? "yes" : "no") },
  { label: "Default", cell: (q) => <span className="name">{q.default || "–"}</span> },
  { label: "Secret", cell: (q) => (q.secret ? "yes: never shown again" : "no") },
  { label: "Meaning", cell: (q) => <span className="name">{q.help}</span> },
];

function typeText(q: Question): string {
  if (q.values?.length) return `one of ${q.values.join(", ")}`;
  const range = q.min === undefined ? "" : ` from ${q.min.toLocaleString()} to ${q.max?.toLocaleString()}`;
  return `${q.type}${range}${q.step ? `, divisible by ${q.step}` : ""}`;
}
