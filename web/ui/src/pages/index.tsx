// Which page an address shows. Each is loaded when it is first opened.
import { type ComponentType, lazy, Suspense } from "react";
import { Redirect, Route, Switch } from "wouter";
import { Empty, Page, Waiting } from "../parts/Page";

const page = (load: () => Promise<{ default: ComponentType }>) => lazy(load);

const Status = page(() => import("./Status"));
const MapPage = page(() => import("./Map"));
const TreeMap = page(() => import("./TreeMap"));
const Item = page(() => import("./Item"));
const Events = page(() => import("./Events"));
const Provisioning = page(() => import("./Provisioning"));
const Parameters = page(() => import("./Parameters"));

export function Pages() {
  return (
    <Suspense fallback={<Waiting />}>
      <Switch>
        <Route path="/">
          <Redirect to="/status" replace />
        </Route>
        <Route path="/status" component={Status} />
        <Route path="/map" component={MapPage} />
        <Route path="/treemap" component={TreeMap} />
        <Route path="/item" component={Item} />
        <Route path="/events" component={Events} />
        <Route path="/provisioning" component={Provisioning} />
        <Route path="/parameters/*?" component={Parameters} />
        <Route>
          <Page title="Not found">
            <Empty title="There is no such page">
              The address may be of an older version. The pages are in the menu.
            </Empty>
          </Page>
        </Route>
      </Switch>
    </Suspense>
  );
}
