// Messages in passing. The library that shows them comes with the first one: most visits have none.
import type { NotificationData } from "@mantine/notifications";
import { type ComponentType, useSyncExternalStore } from "react";

let Shown: ComponentType | undefined;
const waiting = new Set<() => void>();

/** notify shows a message for a moment. One that cannot be shown, because its library does not come, is no reason to fail. */
export async function notify(message: NotificationData): Promise<void> {
  const library = await import("./notices/library").catch(() => undefined);
  if (!library) return;
  Shown = library.Shown;
  for (const again of waiting) again();
  library.show({ closeButtonProps: { "aria-label": "Close this message" }, ...message });
}

const subscribe = (again: () => void) => {
  waiting.add(again);
  return () => waiting.delete(again);
};

/** Notices is where messages are shown, as soon as there is one. */
export function Notices() {
  const Here = useSyncExternalStore(subscribe, () => Shown);
  return Here ? <Here /> : null;
}
