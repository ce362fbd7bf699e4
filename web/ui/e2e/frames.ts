// What a page costs while it is used: its frames as they look here and now, and the processor time of its own thread, which
// says more about other machines. Figures are printed and decide nothing.
import type { Page } from "@playwright/test";
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

/** watch moves what scrolls by so much in each frame, and back where it turns at its ends; it tells of the frames. */
export function watch(
  page: Page,
  selector: string,
  seconds: number,
  by: { x: number; y: number; turns?: boolean },
): Promise<Frames> {
  return page.evaluate(
    ([selector, seconds, by]) =>
      new Promise<Frames>((done) => {
        const found = { frames: 0, longest: 0, slow: 0, tasks: 0, longestTask: 0 };
        const heard = new PerformanceObserver((list) => {
          for (const e of list.getEntries()) {
            found.tasks++;
            found.longestTask = Math.max(found.longestTask, e.duration);
          }
        });
        heard.observe({ type: "longtask" });
        const begin = performance.now();
        let last = begin;
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
          if (now - begin < seconds * 1000) requestAnimationFrame(frame);
          else {
            heard.disconnect();
            done(found);
          }
        };
        requestAnimationFrame(frame);
      }),
    [selector, seconds, by] as const,
  );
}

export function told(f: Frames, busy: number): string {
  return (
    `${f.frames} frames, longest ${Math.round(f.longest)} ms, ${f.slow} over 50 ms; ${f.tasks} long tasks, ` +
    `longest ${Math.round(f.longestTask)} ms; ${Math.round(busy / f.frames)} ms of processor time per frame`
  );
}

/** changing sends values at an even pace until it is told to stop, and tells how many it sent in a second. */
export async function changing(
  service: Service,
  perSecond: number,
  row: (n: number) => string,
  stop: { now: boolean },
): Promise<number> {
  const begin = Date.now();
  let sent = 0;
  while (!stop.now && sent < 60 * perSecond) {
    const lines = Array.from({ length: 100 }, (_, i) => row(sent + i));
    await service.csv("/api/send", "type,resname,object,i1", ...lines);
    sent += 100;
    const early = begin + (sent * 1000) / perSecond - Date.now();
    if (early > 0) await new Promise((done) => setTimeout(done, early));
  }
  return Math.round((sent * 1000) / (Date.now() - begin));
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
