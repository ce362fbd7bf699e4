// Which page an address shows. Each is loaded when it is first opened.
import { type ComponentType, useEffect, useState } from "react";
import { Redirect, Route, Switch } from "wouter";
import { Empty, Page, Waiting } from "../parts/Page";

interface Part {
  path: string;
  load: () => Promise<{ default: ComponentType }>;
  loaded?: ComponentType;
}

const parts: Part[] = [
  { path: "/status", load: () => import("./Status") },
  { path: "/map", load: () => import("./Map") },
  { path: "/treemap", load: () => import("./TreeMap") },
  { path: "/item", load: () => import("./Item") },
  { path: "/events", load: () => import("./Events") },
  { path: "/provisioning", load: () => import("./Provisioning") },
  { path: "/parameters", load: () => import("./Parameters") },
];

async function fetched(p: Part): Promise<ComponentType> {
  p.loaded = (await p.load()).default;
  return p.loaded;
}

// The one that the browser was sent to is fetched while the service is still asked who is there.
const sentTo = parts.find((p) => location.pathname.startsWith(`/ui${p.path}`));
if (sentTo) fetched(sentTo).catch(() => undefined); // it is tried again when it is shown

/**
 * Later shows a page as soon as it is loaded. React's own lazy lets the sign of waiting stand for 300 ms, however fast the
 * page came, and only then could it begin to ask for its data.
 */
function Later({ of }: { of: Part }) {
  const [Shown, show] = useState(() => of.loaded);
  const [failed, fail] = useState<unknown>();
  useEffect(() => {
    if (!Shown) fetched(of).then((c) => show(() => c), fail);
  }, [of, Shown]);
  if (failed) throw failed;
  return Shown ? <Shown /> : <Waiting />;
}

export function Pages() {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/status" replace />
      </Route>
      {parts.map((p) => (
        <Route key={p.path} path={p.path === "/parameters" ? "/parameters/*?" : p.path}>
          <Later key={p.path} of={p} />
        </Route>
      ))}
      <Route>
        <Page title="Not found">
          <Empty title="There is no such page">
            The address may be of an older version. The pages are in the menu.
          </Empty>
        </Page>
      </Route>
    </Switch>
  );
}
