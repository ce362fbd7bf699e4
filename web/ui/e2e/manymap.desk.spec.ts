// A view with 2,000 items in it: shown, moved about and searched while 1,000 values a second change what it shows. Times are
// printed; what is asserted holds on every machine.
import type { Page } from "@playwright/test";
import { icon, mapClass } from "./drawn";
import { alone, changing, shown, stopwatch, Traffic, told, watch } from "./frames";
import { expect, logIn, type Service, test } from "./service";

const items = 2000;
const across = 50;
const links = 100;
const host = (n: number) => `machine${String(n % items).padStart(4, "0")}`;

async function fill(service: Service): Promise<void> {
  await mapClass(service);
  await service.csv("/api/provisioning/view", "name,view,posx,posy", "Hall,MAIN,10,10");
  const all = Array.from({ length: items }, (_, n) => n);
  const place = (n: number) => `${10 + 60 * Math.floor(n / across)},${10 + 60 * (n % across)}`;
  await service.csv(
    "/api/provisioning/custom",
    "name,view,posx,posy",
    ...all.map((n) => `${host(n)},Hall,${place(n)}`),
  );
  await service.csv(
    "/api/send",
    "type,resname,object,class,view,i1",
    ...all.map((n) => `data,${host(n)},cpu,maploads,${host(n)},10`),
  );
  const wires = Array.from({ length: links }, (_, n) => `wire ${n},Hall,${host(n * 20)},${host(n * 20 + 1)}`);
  await service.csv("/api/provisioning/link", "name,view,from,to", ...wires);
}

test("a map of 2,000 items", async ({ fresh: page }) => {
  await alone((service) => run(page, service));
});

async function run(page: Page, service: Service): Promise<void> {
  await fill(service);
  await logIn(page, service, "/ui/parameters/account");
  const spent = await stopwatch(page);
  const traffic = new Traffic(page);
  const address = `${service.url}/ui/map?view=Hall&as=drawing`;
  const cold = await shown(page, address, "button.map-icon", items);
  expect((await traffic.since()).queries).toBeLessThanOrEqual(10);
  const warm = await shown(page, address, "button.map-icon", items);
  console.log(`map of ${items} items shown: ${Math.round(cold)} ms with an empty cache, ${Math.round(warm)} ms then`);
  await expect(page.locator("button.map-icon")).toHaveCount(items);
  await expect(page.locator("line[data-link]")).toHaveCount(links);

  // What is out of sight has its button, for the keyboard, and nothing else.
  await page.getByRole("button", { name: /zoom to 100 %/ }).click();
  const named = page.locator(".map-under");
  await expect.poll(() => named.count()).toBeLessThan(items / 2);
  expect(await named.count()).toBeGreaterThan(10);

  await traffic.since();
  const stop = { now: false };
  const flip = (n: number) => `data,${host(n)},cpu,${Math.floor(n / items) % 2 ? 10 : 97}`;
  const background = changing(service, 1000, flip, stop);
  for (const [what, by] of [
    ["at rest", { x: 0, y: 0 }],
    ["moved about", { x: 24, y: 16, turns: true }],
  ] as const) {
    const before = await spent();
    const found = await watch(page, ".map-box", 360, by);
    console.log(`map ${what} while it changes: ${told(found, (await spent()) - before)}`);
  }
  await page.getByRole("button", { name: "Fit to window" }).click();
  await expect(icon(page, host(0))).toBeInViewport({ ratio: 1 });
  await expect(icon(page, host(items - 1))).toBeInViewport({ ratio: 1 });
  const before = await spent();
  const found = await watch(page, ".map-box", 360, { x: 8, y: 8, turns: true });
  stop.now = true;
  console.log(`map as a whole while it changes: ${told(found, (await spent()) - before)}`);
  const { sent, perSecond } = await background;
  const { queries } = await traffic.since();
  console.log(`map: ${perSecond} values/s were sent; ${queries} queries for ${sent} values`);
  expect(queries).toBeLessThan(sent / 10);

  // All that changed shows as it is.
  const [critical] = await service.sql<{ n: number }>(
    "SELECT COUNT(*) AS n FROM objectstatus WHERE kind='resource' AND view='Hall' AND status='3'",
  );
  await expect(page.locator('.map-item[data-status="3"]')).toHaveCount(critical?.n ?? -1);
  await expect(page.locator('.map-item[data-status="0"]')).toHaveCount(items - (critical?.n ?? -1));

  // A hand moves it: what it takes along stays under it.
  await page.getByRole("button", { name: /zoom to 100 %/ }).click();
  const box = page.locator(".map-box");
  await box.evaluate((b) => b.scrollTo(1000, 1000));
  const frame = await box.boundingBox();
  if (!frame) throw new Error("the drawing has no size");
  const grip = await emptySpot(page, frame);
  await page.mouse.move(grip.x, grip.y);
  await page.mouse.down();
  await page.mouse.move(grip.x - 150, grip.y - 90, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => box.evaluate((b) => [b.scrollLeft, b.scrollTop])).toEqual([1150, 1090]);

  // By keyboard from one to the next, far beyond what is in sight.
  await icon(page, host(0)).focus();
  for (let n = 0; n < 30; n++) await page.keyboard.press("ArrowDown");
  await expect(icon(page, host(30 * across))).toBeFocused();
  await expect(icon(page, host(30 * across))).toBeInViewport();

  // The list of the same view: in portions, and found by name.
  const listed = await shown(page, `${service.url}/ui/map?view=Hall&as=list`, "tr[data-item]", 100);
  expect(await page.locator("tr[data-item]").count()).toBeLessThan(items / 2);
  const begin = Date.now();
  await page.getByLabel("Find in this view").fill("MACHINE1234");
  await expect(page.locator("tr[data-item]")).toHaveCount(1);
  console.log(`map as a list: ${Math.round(listed)} ms to show, ${Date.now() - begin} ms to find one by name`);
  await expect(page.locator("tr[data-item]")).toHaveAttribute("data-item", "machine1234");
}

/** emptySpot is a point of the drawing with nothing on it. */
async function emptySpot(page: Page, frame: { x: number; y: number; width: number; height: number }) {
  return page.evaluate((f) => {
    for (let y = f.y + f.height / 2; y < f.y + f.height - 60; y += 7)
      for (let x = f.x + f.width / 2; x < f.x + f.width - 60; x += 7)
        if (document.elementFromPoint(x, y)?.classList.contains("map-board")) return { x, y };
    throw new Error("there is no room between the items");
  }, frame);
}
