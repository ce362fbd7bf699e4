// More windows of one browser than it has connections to a service: all of them work, and those that do not listen say so.
import type { Page } from "@playwright/test";
import { expect, logIn, test } from "./service";

const reads = (p: Page) => p.getByRole("status").filter({ hasText: "this one reloads everything every ten seconds" });

test("seven windows that are seen at the same time", async ({ fresh, service }) => {
  await service.csv("/api/provisioning/custom", "name", "windowed");
  const note = (text: string) =>
    service.json("POST", "/api/ackmanagenote/resources", { items: ["windowed"], note: text });
  await logIn(fresh, service, "/ui/item?kind=resource&name=windowed");
  const windows = [fresh];
  while (windows.length < 7) {
    const p = await fresh.context().newPage();
    await p.goto(fresh.url());
    windows.push(p);
  }
  for (const p of windows) await expect(p.getByRole("heading", { name: "windowed", level: 1 })).toBeVisible();
  const waiting = async () => {
    const said = await Promise.all(windows.map((p) => reads(p).count()));
    return said.reduce((a, b) => a + b, 0);
  };
  await expect.poll(waiting).toBe(3);
  await note("seen by all");
  for (const p of windows) await expect(p.getByText("seen by all").first()).toBeVisible();
  // Every window can still ask for other pages.
  for (const p of windows) {
    await p.getByRole("link", { name: "Events", exact: true }).first().click();
    await expect(p.getByRole("heading", { name: "Events", level: 1 })).toBeVisible();
    await p.goBack();
  }
  // A window that is closed makes room for another one.
  const listener = (await Promise.all(windows.map(async (p) => ((await reads(p).count()) ? [] : [p])))).flat()[0];
  await listener?.close();
  windows.splice(windows.indexOf(listener as Page), 1);
  await expect.poll(waiting).toBe(2);
  await note("and once more");
  for (const p of windows) await expect(p.getByText("and once more").first()).toBeVisible();
});
