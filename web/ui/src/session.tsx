// Who is logged in. Everything below Session can rely on there being someone.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import { ApiError, mayAdminister, mayWrite, onExpired, type Person, session } from "./api";
import { passing } from "./client";
import { Login } from "./pages/Login";
import { Failure, Waiting } from "./parts/Page";

const Who = createContext<Person | null>(null);

export function usePerson(): Person {
  const p = useContext(Who);
  if (!p) throw new Error("usePerson is for pages behind the login");
  return p;
}

/**
 * useReadEvery is how often, in milliseconds, a page reads what it shows without a notification. Those who are limited to views hear of
 * no change of the configuration, which may be about something that they do not see.
 */
export const useReadEvery = (usual: number): number => (usePerson().views?.length ? Math.min(usual, 10_000) : usual);

/** useMay says what the person may do. The service decides; this only keeps buttons away that would be refused. */
export function useMay() {
  const p = usePerson();
  return { write: mayWrite(p), administer: mayAdminister(p), instance: p.role === "instance administrator" };
}

export function Session({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const who = useQuery({
    queryKey: ["session"],
    queryFn: session.who,
    retry: (n, e) => passing(e) && n < 5,
    staleTime: 60_000,
    // Before there is a session nothing else shows that the service is back.
    refetchInterval: (q) => (q.state.status === "error" && passing(q.state.error) ? 1000 : false),
    networkMode: "always",
  });
  useEffect(() => {
    onExpired(() => {
      if (client.getQueryData(["session"])) void client.resetQueries({ queryKey: ["session"] });
    });
  }, [client]);
  if (who.isPending) return <Waiting />;
  if (who.data) return <Who value={who.data}>{children}</Who>;
  if (who.error instanceof ApiError && who.error.status === 401) return <Login />;
  return <Failure error={who.error} retry={() => who.refetch()} />;
}
