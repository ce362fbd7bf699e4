// Says that answers are not complete, above every page: what a page shows of such a day is only a part of it.
import { Alert, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useSyncExternalStore } from "react";
import { missingDays } from "../api";

/** How many days are named. */
const most = 10;

export function MissingDays() {
  const days = useSyncExternalStore(missingDays.subscribe, missingDays.get);
  if (days.length === 0) return null;
  return (
    <Alert
      variant="outline"
      color="orange"
      styles={{ title: { color: "var(--mantine-color-text)" } }}
      icon={<IconAlertTriangle />}
      title={days.length === 1 ? "A day is missing" : `${days.length} days are missing`}
      role="status"
      m={{ base: "sm", sm: "lg" }}
      mb={0}
      withCloseButton
      closeButtonLabel="Hide this notice"
      onClose={missingDays.clear}
    >
      <Text size="sm">
        Rows of {days.slice(0, most).join(", ")}
        {days.length > most && " and more"} cannot be read, because a file is damaged or missing. What you see does not
        include them. Administrators can find the file on the health page.
      </Text>
    </Alert>
  );
}
