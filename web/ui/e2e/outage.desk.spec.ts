// What a page does when something goes wrong behind it: it says what is so, and goes on by itself when it can.
import type { Page } from "@playwright/test";
import { accessible, expect, logIn, Service, test } from "./service";
import { again, madeOf, upgrade } from "./upgraded";

test("an error in a page stays in that page", { tag: "@quick" }, async ({ page, service, complaints }) => {
  await service.csv("/api/provisioning/custom", "name", "boundary");
  await page.route("**/api/tree*", (route) => route.fulfill({ json: { view: { name: "MAIN", kind: "view" } } })); // no children
  await logIn(page, service, "/ui/map");
  const failed = page.getByRole("alert").filter({ hasText: "It cannot be shown" });
  await expect(failed).toContainText("(TypeError in the page)"); // what went wrong
  await accessible(page);
  expect(complaints.splice(0).length).toBeGreaterThan(0); // the browser's console has it, too

  await page
    .getByRole("navigation", { name: "Sections" })
    .getByRole("link", { name: "Events", includeHidden: true })
    .evaluate((a: HTMLElement) => a.click());
  await expect(page.getByRole("heading", { level: 1, name: "Events" })).toBeVisible();
  await page.goBack();
  await expect(failed).toBeVisible();
  complaints.splice(0);
  await page.unroute("**/api/tree*");
  await failed.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Map" })).toBeVisible();
  await expect(failed).toHaveCount(0);
});

test("after an upgrade a page reloads itself once for a part that is gone", { tag: "@quick" }, async ({
  fresh: page,
  service,
}) => {
  await logIn(page, service, "/ui/status");
  let loads = 0;
  page.on("domcontentloaded", () => loads++);
  await upgrade(page, /\/Provisioning-/);
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await expect(page.getByRole("heading", { level: 1, name: "Events" })).toBeVisible();
  expect(await madeOf(page)).toMatch(again);
  expect(loads).toBe(1);
  await expect(page.getByText("another version of this page")).toHaveCount(0);

  // A part that does not come after that either: people are told, and nothing goes round in circles.
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await expect(page.getByRole("alert")).toContainText("could not be loaded");
  await expect(page.getByRole("status").filter({ hasText: "another version of this page" })).toBeVisible();
  await accessible(page);
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await expect(page.getByRole("heading", { level: 1, name: "Events" })).toBeVisible();
  expect(loads).toBe(1);
});

test("a page does not reload itself under somebody who writes", async ({ fresh: page, service }) => {
  await logIn(page, service, "/ui/provisioning?package=custom&way=paste");
  await page.getByRole("textbox", { name: /^CSV/ }).fill("name\nnot lost\n");
  await upgrade(page);
  await page.getByLabel(/^You are /).click();
  await page.getByRole("menuitem", { name: "Shortcuts" }).click();
  await expect(page.getByRole("alert")).toContainText("could not be loaded");
  await expect(page.getByRole("textbox", { name: /^CSV/ })).toHaveValue("name\nnot lost\n");
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Provisioning" })).toBeVisible();
  expect(await madeOf(page)).toMatch(again);
});

test("a service that comes back with other files is noticed", async ({ fresh: page }) => {
  const service = await Service.start();
  try {
    await logIn(page, service, "/ui/parameters/account");
    await service.stop();
    await service.run();
    await expect(page.getByLabel("Search and commands")).toBeVisible();
    const other = page.getByRole("status").filter({ hasText: "another version of this page" });
    await service.stop();
    await upgrade(page);
    await service.run();
    await expect(other).toBeVisible();
    await other.getByRole("button", { name: "Reload" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Your account" })).toBeVisible();
    await expect(other).toHaveCount(0);
    expect(await madeOf(page)).toMatch(again);
  } finally {
    await service.remove();
  }
});

/** Every page, with something on it that the service was asked for. */
const everyPage = [
  "status",
  "map",
  "map?as=list",
  "treemap",
  "item?kind=object&name=one&resource=retry",
  "item?kind=resource&name=retry",
  "events",
  "provisioning",
  "provisioning?package=custom&do=export",
  "parameters/keys",
  "parameters/users",
  "parameters/customers",
  "parameters/classes",
  "parameters/packages",
  "parameters/policies",
  "parameters/retention",
  "parameters/health",
  "parameters/account",
];

/** refuse lets the service refuse everything but who is there. */
const refuse = (page: Page, status: number, code: string) =>
  page.route(
    (url) => url.pathname.startsWith("/api/") && !/^\/api\/(session|stream|version)$/.test(url.pathname),
    (route) => route.fulfill({ status, json: { error: { code, message: "not at the moment." } } }),
  );

/** readAgain shows that a page reads what it could not read: by itself if that may pass, else by the button. */
async function readAgain(page: Page, service: Service, path: string) {
  const failed = page.getByRole("alert").filter({ hasText: "not at the moment." });
  await refuse(page, 503, "overloaded");
  await page.goto(`${service.url}/ui/${path}`);
  await expect(failed.first()).toBeVisible();
  await page.unrouteAll();
  await expect(failed).toHaveCount(0); // nobody needs to press anything
  await refuse(page, 400, "bad_parameter");
  await page.reload();
  await expect(failed.first()).toBeVisible();
  await page.unrouteAll();
  await expect(async () => {
    // It may go by itself: the first connection to the stream has everything read once more.
    const again = failed.getByRole("button", { name: "Try again" });
    if (await again.count()) await again.first().click({ timeout: 1000 });
    await expect(failed).toHaveCount(0, { timeout: 1000 });
  }).toPass();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
}

async function retried(service: Service) {
  await service.csv("/api/provisioning/custom", "name", "retry");
  await service.csv("/api/send", "type,resname,object,class,view,i1", "data,retry,one,load,retry,1");
}

test("the status list that could not be read is read again", async ({ page, service }) => {
  await retried(service);
  await logIn(page, service, "/ui/parameters/account");
  await readAgain(page, service, "status?view=retry");
  await expect(page.getByRole("grid", { name: "Items and their status" })).toContainText("one");
});

test("so is what every other page shows", async ({ page, service }) => {
  await retried(service);
  await logIn(page, service, "/ui/parameters/account");
  for (const path of everyPage) await test.step(path, () => readAgain(page, service, path));
});

test("what is shown and could not be read again is said to be old", async ({ page, service }) => {
  await service.csv("/api/provisioning/custom", "name", "old");
  await service.csv("/api/send", "type,resname,object,class,view,i1", "data,old,one,load,old,1");
  const old = page.getByRole("status").filter({ hasText: /is from .* and could not be read since: not at the moment/ });
  for (const path of ["status?view=old", "item?kind=object&name=one&resource=old", "map"]) {
    await logIn(page, service, `/ui/${path}`);
    await expect(page.getByText("one").or(page.getByText("old")).first()).toBeVisible();
    await refuse(page, 503, "overloaded");
    await service.json("POST", "/api/ackmanagenote/resources", { items: ["old"], note: `asks ${path} again` });
    await expect(old).toBeVisible();
    await page.unrouteAll();
    await expect(old).toHaveCount(0);
  }
});

const away = (page: Page) =>
  page.getByRole("status").filter({ hasText: /^Not connected since \d.*The page shows the state of that time/ });
const otherFiles = (page: Page) => page.getByRole("status").filter({ hasText: "another version of this page" });

/** outage ends the service and starts it again. The page says so and goes on by itself; how long that took is printed. */
async function outage(page: Page, service: Service, how: NodeJS.Signals, meanwhile?: () => Promise<void>) {
  const clock = () => performance.now();
  let begin = clock();
  if (how === "SIGSTOP") service.signal(how);
  else await service.stop(how);
  await expect(away(page)).toBeVisible();
  const gone = clock() - begin;
  await meanwhile?.();
  if (how === "SIGSTOP") service.signal("SIGCONT");
  else await service.run();
  begin = clock();
  await expect(away(page)).toHaveCount(0);
  await expect(page.getByText("Waiting for the service…")).toHaveCount(0);
  await expect(page.getByRole("alert").filter({ hasText: "cannot be reached" })).toHaveCount(0);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  console.log(`${page.url()}: told after ${Math.round(gone)} ms, back after ${Math.round(clock() - begin)} ms`);
}

test("a page says that the service is gone, and goes on when it is back", { tag: "@quick" }, async ({ page }) => {
  const service = await Service.start();
  try {
    await retried(service);
    await logIn(page, service, "/ui/status?view=retry");
    const grid = page.getByRole("grid", { name: "Items and their status" });
    await expect(grid).toContainText("one");
    await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }));
    await outage(page, service, "SIGKILL", async () => {
      await accessible(page);
      await expect(grid).toContainText("one"); // what was so stays
    });
    await service.csv("/api/send", "type,resname,object,class,view,i1", "data,retry,new,load,retry,1");
    await expect(grid).toContainText("new");
    await outage(page, service, "SIGSTOP"); // the connection is open, and nothing comes
    await service.csv("/api/send", "type,resname,object,class,view,i1", "data,retry,newer,load,retry,1");
    await expect(grid).toContainText("newer");
    await expect(otherFiles(page)).toHaveCount(0);
    expect(await page.evaluate(() => "sameDocument" in globalThis)).toBe(true);
  } finally {
    await service.remove();
  }
});

test("so does every page, and it notices other files", async ({ page: first, context }) => {
  const service = await Service.start();
  try {
    await retried(service);
    await logIn(first, service, "/ui/parameters/account");
    for (const path of everyPage)
      await test.step(path, async () => {
        const page = await context.newPage(); // the one before may be about to load its new files
        await page.goto(`${service.url}/ui/${path}`);
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        await expect(page.getByText("Loading…")).toHaveCount(0);
        await outage(page, service, "SIGKILL", () => upgrade(page));
        // A page that was about to load a part that is gone has reloaded itself, with the new files.
        await expect
          .poll(async () => (await otherFiles(page).isVisible()) || again.test(await madeOf(page).catch(() => "")))
          .toBe(true);
        await page.close();
      });
  } finally {
    await service.remove();
  }
});

test("whoever goes to another page meanwhile finds it when the service is back", async ({ page }) => {
  const service = await Service.start();
  try {
    await retried(service);
    await logIn(page, service, "/ui/map");
    await expect(page.getByRole("heading", { level: 1, name: "Map" })).toBeVisible();
    await page.keyboard.press("g");
    await page.keyboard.press("s"); // loaded, and left again
    await expect(page.getByRole("grid", { name: "Items and their status" })).toBeVisible();
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await outage(page, service, "SIGKILL", async () => {
      await page.keyboard.press("g");
      await page.keyboard.press("s");
      await expect(page.getByRole("alert")).toContainText("cannot be reached");
      await page.keyboard.press("g");
      await page.keyboard.press("k"); // a part that was not loaded yet
    });
    await expect(page.getByRole("heading", { level: 1, name: "API keys" })).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
  } finally {
    await service.remove();
  }
});

test("a page that was first opened meanwhile has its styles when the service is back", async ({ fresh: page }) => {
  const service = await Service.start();
  try {
    await retried(service);
    await logIn(page, service, "/ui/status?view=retry");
    await expect(page.getByRole("grid", { name: "Items and their status" })).toContainText("one");
    await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }));
    await outage(page, service, "SIGKILL", async () => {
      await page.getByRole("link", { name: "Events", exact: true }).click();
      await expect(page.getByRole("alert")).toContainText("could not be loaded");
      await page.getByRole("link", { name: "Tree map", exact: true }).click();
      await expect(page.getByRole("alert")).toContainText("could not be loaded");
    });
    await expect(page.getByRole("heading", { level: 1, name: "Tree map" })).toBeVisible();
    await expect(page.locator(".treemap-frame")).toHaveCSS("overflow", "hidden");
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await expect(page.locator(".event").first()).toHaveCSS("display", "grid");
    expect(await page.evaluate(() => "sameDocument" in globalThis)).toBe(true);
  } finally {
    await service.remove();
  }
});

test("what is done meanwhile is not lost, and can be tried again", async ({ fresh: page }) => {
  const service = await Service.start();
  try {
    await retried(service);
    await logIn(page, service, "/ui/item?kind=object&name=one&resource=retry");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Note", exact: true }).click(); // loads the dialog
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await outage(page, service, "SIGKILL", async () => {
      await page.keyboard.press("Control+k");
      const missing = page.getByRole("alert").filter({ hasText: "could not be loaded" });
      await missing.getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Note", exact: true }).click();
      await dialog.getByLabel("Note").fill("written at night");
      await dialog.getByRole("button", { name: "Note", exact: true }).click();
      await expect(dialog).toContainText("Nothing is sent again by itself");
      await expect(dialog).not.toContainText("this page tries again");
      await accessible(page);
    });
    await expect(dialog.getByLabel("Note")).toHaveValue("written at night");
    await dialog.getByRole("button", { name: "Try again" }).click();
    await expect(dialog).toHaveCount(0);
    const note = async () => (await service.sql<{ note: string }>("SELECT note FROM objectstatus WHERE name='one'"))[0];
    expect(await note()).toEqual({ note: "written at night" });

    // So it is with what the service refuses.
    await page.getByRole("button", { name: "Unmanage", exact: true }).click();
    await dialog.getByLabel("Why").fill("new disk");
    await dialog.getByLabel("To", { exact: true }).fill("2001-07-06T04:00");
    await dialog.getByRole("button", { name: "Unmanage", exact: true }).click();
    await expect(dialog.getByRole("alert").filter({ hasText: "1 item not done" })).toBeVisible();
    await dialog.getByLabel("To", { exact: true }).fill("2098-07-06T04:00");
    await expect(dialog.getByLabel("Why")).toHaveValue("new disk");
    await dialog.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("region", { name: "Status", exact: true })).toContainText("Unmanaged");
  } finally {
    await service.remove();
  }
});

test("a dialog that does not come at once says that it is loaded", async ({ fresh: page, service }) => {
  let there: () => void = () => {};
  const waits = new Promise<void>((done) => {
    there = done;
  });
  await page.route(/\/palette-[^/]*\.js$/, async (route) => {
    await waits;
    await route.continue();
  });
  await logIn(page, service, "/ui/parameters/account");
  await expect(page.getByText("Loading…")).toHaveCount(0);
  const opening = page.getByRole("status").filter({ hasText: "Loading…" });
  await page.keyboard.press("Control+k");
  await expect(opening).toBeVisible();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(opening).toHaveCount(0);
  await page.keyboard.press("Control+k");
  there();
  await expect(page.getByLabel("Search for items and pages")).toBeFocused();
  await expect(opening).toHaveCount(0);
});

test("a browser has more tabs than connections", async ({ page, service, context }) => {
  await service.csv("/api/provisioning/custom", "name", "tabs");
  const send = (object: string) =>
    service.csv("/api/send", "type,resname,view,class,object,i1", `data,tabs,tabs,tabs,${object},1`);
  await send("first in tabs");
  const hide = (p: Page, hidden: boolean) =>
    p.evaluate((h) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => h });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await logIn(page, service, "/ui/status?view=tabs"); // the whole list is longer than the window in a long run
  const list = (p: Page) => p.getByText("first in tabs");
  await expect(list(page)).toBeVisible();
  for (let i = 0; i < 8; i++) {
    const tab = await context.newPage();
    await tab.goto(page.url());
    await expect(list(tab)).toBeVisible();
    await hide(tab, true);
    await hide(page, true);
  }
  await hide(page, false);
  await send("second in tabs");
  await expect(page.getByText("second in tabs")).toBeVisible();
});
