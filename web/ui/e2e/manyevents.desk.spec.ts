// The page of events over 100,000 of them: shown, scrolled, filtered, and watched while thousands more arrive. Times are
// printed; what is asserted holds on every machine.
import type { Locator, Page } from "@playwright/test";
import { alone, changing, shown, stopwatch, Traffic, told, watch } from "./frames";
import { expect, logIn, type Service, test } from "./service";

const values = 100_000; // each of them is an event
const span = 80_000; // seconds, so that all of them fit into a day
const lamps = 100;
const lamp = (n: number) => `lamp${String(n % lamps).padStart(2, "0")}`;
const level = (n: number) => (Math.floor(n / lamps) % 2 ? 1 : 9);
const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const within = (end: number) => `timestamp BETWEEN '${at(end - span - 10)}' AND '${at(end + 1)}'`;

/** fill lets lamps go on and off for a day, and gives the end of it. */
async function fill(service: Service): Promise<number> {
  await service.json("PUT", "/api/classes/onoff", {
    indicators: [{ n: 1, name: "Level", thresholds: [{ when: ">= 5", status: 1 }] }],
  });
  await service.csv("/api/provisioning/custom", "name", "street");
  const end = Math.floor(Date.now() / 1000) - 60;
  const time = (n: number) => end - span + Math.floor((n * span) / values);
  for (let n = 0; n < values; n += 10_000)
    await service.csv(
      "/api/send",
      "type,resname,object,class,view,timestamp,i1",
      ...Array.from({ length: 10_000 }, (_, i) => n + i).map(
        (n) => `data,street,${lamp(n)},onoff,street,${time(n)},${level(n)}`,
      ),
    );
  return end;
}

async function count(service: Service, where: string): Promise<number> {
  const [found] = await service.sql<{ n: number }>(`SELECT COUNT(*) AS n FROM events WHERE ${where}`);
  return found?.n ?? 0;
}

test("100,000 events", async ({ fresh: page }) => {
  await alone((service) => run(page, service));
});

async function run(page: Page, service: Service): Promise<void> {
  const end = await fill(service);
  const ended = `from=${at(end - span - 10)}&to=${at(end + 1)}`;
  const all = await count(service, within(end));
  expect(all).toBeGreaterThanOrEqual(values);

  await logIn(page, service, "/ui/parameters/account");
  const spent = await stopwatch(page);
  const traffic = new Traffic(page);
  const list = page.getByRole("feed", { name: "Events" });
  const rows = list.getByRole("article");
  const cold = await shown(page, `${service.url}/ui/events`, ".events-list article", 5);
  const opened = await traffic.since();
  expect(opened.queries).toBeLessThanOrEqual(10);
  expect(opened.bytes).toBeLessThan(200_000); // a page of them, not all
  const warm = await shown(page, `${service.url}/ui/events`, ".events-list article", 5);
  const bars = await shown(page, `${service.url}/ui/events`, ".histogram rect", 5);
  console.log(
    `first of ${all} events: ${Math.round(cold)} ms with an empty cache, ${Math.round(warm)} ms then; histogram ${Math.round(bars)} ms`,
  );

  // A range that has ended, so that what is to be seen stays the same: read far down, page after page.
  await shown(page, `${service.url}/ui/events?${ended}`, ".events-list article", 5);
  let before = await spent();
  const read = await watch(page, ".events-list", 480, { x: 0, y: 400 });
  const depth = async () => Number(await rows.last().getAttribute("aria-posinset"));
  console.log(`events scrolled down to the ${await depth()}th: ${told(read, (await spent()) - before)}`);
  const further = async () => {
    await list.evaluate((l) => l.scrollTo({ top: l.scrollHeight }));
    return depth();
  };
  await expect.poll(further).toBeGreaterThan(1000);
  const deep = await depth();
  expect(await rows.count()).toBeLessThan(100); // however many were read
  await isEvent(service, list.locator(`[aria-posinset="${deep}"]`), within(end), deep - 1);

  // Filtered: the service looks through all of them.
  let begin = Date.now();
  await page.getByLabel("Search in words").fill("object:lamp07");
  await expect(rows.filter({ hasText: "lamp08" })).toHaveCount(0);
  await expect(rows.filter({ hasText: "lamp07" }).first()).toBeVisible();
  console.log(`events filtered by words: ${Date.now() - begin} ms`);
  begin = Date.now();
  await page.goto(`${service.url}/ui/events?${ended}&object=lamp07&status=1`);
  await expect(rows.first()).toBeVisible();
  console.log(`events of one object opened: ${Date.now() - begin} ms`);
  const found = await count(service, `${within(end)} AND object = 'lamp07' AND status = '1'`);
  expect(found).toBeGreaterThan(400);
  // To the very end of what fits, and no further.
  await expect
    .poll(async () => {
      await list.evaluate((l) => l.scrollTo({ top: l.scrollHeight }));
      return Number(await rows.last().getAttribute("aria-setsize"));
    })
    .toBe(found);

  // Watched while more arrive: at the top, where they come in, and further down, where nothing moves.
  const address = `${service.url}/ui/events`;
  const stop = { now: false };
  const background = changing(service, 1000, (n) => `data,street,${lamp(n)},${level(n)}`, stop);
  await shown(page, address, ".events-list article", 5);
  await traffic.since();
  const newest = () => rows.first().locator("time").getAttribute("datetime");
  const first = (await newest()) ?? "";
  before = await spent();
  const top = await watch(page, ".events-list", 480, { x: 0, y: 0 });
  console.log(`events watched as they arrive: ${told(top, (await spent()) - before)}`);
  await expect.poll(async () => ((await newest()) ?? "") > first).toBe(true); // they do come in
  before = await spent();
  const down = await watch(page, ".events-list", 480, { x: 0, y: 40 });
  console.log(`events scrolled while more arrive: ${told(down, (await spent()) - before)}`);
  stop.now = true;
  const { sent, perSecond } = await background;
  const { queries } = await traffic.since();
  console.log(`events: ${perSecond} values/s were sent; ${queries} queries for ${sent} values`);
  expect(queries).toBeLessThan(sent / 10 + 50); // 50 for what was scrolled through
  expect(await rows.count()).toBeLessThan(100);

  // At the end the newest is on top.
  await page.goto(address);
  await isEvent(service, rows.first(), "timestamp = '[NOW-24HOURS TO NOW]'", 0);
}

/** isEvent compares a row of the list with what the service has in its place. */
async function isEvent(service: Service, row: Locator, where: string, offset: number): Promise<void> {
  const [want] = await service.sql<{ timestamp: string; object: string; resource: string; view: string }>(
    `SELECT timestamp, object, resource, view FROM events WHERE ${where} ORDER BY timestamp DESC, id DESC LIMIT 1 OFFSET ${offset}`,
  );
  await expect(row.locator("time")).toHaveAttribute("datetime", want?.timestamp ?? "");
  await expect(row).toContainText(want?.object || want?.resource || want?.view || "nothing");
}
