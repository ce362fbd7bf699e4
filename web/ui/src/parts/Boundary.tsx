// Keeps an error in one part of the interface from taking the rest away.
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Component, type ReactNode } from "react";
import { client } from "../client";
import { listen } from "../live";
import { NotLoaded } from "./later";
import { messageOf, Page } from "./Page";

interface Props {
  /** What has failed: everything, a page, a part of one, or a dialog. */
  of: "interface" | "page" | "part" | "dialog";
  /** Where one is. Whoever goes elsewhere leaves the error behind. */
  place?: string;
  /** Of a dialog: closes it. */
  onClose?: () => void;
  children: ReactNode;
}

export class Boundary extends Component<Props, { failed?: { error: unknown } }> {
  state: { failed?: { error: unknown } } = {};

  static getDerivedStateFromError(error: unknown) {
    return { failed: { error } };
  }

  private leave?: () => void;

  componentDidUpdate(before: Props) {
    const { failed } = this.state;
    if (failed && before.place !== this.props.place) {
      this.again();
      return;
    }
    // What could not be loaded comes when the service is back.
    if (failed?.error instanceof NotLoaded) this.leave ??= listen({ resync: this.again });
    else this.componentWillUnmount();
  }

  componentWillUnmount() {
    this.leave?.();
    this.leave = undefined;
  }

  /** again shows it again, with what the service says now: what was read before may be what it failed at. */
  again = () => {
    client.removeQueries({ type: "inactive" });
    this.setState({ failed: undefined });
  };

  render() {
    const { failed } = this.state;
    const { of, onClose, children } = this.props;
    if (!failed) return children;
    const said = <Said error={failed.error} of={of} onAgain={this.again} onClose={onClose} />;
    if (of === "part") return said;
    if (of === "dialog") return <div className="failed-dialog">{said}</div>;
    return <Page title="This page has failed">{said}</Page>;
  }
}

const advice: Record<Props["of"], string> = {
  interface: "Try again, or load the page again. The service itself is still running.",
  page: "The other pages can be used. If it fails again, report this message to the administrator of the service.",
  part: "The rest of the page can be used.",
  dialog: "Nothing was done.",
};

function Said({
  error,
  of,
  onAgain,
  onClose,
}: {
  error: unknown;
  of: Props["of"];
  onAgain: () => void;
  onClose?: () => void;
}) {
  const missing = error instanceof NotLoaded;
  return (
    <Alert variant="light" color="red" icon={<IconAlertTriangle />} title="It cannot be shown" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm" className="name">
          {messageOf(error)}
          {missing ? "" : ` (${error instanceof Error ? error.name : "error"} in the page)`}
        </Text>
        <Text size="sm">{advice[of]}</Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onAgain}>
            Try again
          </Button>
          {of === "interface" && (
            <Button size="xs" variant="default" onClick={() => location.reload()}>
              Load the page again
            </Button>
          )}
          {onClose && (
            <Button size="xs" variant="default" onClick={onClose}>
              Close
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}
