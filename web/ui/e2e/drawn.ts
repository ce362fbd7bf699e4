// Something to draw, for the tests of the map.
import type { Page } from "@playwright/test";
import { expect, type Service } from "./service";

export const hostile = ["<script>alert(1)</script>", "שלום עולם", "🔔🚨 bells", "n".repeat(255)] as const;

/** mapClass makes a class whose objects are critical from 90 and warn from 70. */
export async function mapClass(service: Service): Promise<void> {
  await service.json("PUT", "/api/classes/maploads", {
    name: "maploads",
    indicators: [
      {
        n: 1,
        name: "Load",
        thresholds: [
          { when: ">= 70", status: 1 },
          { when: ">= 90", status: 3 },
        ],
      },
    ],
  });
}

/** value sends one value of the object cpu of a resource, which is made if need be. */
export async function value(service: Service, resource: string, n: number, object = "cpu"): Promise<void> {
  await service.csv(
    "/api/send",
    "type,resname,object,class,view,i1",
    `data,${resource},${object},maploads,${resource},${n}`,
  );
}

/** holdStream lets no page open its stream before the function it gives back is called. */
export async function holdStream(page: Page): Promise<() => Promise<void>> {
  let open = () => {};
  const may = new Promise<void>((done) => {
    open = done;
  });
  await page.route("**/api/stream*", async (route) => {
    await may;
    await route.continue().catch(() => undefined); // it may have been given up
  });
  return async () => {
    open();
    await page.unroute("**/api/stream*");
  };
}

export interface Child {
  name: string;
  kind: string;
  package?: string;
  posx?: number;
  posy?: number;
  width?: number;
  height?: number;
  autoarrange?: string;
  bg?: string;
  answers?: Record<string, string>;
}

/** seen reads a view by the API. */
export async function seen(service: Service, view: string): Promise<{ view: Child; children: Child[] }> {
  return (await service.json("GET", `/api/tree?view=${encodeURIComponent(view)}`, undefined)) as {
    view: Child;
    children: Child[];
  };
}

export const icon = (page: Page, name: string) =>
  page.locator("button.map-icon").and(page.getByRole("button", { name: new RegExp(`^${escaped(name)}, `) }));

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** noSideways fails when the page itself scrolls sideways. */
export async function noSideways(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
}
