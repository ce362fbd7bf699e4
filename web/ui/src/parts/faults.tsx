// What is wrong around the service at this moment, in sight on every page of those who can do something about it.
import { Tooltip } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { health } from "../api";
import { link } from "../links";
import { useLive } from "../live";
import { useMay } from "../session";

/** Faults counts the open faults and leads to the health page. Only instance administrators may read the health. */
export function Faults() {
  return useMay().instance ? <Sign /> : null;
}

function Sign() {
  const client = useQueryClient();
  const faults = useQuery({
    queryKey: ["health"],
    queryFn: health,
    select: (h) => h.faults,
    refetchInterval: 60_000,
  }).data;
  const again = () => void client.invalidateQueries({ queryKey: ["health"] });
  useLive({
    // The begin and the end of a fault are events.
    event: (events) => {
      if (events.some((e) => e.type === "internal")) again();
    },
    resync: again,
  });
  const count = faults?.length ?? 0;
  const said = count === 1 ? "1 fault" : `${count} faults`;
  return (
    <span role="status" style={{ display: "flex" }}>
      {!!faults?.length && (
        <Tooltip label={faults.map((f) => f.message).join("\n")} multiline maw={420} className="advice">
          <Link
            href={link.parameters("health")}
            className="open-faults"
            data-blocks={faults.some((f) => f.blocks) || undefined}
            aria-label={`${said}: ${faults[0]?.message}`}
          >
            <IconAlertTriangle size={18} />
            <span>
              {count}
              <span className="open-faults-word"> {count === 1 ? "fault" : "faults"}</span>
            </span>
          </Link>
        </Tooltip>
      )}
    </span>
  );
}
