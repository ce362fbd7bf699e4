import type { Page } from "@playwright/test";
import { accessible, expect, logIn, password, test } from "./service";

test("logs in and out", { tag: "@quick" }, async ({ page, service }) => {
  await page.goto(`${service.url}/ui/events`);
  await accessible(page);
  await page.getByLabel("User").fill("admin");
  await page.getByLabel("Password", { exact: true }).fill("wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("alert")).toContainText("do not match");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("heading", { name: "Events" })).toBeVisible(); // the page that was asked for
  await page.getByLabel(/^You are admin/).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await expect(page.getByRole("button", { name: "Log in" })).toBeVisible();
  expect((await page.request.get(`${service.url}/api/session`)).status()).toBe(401);
});

test("too many failed logins have to wait", async ({ page, service }) => {
  await page.goto(`${service.url}/ui/`);
  await page.getByLabel("User").fill("nobody");
  for (let tries = 0; tries < 20; tries++) {
    await page.getByLabel("Password", { exact: true }).fill(`guess ${tries}`);
    await page.getByRole("button", { name: "Log in" }).click();
    await expect(page.getByRole("alert")).toBeVisible();
    if (await page.getByText("too many logins have failed").isVisible()) return;
  }
  throw new Error("nobody was asked to wait");
});

/** atOnce lets all keys come at the same moment, as g and a letter must, however slow the machine is. */
const atOnce = (page: Page, at: number) =>
  page.evaluate((at) => {
    Object.defineProperty(Event.prototype, "timeStamp", { get: () => at });
  }, at);

test("finds pages with the palette and with shortcuts", { tag: "@quick" }, async ({ page, service }) => {
  await logIn(page, service, "/ui/status");
  await page.keyboard.press("Control+k");
  await page.getByLabel("Search for items and pages").fill("event");
  await page.getByRole("option", { name: /Events/ }).waitFor();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Events" })).toBeVisible();
  await atOnce(page, 5000);
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await expect(page).toHaveURL(/\/ui\/map/);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("Go to Status");
});

test("a letter alone goes nowhere, also right after the page was opened", async ({ page, service }) => {
  await logIn(page, service, "/ui/events");
  await expect(page.getByRole("heading", { name: "Events" })).toBeVisible();
  await atOnce(page, 700);
  await page.keyboard.press("k");
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await expect(page).toHaveURL(/\/ui\/map/);
  await page.goBack();
  await expect(page).toHaveURL(/\/ui\/events/);
});
