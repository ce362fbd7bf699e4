import { notifications } from "@mantine/notifications";

/** tell says in passing that something was done. It stands above, where it covers no button of these pages on a phone. */
export const tell = (message: string) =>
  notifications.show({ message, position: "top-center", closeButtonProps: { "aria-label": "Close this message" } });
