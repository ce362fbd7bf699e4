// Choosing a package: what each is for, and its columns.
import {
  Button,
  Code,
  Collapse,
  Group,
  NavLink,
  Paper,
  Select,
  SimpleGrid,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Package, Question } from "../../api";
import { link } from "../../links";
import { Empty } from "../../parts/Page";
import { within } from "./Field";

const groups: [Package["kind"], string][] = [
  ["resource", "Resources"],
  ["element", "Drawn in views"],
  ["view", "Views"],
  ["object", "Objects"],
];

/** PackageList is the first step: every package with what it is for. */
export function PackageList({ packages }: { packages: Package[] }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const found = packages.filter((p) =>
    [p.name, p.help, ...p.columns.map((c) => c.name)].some((t) => t.toLowerCase().includes(wanted)),
  );
  return (
    <Stack gap="md">
      <TextInput
        data-search
        label="What do you want to provision?"
        placeholder="A package, or a column of it"
        leftSection={<IconSearch size={16} />}
        value={text}
        onChange={(e) => setText(e.currentTarget.value)}
        maw={480}
      />
      {found.length === 0 && <Empty title="No package matches" />}
      <SimpleGrid cols={{ base: 1, md: 2 }} style={{ alignItems: "start" }}>
        {groups.map(([kind, label]) => {
          const of = found.filter((p) => p.kind === kind);
          if (of.length === 0) return null;
          return (
            <Paper key={kind} className="card" p="xs" component="section" aria-label={label}>
              <Text size="sm" c="dimmed" fw={600} px="sm" py={4}>
                {label}
              </Text>
              {of.map((p) => (
                <NavLink
                  key={p.name}
                  component={Link}
                  href={link.provisioning(p.name)}
                  label={<span className="name">{p.name}</span>}
                  description={p.help}
                />
              ))}
            </Paper>
          );
        })}
      </SimpleGrid>
    </Stack>
  );
}

/** PackageHead says which package it is about, and lets one change it. */
export function PackageHead({
  pkg,
  packages,
  onChoose,
  columns,
}: {
  pkg: Package;
  packages: Package[];
  onChoose: (name: string) => void;
  columns: Question[];
}) {
  const [opened, { toggle }] = useDisclosure();
  return (
    <Paper className="card" p="md">
      <Stack gap="xs">
        <Group align="flex-end" gap="md">
          <Select
            label="Package"
            searchable
            allowDeselect={false}
            value={pkg.name}
            onChange={(v) => v && onChoose(v)}
            data={groups.map(([kind, group]) => ({
              group,
              items: packages.filter((p) => p.kind === kind).map((p) => p.name),
            }))}
            nothingFoundMessage="No such package"
            w={{ base: "100%", xs: 280 }}
          />
          <Button
            variant="subtle"
            onClick={toggle}
            aria-expanded={opened}
            rightSection={<IconChevronDown size={14} style={{ rotate: opened ? "180deg" : undefined }} />}
          >
            {columns.length} columns
          </Button>
        </Group>
        <Text size="sm" className="name">
          {pkg.help}
          {pkg.parts.length > 0 && ` With each come: ${pkg.parts.map((p) => p.name).join(", ")}.`}
        </Text>
        <Collapse expanded={opened}>
          <Columns columns={columns} />
        </Collapse>
      </Stack>
    </Paper>
  );
}

function Columns({ columns }: { columns: Question[] }) {
  return (
    <Table.ScrollContainer minWidth={560} type="native" tabIndex={0} aria-label="Columns of the package">
      <Table withRowBorders verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Column</Table.Th>
            <Table.Th>Takes</Table.Th>
            <Table.Th>Unless given</Table.Th>
            <Table.Th>What for</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {columns.map((c) => (
            <Table.Tr key={c.name}>
              <Table.Td>
                <Code>{c.name}</Code>
                {c.required && (
                  <Text span size="xs" c="dimmed">
                    {" "}
                    required
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                {c.values?.join(", ") ?? [c.type, within(c)].filter(Boolean).join(", ")}
                {c.secret && ", secret"}
              </Table.Td>
              <Table.Td>{c.default ? <Code>{c.default}</Code> : "–"}</Table.Td>
              <Table.Td>{c.help}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

export function StepTitle({ children }: { children: string }) {
  return (
    <Title order={2} size="h4">
      {children}
    </Title>
  );
}
