import { Anchor, Button, Group, List, Paper, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { Link } from "wouter";
import { link } from "../links";
import { useMay } from "../session";
import { Arrival, useFirst } from "./Arrival";
import { MakeKey } from "./MakeKey";
import { SendFirst } from "./SendFirst";

export default function Steps({
  card = false,
  onAway,
  onLeave,
}: {
  card?: boolean;
  /** Put away for good. */
  onAway?: () => void;
  /** A link leads away. */
  onLeave?: () => void;
}) {
  const may = useMay();
  const [key, setKey] = useState("");
  const first = useFirst();
  const arrived = first.data !== undefined && first.data !== null;
  const steps = (
    <Stack gap="lg" component="ol" p={0} m={0} style={{ listStyle: "none" }}>
      <Step n={1} title="Make a key" done={key !== ""}>
        {may.administer ? (
          <MakeKey made={key} onMade={setKey} />
        ) : (
          <Text size="sm">Programs send data with a key. An administrator makes one under Parameters.</Text>
        )}
      </Step>
      <Step n={2} title="Send a first value" done={arrived}>
        <SendFirst apiKey={key} onSent={() => first.refetch()} />
      </Step>
      <Step n={3} title="See it on a chart" done={arrived}>
        <Arrival first={first} onLeave={onLeave} />
      </Step>
      <Step n={4} title="Next steps" done={false}>
        <List size="sm" spacing={4}>
          <Next to={link.parameters("classes")} label="Say what is good and bad" onLeave={onLeave}>
            thresholds in a class turn values into a status
          </Next>
          <Next to={link.provisioning()} label="Add your resources" onLeave={onLeave}>
            resources, views and objects from a file
          </Next>
          <Next to={link.map()} label="Draw a map" onLeave={onLeave}>
            views that your team knows
          </Next>
          {may.administer && (
            <Next to={link.parameters("users")} label="Let others in" onLeave={onLeave}>
              viewers, operators, administrators
            </Next>
          )}
        </List>
      </Step>
    </Stack>
  );
  if (!card) return steps;
  return (
    <Paper
      className="card"
      p={{ base: "md", sm: "lg" }}
      component="section"
      aria-label="First steps"
      style={{ overflowY: "auto" }}
      maw={900}
    >
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <div>
            <Title order={2} size="h3">
              First steps
            </Title>
            <Text size="sm" c="dimmed">
              {arrived ? "Something is monitored now." : "Nothing is monitored yet. In two minutes something will be."}
            </Text>
          </div>
          <Button
            variant={arrived ? "filled" : "subtle"}
            size="compact-sm"
            leftSection={arrived ? <IconCheck size={14} /> : <IconX size={14} />}
            onClick={onAway}
            style={{ flex: "none" }}
          >
            {arrived ? "Done" : "Put away"}
          </Button>
        </Group>
        {steps}
      </Stack>
    </Paper>
  );
}

function Step({ n, title, done, children }: { n: number; title: string; done: boolean; children: ReactNode }) {
  return (
    <li>
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <ThemeIcon
          radius="xl"
          size={26}
          variant={done ? "filled" : "default"}
          aria-label={done ? "Done" : `Step ${n}`}
          role="img"
        >
          {done ? <IconCheck size={16} /> : <span className="number">{n}</span>}
        </ThemeIcon>
        <Stack gap="xs" style={{ flexGrow: 1, minWidth: 0 }}>
          <Text fw={600} lh="26px">
            {title}
          </Text>
          {children}
        </Stack>
      </Group>
    </li>
  );
}

function Next({ to, label, children, onLeave }: { to: string; label: string; children: string; onLeave?: () => void }) {
  return (
    <List.Item>
      <Anchor component={Link} href={to} size="sm" underline="always" onClick={onLeave}>
        {label}
      </Anchor>
      : {children}
    </List.Item>
  );
}
