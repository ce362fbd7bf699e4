// One event: when, from which status to which, about what, in words.
import "./events.css";
import { Anchor, Text } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { Link } from "wouter";
import type { EventRow, Kind } from "../../api";
import { link } from "../../links";
import { StatusIcon, statusName } from "../../parts/StatusIcon";
import { localTimes, Time } from "../../parts/Time";

interface About {
  kind: Kind;
  name: string;
  resource?: string;
}

/** aboutOf finds the item that an event is about; logins and the like are about none. */
export function aboutOf(e: EventRow): About | null {
  if (e.object) return { kind: "object", name: e.object, resource: e.resource };
  if (e.source === "resource" && e.resource) return { kind: "resource", name: e.resource };
  if (e.source === "view" && e.view) return { kind: "view", name: e.view, resource: e.resource };
  return null;
}

/** Change shows both statuses with their shapes, and says them. */
function Change({ e }: { e: EventRow }) {
  if (!e.status) return null;
  if (!e.previous || e.previous === e.status) return <StatusIcon status={e.status} />;
  return (
    <span className="event-change" role="img" aria-label={`${statusName(e.previous)}, then ${statusName(e.status)}`}>
      <StatusIcon status={e.previous} size={14} label={false} />
      <IconArrowRight size={12} />
      <StatusIcon status={e.status} label={false} />
    </span>
  );
}

export function EventLine({ e }: { e: EventRow }) {
  const about = aboutOf(e);
  return (
    <div className="event">
      <span className="event-time">
        <Time at={e.timestamp} />
      </span>
      <span className="event-status">
        <Change e={e} />
      </span>
      <span className="event-about">
        {about ? (
          <>
            <Anchor component={Link} href={link.item(about)} size="sm" className="name event-link" title={about.name}>
              <span className="two-lines">{about.name}</span>
            </Anchor>
            {about.resource && about.resource !== about.name && (
              <Text span size="xs" c="dimmed" className="name">
                {" "}
                in {about.resource}
              </Text>
            )}
          </>
        ) : (
          <Text span size="sm" c="dimmed">
            {e.source}
          </Text>
        )}
      </span>
      <span className="event-info name two-lines" title={e.info}>
        {localTimes(e.info ?? "")}
      </span>
      <Text span size="xs" c="dimmed" className="event-type">
        {e.type}
        {e.user && (
          <span className="name" title={e.user}>
            {" "}
            by {e.user}
          </span>
        )}
      </Text>
    </div>
  );
}
