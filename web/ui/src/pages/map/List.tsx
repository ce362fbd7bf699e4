// The same view in words, for screen readers and small screens: the worst first.
import { Anchor, Box, Button, Group, Stack, Table, Text, TextInput } from "@mantine/core";
import { IconNote, IconSearch, IconUnlink } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import type { TreeItem } from "../../api";
import { Empty } from "../../parts/Page";
import { StatusIcon, StatusText, statusName, statusRank } from "../../parts/StatusIcon";
import { Age } from "../../parts/Time";
import { brokenSaying, linkSaying } from "./Elements";
import { countsOf, pageOf, wayInto } from "./Icon";
import { arrange, isShortcut, keyOf, kindName, labelText, placeable, type Scene } from "./scene";

const portion = 200;
const byName = new Intl.Collator();

export function List({
  view,
  items,
  onChoose,
}: {
  view: TreeItem;
  items: TreeItem[];
  onChoose: (key: string) => void;
}) {
  const [text, setText] = useState("");
  const [shown, setShown] = useState(portion);
  const scene = useMemo(() => arrange(view, items, 450), [view, items]);
  const found = useMemo(() => {
    const wanted = text.toLocaleLowerCase();
    return items
      .filter((i) => (i.kind !== "element" || isShortcut(i)) && i.name.toLocaleLowerCase().includes(wanted))
      .sort((a, b) => statusRank(b.status) - statusRank(a.status) || byName.compare(a.name, b.name));
  }, [items, text]);
  return (
    <Stack gap="sm">
      {items.length > 12 && (
        <TextInput
          aria-label="Find in this view"
          placeholder="Find in this view"
          leftSection={<IconSearch size={16} />}
          value={text}
          data-search
          onChange={(e) => setText(e.currentTarget.value)}
        />
      )}
      {found.length === 0 ? (
        <Empty title={text ? "Nothing in this view matches this name" : "This view has no monitored items"} />
      ) : (
        <Table.ScrollContainer minWidth={0} className="card" aria-label={`List of ${view.name}`}>
          <Table verticalSpacing={6} layout="auto">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>
                  <Box visibleFrom="sm">Status</Box>
                </Table.Th>
                <Table.Th>Name</Table.Th>
                <Table.Th visibleFrom="sm">Kind</Table.Th>
                <Table.Th visibleFrom="sm">Inside</Table.Th>
                <Table.Th visibleFrom="sm">For</Table.Th>
                <Table.Th visibleFrom="sm">Place (top, left)</Table.Th>
                <Table.Th>
                  <span className="map-unseen">Details</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {found.slice(0, shown).map((i) => (
                <ItemRow key={keyOf(i)} item={i} place={placeOf(view, i)} onChoose={onChoose} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {found.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + portion)}>
          Show {Math.min(portion, found.length - shown)} more of {found.length}
        </Button>
      )}
      <Drawn scene={scene} items={items} />
    </Stack>
  );
}

function placeOf(view: TreeItem, i: TreeItem): string {
  if (view.autoarrange === "linear") return "arranged";
  if (!placeable(i)) return "where there is room";
  return i.posx === undefined || i.posy === undefined ? "no place" : `${i.posx}, ${i.posy}`;
}

function ItemRow({ item, place, onChoose }: { item: TreeItem; place: string; onChoose: (key: string) => void }) {
  const way = wayInto(item) ?? pageOf(item);
  const inside = countsOf(item);
  const shown = { status: item.status, acknowledged: item.acknowledged, isunmanaged: item.isunmanaged };
  return (
    <Table.Tr data-item={item.name}>
      <Table.Td>
        {item.broken ? (
          <Group gap={6} wrap="nowrap" c="var(--mantine-color-error)">
            <IconUnlink size={16} aria-label="Broken" />
            <Box visibleFrom="sm">Broken</Box>
          </Group>
        ) : (
          <>
            <Box visibleFrom="sm">
              <StatusText {...shown} size={16} />
            </Box>
            <Box hiddenFrom="sm">
              <StatusIcon {...shown} size={22} />
            </Box>
          </>
        )}
      </Table.Td>
      <Table.Td>
        {way ? (
          <Anchor component={Link} href={way} className="name" size="sm">
            {item.name}
          </Anchor>
        ) : (
          <Text span size="sm" className="name">
            {item.name}
          </Text>
        )}
        {item.note && <IconNote size={14} role="img" aria-label="has a note" style={{ marginLeft: 4 }} />}
        {isShortcut(item) && (
          <Text size="xs" c="dimmed" className="name">
            shortcut to {item.answers?.target}
            {item.broken && ", which has been removed"}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{kindName(item)}</Table.Td>
      <Table.Td visibleFrom="sm" className="number">
        {inside.length ? (
          <Group gap={8}>
            {inside.map(([s, n]) => (
              <span key={s} title={statusName(s)} style={{ whiteSpace: "nowrap" }}>
                <StatusIcon status={s} size={13} /> {n}
              </span>
            ))}
          </Group>
        ) : (
          "–"
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Age at={item.since} />
      </Table.Td>
      <Table.Td visibleFrom="sm" className="number">
        {place}
      </Table.Td>
      <Table.Td>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => onChoose(keyOf(item))}
          aria-label={`Details of ${item.name}`}
        >
          Details
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

/** Drawn lists what is drawn beside the items. */
function Drawn({ scene, items }: { scene: Scene; items: TreeItem[] }) {
  const texts = items.filter((i) => i.kind === "element" && i.package === "label").map(labelText);
  const lines = [
    ...scene.lines.map((l) => linkSaying(l.item, l.status)),
    ...scene.stubs.map((s) => `${linkSaying(s.item)}: broken, ${brokenSaying(s.item)}`),
    ...scene.loose.map((i) =>
      i.broken ? `${linkSaying(i)}: broken, ${brokenSaying(i)}` : `${linkSaying(i)}; one of them is not in this view`,
    ),
  ];
  const pictures = scene.pictures.map((s) => s.item.name);
  if (!texts.length && !lines.length && !pictures.length) return null;
  return (
    <Stack gap={4}>
      <Text fw={600} size="sm">
        Also drawn
      </Text>
      {texts.length > 0 && <Line what="Labels" all={texts} />}
      {lines.length > 0 && <Line what="Links" all={lines} />}
      {pictures.length > 0 && <Line what="Pictures" all={pictures} />}
    </Stack>
  );
}

const Line = ({ what, all }: { what: string; all: string[] }) => (
  <Text size="sm" c="dimmed" className="name">
    {what}: {all.join(" · ")}
  </Text>
);
