// What is wrong around the service, the longest first: what it is, since when, and what it keeps from working. Some faults
// stay until an administrator confirms them.
import { Button, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { confirmFault, type Health } from "../../api";
import { Age, Time } from "../../parts/Time";
import { Confirm } from "./Confirm";
import { notify } from "./notify";

type Fault = Health["faults"][number];

interface Question {
  action: string;
  title: string;
  follows: string;
  done: string;
}

/** The faults that can be confirmed, by their ids. */
const questions: Record<string, Question> = {
  journal_loss: {
    action: "Confirm the loss",
    title: "Confirm that these rows are lost?",
    follows:
      "Queries over that time are answered again, without the rows that are missing. If you have a backup of the whole data folder, restore it instead.",
    done: "The loss is confirmed.",
  },
  clock: {
    action: "Confirm the clock",
    title: "Confirm that the clock is right?",
    follows: "The service accepts the clock as it is. Data that have expired by it are deleted permanently.",
    done: "The clock is confirmed.",
  },
};

export function Faults({ of: faults }: { of: Health["faults"] }) {
  const [asking, setAsking] = useState<Fault>();
  if (!faults.length) return null;
  return (
    <Stack gap="sm" component="section" aria-label="Faults">
      <Title order={2} size="h4">
        {faults.length === 1 ? "1 fault" : `${faults.length} faults`}
      </Title>
      {faults.map((f) => (
        <article key={f.id} className="fault" data-blocks={f.blocks || undefined} aria-label={f.id}>
          <IconAlertTriangle size={20} className="fault-sign" />
          <div className="fault-text">
            <Text fw={600} className="name">
              {f.message}
            </Text>
            <Text size="sm" c="dimmed">
              Since <Time at={f.since} />, for <Age at={f.since} />.{" "}
              {f.blocks ? "Until it ends, data is refused or cannot be queried." : "Everything else continues to work."}{" "}
              <span className="name">({f.id})</span>
            </Text>
            {questions[f.id] && (
              <Button variant="default" mt="xs" onClick={() => setAsking(f)}>
                {questions[f.id]?.action}
              </Button>
            )}
          </div>
        </article>
      ))}
      {asking && <Asking fault={asking} onClose={() => setAsking(undefined)} />}
    </Stack>
  );
}

function Asking({ fault, onClose }: { fault: Fault; onClose: () => void }) {
  const client = useQueryClient();
  const q = questions[fault.id];
  if (!q) return null;
  const go = async () => {
    await confirmFault(fault.id);
    notify(q.done);
    await client.invalidateQueries({ queryKey: ["health"] });
  };
  return (
    <Confirm title={q.title} action={q.action} onDo={go} onClose={onClose}>
      <Text className="name" size="sm">
        {fault.message}
      </Text>
      <Text mt="xs">{q.follows}</Text>
    </Confirm>
  );
}
