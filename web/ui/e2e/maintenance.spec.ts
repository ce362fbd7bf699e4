// Maintenance windows: several for an item, each with a name, in the dialog, on the page of the item and in the list of all.
import type { Page } from "@playwright/test";
import { accessible, expect, logIn, type Service, test } from "./service";

const unmanaged = { isunmanaged: true, unmanageifred: false, collectunmanage: true, collectorunmanage: true };

/** box makes a resource with an object. */
async function box(service: Service, name: string): Promise<void> {
  await service.csv("/api/provisioning/custom", "name", name);
  await service.csv("/api/send", "type,resname,object,class,view,i1", `data,${name},load,load,${name},1`);
}

/** plan makes a window of a resource by the API. */
const plan = (service: Service, name: string, window: object) =>
  service.json("POST", "/api/ackmanagenote/resources", { items: [name], ...unmanaged, ...window });

const itemPage = (name: string) => `/ui/item?kind=resource&name=${encodeURIComponent(name)}`;

/** named lists the names of the windows that the service has of an item. */
async function named(service: Service, item: string): Promise<string[]> {
  const answer = await service.call("GET", "/api/windows?limit=1000");
  const all = ((await answer.json()) as { windows: { name: string; window?: string }[] }).windows;
  return all.filter((w) => w.name === item).map((w) => w.window ?? "");
}

/** fill writes a window into the dialog. */
async function fill(page: Page, from: string, to: string, name: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("From", { exact: true }).fill(from);
  await dialog.getByLabel("To", { exact: true }).fill(to);
  await dialog.getByLabel("Name of the window").fill(name);
}

/** walk goes to another page in the same tab, as a link does. */
const walk = (page: Page, path: string) =>
  page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);

test("several windows are planned, listed and removed", { tag: "@quick" }, async ({ page, service }) => {
  await box(service, "window box");
  await plan(service, "window box", { fromdatetime: "2098-03-01T08:00Z", todatetime: "2098-03-01T09:00Z" });
  await logIn(page, service, itemPage("window box"));
  await page.getByRole("button", { name: "Unmanage", exact: true }).click();
  const dialog = page.getByRole("dialog");
  const has = dialog.getByRole("list", { name: "Windows of window box" }).getByRole("listitem");
  await expect(has).toHaveText([/without a name.*planned.*1 Mar 2098.*Once, UTC, by test/]);
  await fill(page, "2098-07-05T22:00", "2098-07-06T04:00", "nightly");
  await dialog.getByLabel("Repeat").click();
  await page.getByRole("option", { name: "Every day" }).click();
  await accessible(page);
  await dialog.getByRole("button", { name: "Unmanage", exact: true }).click();
  const outcome = dialog.getByRole("list", { name: "Result for each item" }).getByRole("listitem");
  await expect(outcome).toContainText("planned from 5 Jul 2098, 22:00:00");
  await dialog.getByRole("button", { name: "Close" }).last().click();

  const own = page.getByRole("list", { name: "Windows of window box" }).getByRole("listitem");
  await expect(own).toHaveText([/without a name/, /nightly.*planned.*Every day, Europe\/Paris, by admin/]);

  await page.goto(`${service.url}/ui/maintenance`);
  const rows = page.getByRole("row", { name: /window box/ });
  await expect(rows).toHaveCount(2);
  await expect(rows.nth(1)).toContainText(
    /nightly.*5 Jul 2098, 22:00:00 – 6 Jul 2098, 04:00:00.*Every day, Europe\/Paris.*admin/,
  );
  await accessible(page);
  const remove = page.getByRole("button", { name: "Remove the window without a name of window box" });
  await remove.click();
  await page.getByRole("button", { name: "Keep it" }).click();
  expect(await named(service, "window box")).toEqual(["", "nightly"]);
  await remove.click();
  await page.getByRole("button", { name: /^Remove the window without a name of window box now$/ }).click();
  await expect(rows).toHaveCount(1);
  expect(await named(service, "window box")).toEqual(["nightly"]);
  await rows.getByRole("link", { name: "window box" }).click();
  await expect(own).toHaveText([/nightly/]);
});

test("another zone is chosen by typing, and only a zone is sent", async ({ page, service }) => {
  await box(service, "zone box");
  // Styles of the status list stay in the tab.
  await logIn(page, service, "/ui/status");
  await expect(page.getByRole("grid")).toBeVisible();
  await walk(page, itemPage("zone box"));
  await page.getByRole("button", { name: "Unmanage", exact: true }).click();
  await fill(page, "2098-07-06T02:00", "2098-07-06T04:00", "weekly");
  const dialog = page.getByRole("dialog");
  const zone = dialog.getByLabel("Time zone");
  const send = dialog.getByRole("button", { name: "Unmanage", exact: true });
  await expect(zone).toHaveValue("Europe/Paris");
  await zone.click();
  await page.keyboard.type("nowhere at all");
  await expect(zone).toHaveValue("nowhere at all");
  await expect(dialog.getByText("No such zone")).toBeVisible();
  await page.keyboard.press("Enter");
  await send.click();
  await expect(zone).toBeFocused();
  await expect(send).toBeEnabled();
  expect(await named(service, "zone box")).toEqual([]);

  await zone.fill("");
  await page.keyboard.type("new york");
  await expect(page.getByRole("option").first()).toHaveText("America/New_York");
  await page.keyboard.press("Enter");
  await expect(zone).toHaveValue("America/New_York");
  await page.keyboard.press("Enter");
  expect(await named(service, "zone box")).toEqual([]);
  await dialog.getByLabel("Repeat").click();
  await page.getByRole("option", { name: "Every week on that day" }).click();
  await accessible(page);
  await send.click();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  const said =
    /6 Jul 2098, 08:00:00.*6 Jul 2098, 02:00 – 6 Jul 2098, 04:00 in America\/New_York.*Every week on Sunday, America\/New_York/;
  await expect(page.getByRole("list", { name: "Windows of zone box" }).getByRole("listitem")).toHaveText(said);

  await walk(page, "/ui/maintenance");
  await expect(page.getByRole("row", { name: /zone box/ })).toContainText(said);
  const table = page.getByRole("table", { name: "Maintenance windows" });
  const frame = table.locator("xpath=ancestor::*[contains(@class, 'card')]");
  const height = (l: typeof table) => l.evaluate((e) => e.getBoundingClientRect().height);
  const [inside, around] = [await height(table), await height(frame)];
  expect(Math.abs(around - inside)).toBeLessThan(40);
});

test("a window is replaced by its name, and one that is open can be removed", async ({ page, service }) => {
  await box(service, "open box");
  await plan(service, "open box", { window: "now", todatetime: "2098-03-01T09:00Z" });
  await plan(service, "open box", {
    window: "later",
    fromdatetime: "2098-03-01T08:00Z",
    todatetime: "2098-03-01T09:00Z",
  });
  await logIn(page, service, itemPage("open box"));
  const own = page.getByRole("list", { name: "Windows of open box" }).getByRole("listitem");
  await expect(own).toHaveText([/now.*open/, /later.*planned.*1 Mar 2098/]);
  await page.getByRole("button", { name: "Unmanage", exact: true }).click();
  await fill(page, "2098-04-01T08:00", "2098-04-01T09:00", "later");
  await page.getByRole("dialog").getByRole("button", { name: "Unmanage", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await expect(own).toHaveText([/now.*open/, /later.*planned.*1 Apr 2098/]);

  // In the dialog, too.
  await page.getByRole("button", { name: "Unmanage", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Remove the window now of open box" }).click();
  await dialog.getByRole("button", { name: "Remove the window now of open box now" }).click();
  await expect(dialog.getByRole("listitem")).toHaveText([/later/]);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("region", { name: "Status", exact: true })).not.toContainText("Unmanaged");
});

test("what the service refuses is told, and who may only look removes nothing", async ({ page, service }) => {
  await box(service, "closed box");
  await plan(service, "closed box", { window: "gone", fromdatetime: "2098-03-01T08:00Z" });
  await logIn(page, service, "/ui/maintenance?q=closed");
  const row = page.getByRole("row", { name: /closed box/ });
  await row.getByRole("button", { name: /^Remove/ }).click();
  await page.route("**/api/ackmanagenote/**", (r) =>
    r.fulfill({
      status: 400,
      json: { error: { code: "bad_parameter", message: "no window of that name" }, items: [], errors: [] },
    }),
  );
  await row.getByRole("button", { name: /now$/ }).click();
  await expect(row.getByRole("alert")).toHaveText("no window of that name");
  await page.unrouteAll();

  const made = await page.request.post(`${service.url}/api/users`, {
    data: { name: "looker", role: "viewer", password: "a long enough one" },
  });
  expect(made.status(), await made.text()).toBe(201);
  await page.context().clearCookies();
  await logIn(page, service, "/ui/maintenance", "looker", "a long enough one");
  await expect(row).toBeVisible();
  await expect(page.getByRole("button", { name: /^Remove/ })).toHaveCount(0);
});
