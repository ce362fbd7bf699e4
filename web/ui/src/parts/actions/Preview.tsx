// When a window will be open, as the service understands it: a dry run, of which the first item is enough.
import { Alert, Box, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ActAnswer, type ActWish, ApiError, actDry } from "../../api";
import { messageOf } from "../Page";
import { local, localTimes } from "../Time";
import type { Request } from "./Forms";
import type { ActionItem } from "./item";

const planned = (b: ActWish) => b.isunmanaged !== undefined && !!(b.fromdatetime || b.todatetime);

type Occurrence = NonNullable<ActAnswer["occurrences"]>[number];

const span = (o: Occurrence) => `${o.from ? local(o.from) : "open now"} – ${o.to ? local(o.to) : "no end"}`;

export function Preview({ request }: { request: Request }) {
  const [{ body, items }] = useDebouncedValue(request, 250);
  const first = items[0];
  const tried = useQuery({
    queryKey: ["window", first?.kind, first?.resource, first?.name, body],
    queryFn: () => actDry(first as ActionItem, body),
    enabled: !!first && planned(body),
    placeholderData: (last) => last,
    retry: false,
    gcTime: 0,
  });
  if (!first || !planned(request.body)) return null;
  if (tried.error) {
    // A service that cannot do it says so about the parameter; what is wrong with the window is worth telling now.
    if (tried.error instanceof ApiError && /dryrun/.test(tried.error.message)) return null;
    return (
      <Alert variant="outline" color="red" role="alert">
        <Text size="sm" className="name">
          {localTimes(messageOf(tried.error))}
        </Text>
      </Alert>
    );
  }
  const list = tried.data?.occurrences ?? [];
  return (
    <Box mih={48}>
      <Text size="sm" fw={500} id="occurrences">
        Open, by your clock:
      </Text>
      <Text size="sm" component="ol" m={0} pl="lg" className="number" aria-labelledby="occurrences">
        {list.map((o) => (
          <li key={span(o)}>{span(o)}</li>
        ))}
      </Text>
      {tried.data && list.length === 0 && (
        <Text size="sm" c="dimmed">
          Never: the rule gives no time after now.
        </Text>
      )}
    </Box>
  );
}
