// The own account: who one is, the password, and the way out.
import { Button, Group, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { session } from "../../api";
import { Failure, Page } from "../../parts/Page";
import { usePerson } from "../../session";
import { notify } from "./notify";
import { Sessions } from "./Sessions";

export default function AccountPage() {
  return (
    <Page title="Your account">
      <Who />
      <Password />
      <Sessions />
    </Page>
  );
}

function Who() {
  const person = usePerson();
  const [error, setError] = useState<unknown>();
  const back = async () => {
    try {
      await session.actIn(person.home ?? "");
      location.assign("/ui/");
    } catch (e) {
      setError(e);
    }
  };
  return (
    <Stack gap="xs">
      <Text className="name">
        You are <b>{person.user}</b>, {person.role}, {person.home ? "acting in" : "of"} customer{" "}
        <b>{person.customer}</b>.
      </Text>
      {!!person.views?.length && (
        <Text size="sm" className="name">
          You see {person.views.join(", ")} and their content, and nothing else.
        </Text>
      )}
      {person.home && (
        <Group>
          <Button variant="default" onClick={back}>
            Back to {person.home}
          </Button>
        </Group>
      )}
      {error !== undefined && <Failure error={error} />}
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="sm" component="section" p="md" className="card" maw={560}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function Password() {
  const client = useQueryClient();
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const differs = again !== "" && next !== again;
  const change = async (e: FormEvent) => {
    e.preventDefault();
    if (next !== again) return;
    setBusy(true);
    setError(undefined);
    try {
      client.setQueryData(["session"], await session.changePassword(old, next));
      setOld("");
      setNext("");
      setAgain("");
      void client.invalidateQueries({ queryKey: ["sessions"] });
      notify("Your password was changed. Your other sessions have ended.");
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section title="Password">
      <form onSubmit={change}>
        <Stack gap="sm">
          <PasswordInput
            label="Current password"
            value={old}
            onChange={(e) => setOld(e.currentTarget.value)}
            autoComplete="current-password"
            required
            withAsterisk={false}
          />
          <PasswordInput
            label="A new one"
            description="At least 10 characters; length matters more than unusual characters."
            value={next}
            onChange={(e) => setNext(e.currentTarget.value)}
            autoComplete="new-password"
            required
            withAsterisk={false}
          />
          <PasswordInput
            label="Repeat the new password"
            value={again}
            onChange={(e) => setAgain(e.currentTarget.value)}
            error={differs && "The two differ."}
            autoComplete="new-password"
            required
            withAsterisk={false}
          />
          {error !== undefined && <Failure error={error} />}
          <Group>
            <Button type="submit" loading={busy} disabled={differs}>
              Change the password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
