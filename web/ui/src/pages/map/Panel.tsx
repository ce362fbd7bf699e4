// What is known of the item that was clicked, and what can be done about it.
import { Anchor, Button, CloseButton, Group, Paper, Stack, Text } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Kind, TreeItem } from "../../api";
import { ActionButtons } from "../../parts/Actions";
import type { ActionItem } from "../../parts/actions/item";
import { StatusText } from "../../parts/StatusIcon";
import { Age, localTimes, Time } from "../../parts/Time";
import { Counts, pageOf, wayInto } from "./Icon";
import { isShortcut, kindName } from "./scene";
import type { Target } from "./tree";

function actionItem(i: TreeItem, target?: Target): ActionItem | undefined {
  if (isShortcut(i)) return target;
  if (i.kind === "element") return undefined;
  const { name, resource, status, acknowledged, isunmanaged } = i;
  return { kind: i.kind as Kind, name, resource, status, acknowledged, isunmanaged };
}

/** PanelFrame is shown beside the drawing, on a phone below it. */
export function PanelFrame({ item, onClose, children }: { item: TreeItem; onClose: () => void; children: ReactNode }) {
  return (
    <Paper withBorder shadow="md" p="sm" className="map-panel" component="section" aria-label={`About ${item.name}`}>
      <Stack gap="xs">
        <Group justify="space-between" align="flex-start" wrap="nowrap" gap="xs">
          <div>
            <Text fw={650} className="name" lh={1.3}>
              {item.name}
            </Text>
            <Text size="xs" c="dimmed">
              {kindName(item)}
              {item.class && item.class !== "generic" ? ` · ${item.class}` : ""}
            </Text>
          </div>
          <CloseButton size="sm" onClick={onClose} aria-label="Close the panel" />
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}

export function Panel({
  item,
  target,
  onClose,
  onDone,
}: {
  item: TreeItem;
  target?: Target;
  onClose: () => void;
  onDone: () => void;
}) {
  const into = wayInto(item);
  const page = pageOf(item, target);
  const about = actionItem(item, target);
  return (
    <PanelFrame item={item} onClose={onClose}>
      {about ? (
        <Group gap="xs" wrap="nowrap">
          <StatusText {...about} />
          {item.since && (
            <Text size="sm" c="dimmed">
              for <Age at={item.since} />
            </Text>
          )}
        </Group>
      ) : (
        isShortcut(item) && (
          <Text size="sm" className="name">
            It leads to {item.answers?.target}, which {item.broken ? "has been removed" : "is not there (any more)"}.
          </Text>
        )
      )}
      {item.info && (
        <Text size="sm" className="name">
          {localTimes(item.info)}
        </Text>
      )}
      <Facts item={item} />
      <Group gap="xs">
        {into && about && (
          <Button size="xs" component={Link} href={into} rightSection={<IconArrowRight size={14} />}>
            Enter
          </Button>
        )}
        {page && (
          <Button size="xs" variant="default" component={Link} href={page}>
            Open its page
          </Button>
        )}
      </Group>
      {about && <ActionButtons items={[about]} compact onDone={onDone} />}
    </PanelFrame>
  );
}

function Facts({ item }: { item: TreeItem }) {
  const hasCounts = item.counts && Object.values(item.counts).some((n) => n > 0);
  return (
    <>
      {hasCounts && (
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            Inside
          </Text>
          <Counts item={item} size={14} />
        </Group>
      )}
      {item.lastdata && (
        <Text size="sm" c="dimmed">
          Last data <Time at={item.lastdata} />
        </Text>
      )}
      {item.note && (
        <Text size="sm" className="name">
          <Text span c="dimmed" inherit>
            Note:{" "}
          </Text>
          {item.note}
        </Text>
      )}
      {isShortcut(item) && !item.broken && (
        <Text size="sm" className="name">
          <Text span c="dimmed" inherit>
            Leads to{" "}
          </Text>
          <Anchor component={Link} href={wayInto(item) ?? ""} inherit>
            {item.answers?.target}
          </Anchor>
        </Text>
      )}
    </>
  );
}
