// What is around every page: the menu, how many objects have which status, the palette, the person.
import {
  ActionIcon,
  Anchor,
  AppShell,
  Burger,
  Group,
  Menu,
  NavLink,
  Text,
  Tooltip,
  UnstyledButton,
  useMantineColorScheme,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconKeyboard, IconLogout, IconMoon, IconSearch, IconSparkles, IconSun, IconUser } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useLayoutEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { mayWrite, type Status, session } from "./api";
import { link } from "./links";
import { useLive } from "./live";
import { Bell } from "./parts/Bell";
import { Boundary } from "./parts/Boundary";
import { Faults } from "./parts/faults";
import { later, Opening } from "./parts/later";
import { usePaced } from "./parts/pacer";
import { StatusIcon, statuses, statusName } from "./parts/StatusIcon";
import { Strips } from "./parts/Strips";
import { recount, useSummary } from "./parts/summary";
import { type Section, sections } from "./sections";
import { usePerson } from "./session";

const Palette = later(() => import("./palette"), Opening);
const Shortcuts = later(() => import("./shortcuts"), Opening);
const Tour = later(() => import("./tour/Dialog"), Opening);

export function Shell({ children }: { children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure();
  const [palette, setPalette] = useState<string>(); // what was typed into it; undefined while it is closed
  const [help, setHelp] = useState(false);
  const [tour, setTour] = useState(false);
  const search = () => setPalette((text) => text ?? "");
  useKeys(search, () => setHelp(true));
  useTyped(palette !== undefined, setPalette);
  const closeDialogs = () => {
    setPalette(undefined);
    setHelp(false);
    setTour(false);
  };
  return (
    <AppShell header={{ height: 52 }} navbar={{ width: 200, breakpoint: "sm", collapsed: { mobile: !opened } }}>
      <AppShell.Header px="sm">
        <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? "Close the menu" : "Open the menu"}
            />
            <Anchor component={Link} href="/" underline="never" c="inherit" aria-label="Belfry, start page">
              <Group gap={6} wrap="nowrap">
                <Bell />
                <Text fw={700} visibleFrom="sm">
                  Belfry
                </Text>
              </Group>
            </Anchor>
          </Group>
          <Summary />
          <Group gap={4} wrap="nowrap">
            <Faults />
            <Tooltip label="Search and commands (Ctrl-K)">
              <ActionIcon variant="subtle" color="gray" size="lg" onClick={search} aria-label="Search and commands">
                <IconSearch size={18} />
              </ActionIcon>
            </Tooltip>
            <PersonMenu onHelp={() => setHelp(true)} onTour={() => setTour(true)} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" component="nav" aria-label="Sections">
        {sections.map((s) => (
          <SectionLink key={s.path} section={s} onClick={close} />
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <a href="#page" className="skip">
          Skip to the page
        </a>
        <Strips />
        <div id="page">{children}</div>
      </AppShell.Main>
      <Boundary of="dialog" onClose={closeDialogs} place={`${palette !== undefined} ${help} ${tour}`}>
        {palette !== undefined && <Palette text={palette} onText={setPalette} onClose={() => setPalette(undefined)} />}
        {help && <Shortcuts onClose={() => setHelp(false)} />}
        {tour && <Tour onClose={() => setTour(false)} />}
      </Boundary>
    </AppShell>
  );
}

function SectionLink({ section, onClick }: { section: Section; onClick: () => void }) {
  const [path] = useLocation();
  const Icon = section.icon;
  return (
    <NavLink
      component={Link}
      href={section.path}
      label={section.label}
      leftSection={<Icon size={18} />}
      active={path === section.path || path.startsWith(`${section.path}/`)}
      onClick={onClick}
    />
  );
}

/** Summary counts the objects by status, in every page's sight. */
function Summary() {
  const counts = useSummary();
  const again = usePaced(() => {
    if (!recount()) again();
  }, 2000);
  useLive({
    status: again,
    event: (events) => {
      if (events.some((e) => e.type === "configuration")) again();
    },
    resync: again,
  });
  const of = (s: Status) => counts?.get(s) ?? 0;
  const n = (s: Status) => (counts ? of(s).toLocaleString() : "–"); // no one knows is not none
  return (
    <Group gap="xs" wrap="nowrap" component="section" aria-label="Objects by status" style={{ overflow: "hidden" }}>
      {statuses
        .filter((s) => s !== "?" || of(s))
        .map((s) => (
          <UnstyledButton
            key={s}
            component={Link}
            href={link.status({ status: s })}
            aria-label={`${n(s)} ${statusName(s)}`}
            title={`${n(s)} of all objects are ${statusName(s)}`}
            visibleFrom={s === "0" || s === "?" ? "sm" : undefined}
            style={{ opacity: of(s) ? 1 : 0.45 }}
          >
            <Group gap={4} wrap="nowrap">
              <StatusIcon status={s} size={16} label={false} />
              <Text size="sm" fw={600} className="number">
                {n(s)}
              </Text>
            </Group>
          </UnstyledButton>
        ))}
    </Group>
  );
}

function PersonMenu({ onHelp, onTour }: { onHelp: () => void; onTour: () => void }) {
  const person = usePerson();
  const client = useQueryClient();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const dark = document.documentElement.getAttribute("data-mantine-color-scheme") === "dark";
  const leave = async () => {
    try {
      await session.logOut();
    } finally {
      client.clear();
      location.assign("/ui/");
    }
  };
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={`You are ${person.user}: account and appearance`}
        >
          <IconUser size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <span className="name">
            {person.user}, {person.role}
            <br />
            {person.customer}
          </span>
        </Menu.Label>
        <Menu.Item component={Link} href={link.parameters("account")} leftSection={<IconUser size={16} />}>
          Account
        </Menu.Item>
        <Menu.Item
          leftSection={dark ? <IconSun size={16} /> : <IconMoon size={16} />}
          onClick={() => setColorScheme(dark ? "light" : "dark")}
        >
          {dark ? "Light" : "Dark"}
        </Menu.Item>
        {colorScheme !== "auto" && <Menu.Item onClick={() => setColorScheme("auto")}>As the system has it</Menu.Item>}
        <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={onHelp}>
          Shortcuts
        </Menu.Item>
        {mayWrite(person) && (
          <Menu.Item leftSection={<IconSparkles size={16} />} onClick={onTour}>
            First steps
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={leave}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/**
 * useTyped keeps what is typed while the palette is on its way. Without it the page behind would take each letter for a
 * shortcut.
 */
function useTyped(open: boolean, set: (change: (text?: string) => string | undefined) => void) {
  useLayoutEffect(() => {
    if (!open) return;
    const down = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || (e.target as HTMLElement).closest("[role=dialog]")) return;
      if (e.key === "Escape") set(() => undefined);
      else if (e.key === "Backspace") set((text) => text?.slice(0, -1));
      else if (e.key.length === 1) set((text) => (text !== undefined ? text + e.key : text));
      e.preventDefault();
      e.stopPropagation();
    };
    window.addEventListener("keydown", down, true);
    return () => window.removeEventListener("keydown", down, true);
  }, [open, set]);
}

/** useKeys listens for Ctrl-K, ?, / and g followed by the letter of a section, unless someone is typing. */
function useKeys(onPalette: () => void, onHelp: () => void) {
  const [, go] = useLocation();
  useEffect(() => {
    let g = Number.NEGATIVE_INFINITY; // when it was pressed; 0 is when the page was opened
    const down = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        onPalette();
        return;
      }
      const at = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName))
        return;
      if (document.querySelector("[role=dialog], [data-opening]")) return;
      if (e.key === "?") onHelp();
      else if (e.key === "/") {
        const search = document.querySelector<HTMLInputElement>("[data-search]");
        if (search) {
          e.preventDefault();
          search.focus();
        }
      } else if (e.key === "g") g = e.timeStamp;
      else if (e.timeStamp - g < 1500) {
        g = Number.NEGATIVE_INFINITY;
        const s = sections.find((s) => s.key === e.key);
        if (s) go(s.path);
      }
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  }, [onPalette, onHelp, go]);
}
