// The query behind what a page shows, to be copied: what the interface asks, a script can ask.
import { Button, Code, CopyButton, Group, Popover, Stack, Text } from "@mantine/core";
import { IconCheck, IconCode, IconCopy } from "@tabler/icons-react";

export function AsSql({ q, fq, rows }: { q: string; fq?: string; rows?: number }) {
  const more = [fq && `fq=${fq}`, rows && `rows=${rows}`].filter(Boolean);
  return (
    <Popover position="bottom-end" width="min(90vw, 640px)" withArrow trapFocus>
      <Popover.Target>
        <Button size="compact-sm" variant="subtle" color="gray" c="inherit" leftSection={<IconCode size={14} />}>
          As SQL
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <Code block style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
            {q}
          </Code>
          {more.length > 0 && (
            <Text size="xs" className="name">
              With the parameters {more.join(" and ")}
            </Text>
          )}
          <Group justify="space-between">
            <Text size="xs" c="dimmed">
              For /api/sql and belfry sql
            </Text>
            <CopyButton value={q}>
              {({ copied, copy }) => (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={copy}
                  leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                >
                  {copied ? "Copied" : "Copy"}
                </Button>
              )}
            </CopyButton>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
