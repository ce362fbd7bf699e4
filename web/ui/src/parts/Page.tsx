// The frame of a page: its title, what can be done on it, and what is shown while there is nothing to show.
import { Alert, Button, Center, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type ReactNode, useEffect } from "react";
import { ApiError } from "../api";
import { pageNow } from "../clock";
import { useLost } from "../live";
import { visible } from "../shown/visible";
import { usePrinting } from "./printing";

export function Page({
  title,
  tools,
  before,
  fill,
  children,
}: {
  title: ReactNode;
  tools?: ReactNode;
  before?: ReactNode;
  /** As high as the window, for pages that scroll inside. */
  fill?: boolean;
  children: ReactNode;
}) {
  const printing = usePrinting();
  useEffect(() => {
    document.title = typeof title === "string" ? `${visible(title)} · Belfry` : "Belfry";
  }, [title]);
  return (
    <Stack
      gap={fill ? "sm" : "md"}
      p={printing ? 0 : { base: "sm", sm: "lg" }}
      h={fill && !printing ? "calc(100dvh - 52px - var(--strips, 0px))" : undefined}
    >
      {before}
      <Group justify="space-between" align="flex-start" gap="sm">
        <Title order={1} size="h2" className="name">
          {title}
        </Title>
        {tools && (
          <Group gap="xs" className="off-paper">
            {tools}
          </Group>
        )}
      </Group>
      {printing && (
        <Text size="sm" className="name printed-when">
          {moment.format(pageNow())} · {location.href}
        </Text>
      )}
      {children}
    </Stack>
  );
}

/** On paper there is the time of printing, because the page may be read much later. */
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

export function Waiting({ what }: { what?: string }) {
  const lost = useLost();
  return (
    <Center p="xl" role="status" aria-live="polite">
      <Group gap="sm">
        <Loader size="sm" />
        <Text c="dimmed">{lost && !lost.reads ? "Waiting for the service…" : (what ?? "Loading…")}</Text>
      </Group>
    </Center>
  );
}

/** Empty says that there is nothing, and what to do about it. */
export function Empty({ title, children, icon }: { title: string; children?: ReactNode; icon?: ReactNode }) {
  return (
    <Center p="xl">
      <Stack align="center" gap="xs" maw={480} miw={0} ta="center">
        {icon}
        <Text fw={600}>{title}</Text>
        {children && (
          <Text c="dimmed" component="div" maw="100%" className="advice">
            {children}
          </Text>
        )}
      </Stack>
    </Center>
  );
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Failure shows what the service said, word for word: its messages name the value, the place and the remedy. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const code = error instanceof ApiError && error.code !== "unreachable" ? error.code : undefined;
  return (
    <Alert
      variant="light"
      color="red"
      icon={<IconAlertTriangle />}
      title={code ? `The request failed (${code})` : "The request failed"}
      role="alert"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm" className="name">
          {messageOf(error)}
        </Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
