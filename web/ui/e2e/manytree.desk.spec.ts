// 100,000 objects on one page, one of which is critical. Times are printed; what is asserted holds on every machine.
import type { Page } from "@playwright/test";
import { mapClass } from "./drawn";
import { alone, shown, stopwatch, Traffic } from "./frames";
import { accessible, expect, logIn, type Service, test } from "./service";

const resources = 10_000;
const each = 10;
const host = (n: number) => `host${String(n).padStart(5, "0")}`;
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

async function fill(service: Service): Promise<void> {
  await mapClass(service);
  await service.csv("/api/provisioning/view", "name,view", ...range(0, 10).map((n) => `site${n},MAIN`));
  await service.csv(
    "/api/provisioning/custom",
    "name,view",
    ...range(0, resources).map((n) => `${host(n)},site${n % 10}`),
  );
  for (let at = 0; at < resources; at += 1000) {
    const rows = range(at, at + 1000).flatMap((n) =>
      range(0, each).map((o) => `data,${host(n)},object${o},maploads,${host(n)},10`),
    );
    await service.csv("/api/send", "type,resname,object,class,view,i1", ...rows);
  }
  await service.csv("/api/send", "type,resname,object,i1", `data,${host(4711)},object3,99`);
}

/** red counts the pixels of the drawing that have the colour of what is critical. */
const red = (page: Page) =>
  page.locator(".treemap-chart canvas").evaluate((c) => {
    const canvas = c as HTMLCanvasElement;
    const wanted = getComputedStyle(canvas).getPropertyValue("--status-critical").trim();
    const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
    let n = 0;
    for (let i = 0; i < data.length; i += 4) {
      const at = [data[i], data[i + 1], data[i + 2]].map((v) => (v ?? 0).toString(16).padStart(2, "0")).join("");
      if (`#${at}` === wanted) n++;
    }
    return n;
  });

test("one critical object among 100,000 is seen in the tree map", async ({ fresh: page }) => {
  await alone(async (service) => {
    await fill(service);
    await logIn(page, service, "/ui/parameters/account");
    const traffic = new Traffic(page);
    const spent = await stopwatch(page);
    const begin = await spent();
    const took = await shown(page, `${service.url}/ui/treemap`, ".treemap-chart canvas");
    const { queries, bytes } = await traffic.since();
    console.log(
      `tree map of ${resources * each} objects: shown after ${Math.round(took)} ms, ${Math.round((await spent()) - begin)} ms of processor time, ${queries} queries, ${bytes} bytes`,
    );
    await expect(page.getByText(`${(resources * each).toLocaleString("en-GB")} objects`)).toBeVisible();
    await expect.poll(() => red(page)).toBeGreaterThanOrEqual(4);
    // However many objects there are, the page stays small, and the keyboard finds its way.
    expect(await page.locator(".treemap-chart *").count()).toBeLessThan(6000);
    await accessible(page);
    const site = page.getByRole("button", { name: /^site1: 1 Critical, 9,999 OK/ });
    await site.focus();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("navigation", { name: "Way to this part" })).toHaveText("MAIN/site1");
    await expect.poll(() => red(page)).toBeGreaterThanOrEqual(4);
    await page.getByText("Table", { exact: true }).click();
    await expect(page.getByRole("row").nth(1)).toContainText(host(4711)); // the worst first
  });
});
