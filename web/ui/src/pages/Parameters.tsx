// The parameters area: a page for each thing that is set up rather than watched, and the list of them beside it.
import "./parameters/parameters.css";
import { Box, NativeSelect, NavLink, Stack, Text } from "@mantine/core";
import { Link, Redirect, useLocation } from "wouter";
import { link } from "../links";
import { Boundary } from "../parts/Boundary";
import { Empty, Page } from "../parts/Page";
import { useMay, usePerson } from "../session";
import { type Part, parts, type Who } from "./parameters/parts";

export default function ParametersPage() {
  const [path] = useLocation();
  const may = useMay();
  const name = path.split("/")[2] ?? "";
  const allowed = parts.filter((p) => permits(p.who, may));
  if (!name) return <Redirect to={link.parameters(may.administer ? "keys" : "classes")} replace />;
  const part = parts.find((p) => p.path === name);
  return (
    <Box className="parameters">
      <Menu parts={allowed} active={part} />
      <Box className="parameters-page">
        <Content part={part} allowed={!!part && allowed.includes(part)} />
      </Box>
    </Box>
  );
}

function permits(who: Who, may: ReturnType<typeof useMay>): boolean {
  return who === "all" || (who === "administrator" ? may.administer : may.instance);
}

function Content({ part, allowed }: { part?: Part; allowed: boolean }) {
  if (!part)
    return (
      <Page title="Parameters">
        <Empty title="There is no such page">The address may be from an older version.</Empty>
      </Page>
    );
  if (!allowed) return <NotForYou part={part} />;
  return (
    <Boundary of="page" place={part.path}>
      <part.page />
    </Boundary>
  );
}

/** NotForYou explains why someone who followed a link sees nothing. */
function NotForYou({ part }: { part: Part }) {
  const person = usePerson();
  return (
    <Page title={part.label}>
      <Empty
        title={`This page is for ${part.who === "instance" ? "administrators of the whole instance" : "administrators"}`}
      >
        You are logged in as <span className="name">{person.user}</span>, {person.role}. An administrator can do this
        for you, or give you another role.
      </Empty>
    </Page>
  );
}

function Menu({ parts, active }: { parts: Part[]; active?: Part }) {
  const [, go] = useLocation();
  const groups = [...new Set(parts.map((p) => p.group))];
  return (
    <>
      <Box hiddenFrom="md" px="sm" pt="sm">
        <NativeSelect
          aria-label="Page of the parameters"
          value={active?.path ?? ""}
          onChange={(e) => go(link.parameters(e.currentTarget.value))}
          data={[
            ...(active && parts.includes(active)
              ? []
              : [{ value: active?.path ?? "", label: active?.label ?? "Choose…" }]),
            ...groups.map((group) => ({
              group,
              items: parts.filter((p) => p.group === group).map((p) => ({ value: p.path, label: p.label })),
            })),
          ]}
        />
      </Box>
      <Stack component="nav" aria-label="Parameters" visibleFrom="md" gap={2} className="parameters-menu">
        {groups.map((group) => (
          <Box key={group} mb="sm">
            <Text size="xs" c="dimmed" fw={600} px="sm" pb={4}>
              {group}
            </Text>
            {parts
              .filter((p) => p.group === group)
              .map((p) => (
                <NavLink
                  key={p.path}
                  component={Link}
                  href={link.parameters(p.path)}
                  label={p.label}
                  leftSection={<p.icon size={16} />}
                  active={p === active}
                  aria-current={p === active ? "page" : undefined}
                />
              ))}
          </Box>
        ))}
      </Stack>
    </>
  );
}
