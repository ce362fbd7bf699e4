import { notifications } from "@mantine/notifications";

/** tell says in passing that something was done. */
export const tell = (message: string) =>
  notifications.show({ message, closeButtonProps: { "aria-label": "Close this message" } });
