// A dialog that at its end shows a secret once: from then on only its button closes it.
import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Notice } from "../../parts/Notice";
import { CopyButton } from "./Copy";

interface ModalProps {
  title: string;
  /** Whether the secret is shown. */
  shown: boolean;
  size?: string;
  onClose: () => void;
  children: ReactNode;
}

export function SecretModal({ title, shown, size = "lg", onClose, children }: ModalProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      size={size}
      title={<span className="name">{title}</span>}
      closeOnClickOutside={!shown}
      closeOnEscape={!shown}
      withCloseButton={!shown}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {children}
    </Modal>
  );
}

interface OnceProps {
  secret: string;
  /** What it is: a key or a password. */
  what: "key" | "password";
  about: ReactNode;
  onClose: () => void;
  children?: ReactNode;
}

/** OnceSecret shows a secret, with what there is to know about it. */
export function OnceSecret({ secret, what, about, onClose, children }: OnceProps) {
  return (
    <Stack>
      <Notice title="It is shown only once">
        <Text size="sm">{about}</Text>
      </Notice>
      <Group gap="sm">
        <Text component="code" ff="monospace" size="lg" fw={600} data-testid={what} className="name">
          {secret}
        </Text>
        <CopyButton text={secret}>{`Copy the ${what}`}</CopyButton>
      </Group>
      {children}
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}

/** OncePassword shows the password of a user. */
export const OncePassword = ({ name, password, onClose }: { name: string; password: string; onClose: () => void }) => (
  <OnceSecret
    secret={password}
    what="password"
    about={
      <>
        Give it to <b className="name">{name}</b> in a secure way. It can be changed after the first login.
      </>
    }
    onClose={onClose}
  />
);
