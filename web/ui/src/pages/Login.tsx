import {
  Alert,
  Button,
  Center,
  Divider,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { ApiError, session } from "../api";
import { Bell } from "../parts/Bell";

/** denied is why the provider's word was not taken, as the service says it; it is said once. */
function denied(): string {
  const text = /(?:^|; )belfry_denied=([^;]*)/.exec(document.cookie)?.[1];
  if (!text) return "";
  // biome-ignore lint/suspicious/noDocumentCookie: the other way is not in all browsers
  document.cookie = "belfry_denied=; path=/ui/; max-age=0";
  try {
    return decodeURIComponent(text);
  } catch {
    return "The login was refused.";
  }
}

/** Login is shown in place of any page as long as no one is logged in; the page asked for comes right after. */
export function Login() {
  const client = useQueryClient();
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const [customer, setCustomer] = useState("");
  const [choose, setChoose] = useState(false);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(denied);

  useEffect(() => {
    document.title = "Log in · Belfry";
  }, []);

  const enter = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setWrong("");
    try {
      const person = await session.logIn(user, password, customer || undefined);
      // What the person before saw is forgotten; the session itself stays, for it is being watched.
      client.removeQueries({ predicate: (q) => q.queryKey[0] !== "session" });
      client.setQueryData(["session"], person);
    } catch (err) {
      setPassword("");
      setWrong(err instanceof ApiError ? err.message : String(err));
    } finally {
      setBusy(false);
    }
  };

  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w="100%" maw={400}>
        <form onSubmit={enter}>
          <Stack>
            <Group gap="sm">
              <Bell size={36} />
              <Title order={1} size="h2">
                Belfry
              </Title>
            </Group>
            {wrong && (
              <Alert color="red" variant="light" role="alert">
                {wrong}
              </Alert>
            )}
            <TextInput
              label="User"
              autoComplete="username"
              value={user}
              onChange={(e) => setUser(e.currentTarget.value)}
              required
              withAsterisk={false}
              autoFocus
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              value={password}
              onChange={(e) => setPassword(e.currentTarget.value)}
              required
              withAsterisk={false}
            />
            {choose && (
              <TextInput
                label="Customer"
                description="Empty is the customer named default."
                autoComplete="organization"
                value={customer}
                onChange={(e) => setCustomer(e.currentTarget.value)}
              />
            )}
            <Button type="submit" loading={busy}>
              Log in
            </Button>
            <Provider />
            {!choose && (
              <Button variant="subtle" size="compact-sm" onClick={() => setChoose(true)}>
                Another customer
              </Button>
            )}
            <Text size="sm" c="dimmed">
              The password of the first user, admin, was printed when the service was started for the first time.
            </Text>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}

/** Provider is the way in for people whom an OpenID Connect provider knows, if the service has one. */
function Provider() {
  const options = useQuery({
    queryKey: ["login options"],
    queryFn: session.options,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!options.data?.oidc) return null;
  return (
    <>
      <Divider label="or" />
      <Button component="a" href="/api/session/oidc" variant="default" className="name">
        Log in with {options.data.name || "OpenID Connect"}
      </Button>
    </>
  );
}
