// The list with 100,000 objects and 1,000 changes a second. Times are printed, for they depend on the machine; what is asserted
// is that the rows are right, that only those in sight are made and asked for, and that changes are not asked for one by one.
import type { Page } from "@playwright/test";
import { changing, type Frames, stopwatch, Traffic, told } from "./frames";
import { expect, logIn, Service, test } from "./service";

const resources = 1000;
const each = 100;
const frames = 480;
const perSecond = 1000;

const host = (r: number) => `host${String(r).padStart(4, "0")}`;
const disk = (o: number) => `disk ${String(o).padStart(3, "0")}`;

async function fill(service: Service): Promise<void> {
  await service.json("PUT", "/api/classes/gauge", {
    indicators: [{ n: 1, name: "Used", unit: "%", thresholds: [{ when: ">= 95", status: 3 }] }],
  });
  const all = Array.from({ length: resources }, (_, r) => host(r));
  await service.csv("/api/provisioning/custom", "name", ...all);
  const objects = all.flatMap((r) => Array.from({ length: each }, (_, o) => `${disk(o)},${r},${r},gauge`));
  await service.csv("/api/provisioning/object", "name,resname,view,class", ...objects);
}

/** change makes a tenth of the objects change their status back and forth. */
function change(n: number): string {
  const value = Math.floor(n / (resources * 10)) % 2 ? 10 : 97;
  const at = n % (resources * 10);
  return `data,${host(at % resources)},${disk(Math.floor(at / resources))},${value}`;
}

test("100,000 objects", async ({ fresh: page }) => {
  const service = await Service.start(); // its own: what others left might come before the rows of this one, and these before theirs
  try {
    await measure(page, service);
  } finally {
    await service.remove();
  }
});

async function measure(page: Page, service: Service) {
  await fill(service);
  await logIn(page, service, "/ui/events");

  const spent = await stopwatch(page);
  const traffic = new Traffic(page);

  // The page is there, the list is not: what counts is from the address to rows that can be read.
  await page.goto(`${service.url}/ui/status?kind=object`);
  await page.getByRole("row", { name: /host0000/ }).waitFor();
  const cold = await page.evaluate(() => performance.now());
  await expect(page.getByRole("grid")).toHaveAttribute("aria-rowcount", String(resources * each + 1));
  const opened = await traffic.since();
  expect(opened.queries).toBeLessThanOrEqual(10);
  expect(opened.bytes).toBeLessThan(200_000); // a few hundred rows of the 100,000
  await page.goto(`${service.url}/ui/status?kind=object`);
  const first = await page.evaluate(async () => {
    while (!document.querySelector("[role=grid] .title a")) await new Promise(requestAnimationFrame);
    return performance.now();
  });
  console.log(
    `first rows: ${Math.round(cold)} ms with an empty cache (as the test sees it), ${Math.round(first)} ms then`,
  );

  const before = await spent();
  const stop = { now: false };
  const background = changing(service, perSecond, change, stop);
  await traffic.since();
  const found = await page.evaluate(scroll, frames);
  const busy = (await spent()) - before;
  stop.now = true;
  const { sent, perSecond: pace } = await background;
  const asked = await traffic.since();
  console.log(`scrolling with ${pace} changes/s: ${told(found, busy)}; ${asked.queries} queries, ${asked.bytes} bytes`);
  expect(found.most).toBeLessThan(100);
  expect(asked.queries).toBeLessThan(sent / 10 + frames / 10);

  // Deep in the list, the rows are those that the service has there.
  await page.goto(`${service.url}/ui/status?kind=object&sort=name+asc`);
  await page.getByRole("row", { name: /host0000/ }).waitFor();
  const begin = Date.now();
  await page.getByRole("grid").evaluate((g) => g.scrollTo({ top: g.scrollHeight / 2 }));
  const middle = page.getByRole("row").nth(20);
  await expect(middle.locator(".title a")).toBeVisible();
  console.log(`rows in the middle: ${Date.now() - begin} ms`);
  const at = Number(await middle.getAttribute("aria-rowindex")) - 2;
  const [want] = await service.sql<{ name: string; resource: string }>(
    `SELECT name, resource FROM objectstatus WHERE kind='object' ORDER BY name, resource LIMIT 1 OFFSET ${at}`,
  );
  await expect(middle.locator(".title a")).toHaveText(want?.name ?? "");
  await expect(middle.locator(".place a")).toHaveText(want?.resource ?? "");

  // All that changed shows as it is.
  await page.goto(`${service.url}/ui/status?kind=object&status=3`);
  await expect(page.getByRole("grid")).toBeVisible();
  const [critical] = await service.sql<{ n: number }>(
    "SELECT COUNT(*) AS n FROM objectstatus WHERE kind='object' AND status='3'",
  );
  await expect(page.getByRole("grid")).toHaveAttribute("aria-rowcount", String((critical?.n ?? 0) + 1));
}

/** scroll moves through the list like somebody with a wheel, with a jump now and then, and watches the frames. */
function scroll(frames: number): Promise<Frames & { most: number }> {
  return new Promise((done) => {
    const grid = document.querySelector("[role=grid]") as HTMLElement;
    const found = { frames: 0, longest: 0, slow: 0, tasks: 0, longestTask: 0, most: 0 };
    const watch = new PerformanceObserver((list) => {
      for (const e of list.getEntries()) {
        found.tasks++;
        found.longestTask = Math.max(found.longestTask, e.duration);
      }
    });
    watch.observe({ type: "longtask" });
    let last = performance.now();
    const frame = (now: number) => {
      const took = now - last;
      last = now;
      found.frames++;
      found.longest = Math.max(found.longest, took);
      if (took > 50) found.slow++;
      found.most = Math.max(found.most, grid.querySelectorAll("[role=row]").length); // rows that are made
      grid.scrollTop = found.frames % 120 === 0 ? (grid.scrollTop + 400_000) % grid.scrollHeight : grid.scrollTop + 40;
      if (found.frames < frames) requestAnimationFrame(frame);
      else {
        watch.disconnect();
        done(found);
      }
    };
    requestAnimationFrame(frame);
  });
}
