// How fast the list is with 100,000 objects and 1,000 changes a second. The numbers are printed; what is asserted is that
// the rows are right, for a time depends on the machine.
import { expect, logIn, type Service, test } from "./service";

const resources = 1000;
const each = 100;
const seconds = 10;
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

/** change makes a tenth of the objects change their status back and forth, 100 at a time, at an even pace. */
async function change(service: Service, stop: { now: boolean }): Promise<number> {
  const begin = Date.now();
  let sent = 0;
  while (sent < seconds * perSecond && !stop.now) {
    const lines = Array.from({ length: 100 }, (_, i) => {
      const n = (sent + i) % (resources * 10);
      const value = Math.floor(sent / (resources * 10)) % 2 ? 10 : 97;
      return `data,${host(n % resources)},${disk(Math.floor(n / resources))},${value}`;
    });
    await service.csv("/api/send", "type,resname,object,i1", ...lines);
    sent += 100;
    const early = begin + (sent * 1000) / perSecond - Date.now();
    if (early > 0) await new Promise((done) => setTimeout(done, early));
  }
  return (sent * 1000) / (Date.now() - begin);
}

interface Frames {
  frames: number;
  longest: number;
  slow: number;
  tasks: number;
  longestTask: number;
}

test("100,000 objects", async ({ page, service }) => {
  test.setTimeout(300_000);
  await fill(service);
  await logIn(page, service, "/ui/events");

  // Frames tell how it looks here and now; the processor time of the page's own thread tells what it costs anywhere.
  const tools = await page.context().newCDPSession(page);
  await tools.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => {
    const { metrics } = await tools.send("Performance.getMetrics");
    return (metrics.find((m) => m.name === "TaskDuration")?.value ?? 0) * 1000;
  };

  // The page is there, the list is not: what counts is from the address to rows that can be read.
  await page.goto(`${service.url}/ui/status?kind=object`);
  await page.getByRole("row", { name: /host0000/ }).waitFor();
  const cold = await page.evaluate(() => performance.now());
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
  const background = change(service, stop);
  const found = await page.evaluate(scroll, seconds - 2);
  const busy = (await spent()) - before;
  stop.now = true;
  console.log(
    `scrolling with ${Math.round(await background)} changes/s: ${found.frames} frames, longest ${Math.round(found.longest)} ms, ` +
      `${found.slow} over 50 ms; ${found.tasks} long tasks, longest ${Math.round(found.longestTask)} ms; ` +
      `${Math.round(busy / found.frames)} ms of processor time per frame`,
  );
  expect(found.frames).toBeGreaterThan(0);

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
});

/** scroll moves through the list like somebody with a wheel, with a jump now and then, and watches the frames. */
function scroll(seconds: number): Promise<Frames> {
  return new Promise((done) => {
    const grid = document.querySelector("[role=grid]") as HTMLElement;
    const found = { frames: 0, longest: 0, slow: 0, tasks: 0, longestTask: 0 };
    const watch = new PerformanceObserver((list) => {
      for (const e of list.getEntries()) {
        found.tasks++;
        found.longestTask = Math.max(found.longestTask, e.duration);
      }
    });
    watch.observe({ type: "longtask" });
    const begin = performance.now();
    let last = begin;
    const frame = (now: number) => {
      const took = now - last;
      last = now;
      found.frames++;
      found.longest = Math.max(found.longest, took);
      if (took > 50) found.slow++;
      grid.scrollTop = found.frames % 120 === 0 ? (grid.scrollTop + 400_000) % grid.scrollHeight : grid.scrollTop + 40;
      if (now - begin < seconds * 1000) requestAnimationFrame(frame);
      else {
        watch.disconnect();
        done(found);
      }
    };
    requestAnimationFrame(frame);
  });
}
