// The dialog that makes or changes a user. A password made at random is shown only once.
import { Button, Group, PasswordInput, Radio, Stack, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type Role, type User, type UserChange, users } from "../../api";
import { Failure } from "../../parts/Page";
import { useMay } from "../../session";
import { lines } from "./lines";
import { OncePassword, SecretModal } from "./SecretModal";

const roles: { role: Role; about: string }[] = [
  { role: "viewer", about: "Reads statuses, maps, charts, events and queries. Changes nothing." },
  { role: "operator", about: "Also acknowledges, manages, sets notes, provisions and sends." },
  { role: "administrator", about: "Also removes items, edits classes and policies, and creates keys and users." },
  { role: "instance administrator", about: "Also manages all customers, and can act in any of them." },
];

interface Props {
  /** Absent: a new one. */
  user?: User;
  own: boolean;
  onClose: () => void;
  onDone: () => void;
}

export function UserDialog(p: Props) {
  const [made, setMade] = useState<{ name: string; password: string }>();
  const title = made ? "Their password" : p.user ? `Change ${p.user.name}` : "Create a user";
  return (
    <SecretModal title={title} shown={!!made} onClose={p.onClose}>
      {made ? <OncePassword {...made} onClose={p.onClose} /> : <Form {...p} onMade={setMade} />}
    </SecretModal>
  );
}

function Form({
  user,
  own,
  onClose,
  onDone,
  onMade,
}: Props & { onMade: (m: { name: string; password: string }) => void }) {
  const may = useMay();
  const [name, setName] = useState(user?.name ?? "");
  const [role, setRole] = useState<Role>(user?.role ?? "viewer");
  const [views, setViews] = useState(user?.views?.join("\n") ?? "");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();

  const save = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    const to: UserChange = {};
    if (role !== user?.role) to.role = role;
    if (password) to.password = password;
    if (views.trim() !== (user?.views?.join("\n") ?? "")) to.views = lines(views);
    try {
      if (user) {
        if (Object.keys(to).length) await users.change(user.name, to);
        onDone();
        onClose();
        return;
      }
      const made = await users.create({ name, ...to });
      onDone();
      if (made.password) onMade({ name, password: made.password });
      else onClose();
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };

  return (
    <form onSubmit={save}>
      <Stack>
        {!user && (
          <TextInput
            label="Name"
            value={name}
            onChange={(e) => setName(e.currentTarget.value)}
            required
            data-autofocus
            autoComplete="off"
          />
        )}
        <Radio.Group label="Role" value={role} onChange={(v) => setRole(v as Role)}>
          <Stack gap="xs" mt={6}>
            {roles
              .filter((r) => may.instance || r.role !== "instance administrator")
              .map((r) => (
                <Radio key={r.role} value={r.role} label={r.role} description={r.about} />
              ))}
          </Stack>
        </Radio.Group>
        <Textarea
          label="Limited to views"
          description="Names of views or resources, one per line: the user sees only these and their content. Empty: everything."
          value={views}
          onChange={(e) => setViews(e.currentTarget.value)}
          autosize
          minRows={1}
          maxRows={8}
        />
        {!own && !user?.oidc && (
          <PasswordInput
            label={user ? "New password" : "Password"}
            description={
              user
                ? "Empty: unchanged. At least 10 characters."
                : "Empty: one is generated and shown once. Otherwise at least 10 characters."
            }
            value={password}
            onChange={(e) => setPassword(e.currentTarget.value)}
            autoComplete="new-password"
          />
        )}
        {error !== undefined && <Failure error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy}>
            {user ? "Save" : "Create"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
