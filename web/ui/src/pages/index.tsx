// Which page an address shows. Each is loaded when it is first opened.
import type { ReactNode } from "react";
import { Redirect, Route, Switch, useLocation, useSearch } from "wouter";
import { Boundary } from "../parts/Boundary";
import { later } from "../parts/later";
import { Empty, Page } from "../parts/Page";

const parts = [
  { path: "/status", page: later(() => import("./Status")) },
  { path: "/map", page: later(() => import("./Map")) },
  { path: "/treemap", page: later(() => import("./TreeMap")) },
  { path: "/item", page: later(() => import("./Item")) },
  { path: "/events", page: later(() => import("./Events")) },
  { path: "/maintenance", page: later(() => import("./Maintenance")) },
  { path: "/provisioning", page: later(() => import("./Provisioning")) },
  { path: "/parameters", page: later(() => import("./Parameters")) },
];

// The one that the browser was sent to is fetched while the service is still asked who is there.
const sentTo = parts.find((p) => location.pathname.startsWith(`/ui${p.path}`));
sentTo?.page.load().catch(() => undefined); // it is tried again when it is shown

export function Pages() {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/status" replace />
      </Route>
      {parts.map((p) => (
        <Route key={p.path} path={p.path === "/parameters" ? "/parameters/*?" : p.path}>
          <Guarded>
            <p.page />
          </Guarded>
        </Route>
      ))}
      <Route>
        <Page title="Not found">
          <Empty title="There is no such page">
            The address may be from an older version. The pages are in the menu.
          </Empty>
        </Page>
      </Route>
    </Switch>
  );
}

/** Guarded keeps the error of a page in that page, until one goes to another address. */
function Guarded({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const search = useSearch();
  return (
    <Boundary of="page" place={`${path}?${search}`}>
      {children}
    </Boundary>
  );
}
