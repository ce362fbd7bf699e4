// What is wrong around the service, the longest first: what it is, since when, and what it keeps from working.
import { Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Health } from "../../api";
import { Age, Time } from "../../parts/Time";

export function Faults({ of: faults }: { of: Health["faults"] }) {
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
              {f.blocks ? "Until it is over, data is refused or cannot be queried." : "Everything else goes on."}{" "}
              <span className="name">({f.id})</span>
            </Text>
          </div>
        </article>
      ))}
    </Stack>
  );
}
