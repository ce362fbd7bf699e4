// What a page does when something goes wrong behind it: it says what is so, and goes on by itself when it can.
import { accessible, expect, logIn, Service, test } from "./service";
import { upgrade, upgraded } from "./upgraded";

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
  expect(await upgraded(page)).toBe(true);
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
  await page.getByRole("button", { name: "Search and commands" }).click();
  await expect(page.getByRole("alert")).toContainText("could not be loaded");
  await expect(page.getByRole("textbox", { name: /^CSV/ })).toHaveValue("name\nnot lost\n");
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Provisioning" })).toBeVisible();
  expect(await upgraded(page)).toBe(true);
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
    expect(await upgraded(page)).toBe(true);
  } finally {
    await service.remove();
  }
});
