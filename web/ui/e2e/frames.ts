// What a page costs while it is used: its frames as they look here and now, and the processor time of its own thread, which
// says more about other machines. Times are printed and decide nothing; what is asserted are counts and bytes.
import type { Page, Request } from "@playwright/test";
import { Service } from "./service";

export interface Frames {
  frames: number;
  longest: number;
  slow: number;
  tasks: number;
  longestTask: number;
}

/** stopwatch gives the processor time that the page's thread has spent, in milliseconds. */
export async function stopwatch(page: Page): Promise<() => Promise<number>> {
  const tools = await page.context().newCDPSession(page);
  await tools.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await tools.send("Performance.getMetrics");
    return (metrics.find((m) => m.name === "TaskDuration")?.value ?? 0) * 1000;
  };
}

/** shown opens an address and waits for so many of something; it tells how long that took, by the clock of the page. */
export async function shown(page: Page, address: string, selector: string, count = 1): Promise<number> {
  await page.goto(address);
  return page.evaluate(
    async ([selector, count]) => {
      while (document.querySelectorAll(selector).length < count) await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame); // until it is painted
      return performance.now();
    },
    [selector, count] as const,
  );
}

/** watch moves what scrolls by so much in each of so many frames, and back where it turns at its ends; it tells of them. */
export function watch(
  page: Page,
  selector: string,
  frames: number,
  by: { x: number; y: number; turns?: boolean },
): Promise<Frames> {
  return page.evaluate(
    ([selector, frames, by]) =>
      new Promise<Frames>((done) => {
        const found = { frames: 0, longest: 0, slow: 0, tasks: 0, longestTask: 0 };
        const heard = new PerformanceObserver((list) => {
          for (const e of list.getEntries()) {
            found.tasks++;
            found.longestTask = Math.max(found.longestTask, e.duration);
          }
        });
        heard.observe({ type: "longtask" });
        let last = performance.now();
        let [x, y] = [by.x, by.y];
        const frame = (now: number) => {
          const took = now - last;
          last = now;
          found.frames++;
          found.longest = Math.max(found.longest, took);
          if (took > 50) found.slow++;
          const box = document.querySelector(selector);
          if (box) {
            const [left, top] = [box.scrollLeft, box.scrollTop];
            box.scrollBy(x, y);
            if (by.turns && box.scrollLeft === left) x = -x;
            if (by.turns && box.scrollTop === top) y = -y;
          }
          if (found.frames < frames) requestAnimationFrame(frame);
          else {
            heard.disconnect();
            done(found);
          }
        };
        requestAnimationFrame(frame);
      }),
    [selector, frames, by] as const,
  );
}

export function told(f: Frames, busy: number): string {
  return (
    `${f.frames} frames, longest ${Math.round(f.longest)} ms, ${f.slow} over 50 ms; ${f.tasks} long tasks, ` +
    `longest ${Math.round(f.longestTask)} ms; ${Math.round(busy / f.frames)} ms of processor time per frame`
  );
}

/** Traffic counts the queries of a page and what they brought. */
export class Traffic {
  private readonly done: Request[] = [];

  constructor(page: Page) {
    page.on("requestfinished", (r) => {
      if (/^\/api\/(sql|tree)/.test(new URL(r.url()).pathname)) this.done.push(r);
    });
  }

  /** since gives the queries, and their bytes, since it was called last. */
  async since(): Promise<{ queries: number; bytes: number }> {
    const done = this.done.splice(0);
    const sizes = await Promise.all(done.map((r) => r.sizes()));
    return { queries: done.length, bytes: sizes.reduce((sum, s) => sum + Math.max(0, s.responseBodySize), 0) };
  }
}

/** changing sends values at an even pace until it is told to stop, and tells how many there were. */
export async function changing(
  service: Service,
  perSecond: number,
  row: (n: number) => string,
  stop: { now: boolean },
): Promise<{ sent: number; perSecond: number }> {
  const begin = Date.now();
  let sent = 0;
  while (!stop.now) {
    const lines = Array.from({ length: 100 }, (_, i) => row(sent + i));
    await service.csv("/api/send", "type,resname,object,i1", ...lines);
    sent += 100;
    const early = begin + (sent * 1000) / perSecond - Date.now();
    if (early > 0) await new Promise((done) => setTimeout(done, early));
  }
  return { sent, perSecond: Math.round((sent * 1000) / (Date.now() - begin)) };
}

/** alone runs on a service of its own: what fills it must not stand in the way of other tests. */
export async function alone(run: (service: Service) => Promise<void>): Promise<void> {
  const service = await Service.start();
  try {
    await run(service);
  } finally {
    await service.remove();
  }
}
