import "@mantine/core/styles/Notification.css";
import "@mantine/notifications/styles.css";
import { Notifications, notifications } from "@mantine/notifications";

export const Shown = () => <Notifications position="bottom-right" />;
export const { show } = notifications;
