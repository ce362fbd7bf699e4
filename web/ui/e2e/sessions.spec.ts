// Where one is logged in: seen, and ended from another place.
import { accessible, expect, logIn, test } from "./service";

const hostile = "Mozilla/5.0 (<script>alert(1)</script>; Windows NT 10.0) Firefox/142.0";

test("sees two sessions and ends the other one", async ({ page, service, browser }, info) => {
  const name = `twice ${info.project.name}`;
  const secret = service.cli("user", "create", "--name", name, "--role", "viewer");
  const elsewhere = await browser.newContext({ userAgent: hostile });
  const other = await elsewhere.newPage();
  await logIn(other, service, "/ui/status", name, secret);
  await logIn(page, service, "/ui/parameters/account", name, secret);

  const table = page.getByRole("table", { name: "Your sessions" });
  const rows = table.getByRole("row").filter({ hasText: "127.0.0.1" });
  await expect(rows).toHaveCount(2);
  await expect(rows.first()).toContainText("this one"); // the one that asks is first
  await expect(rows.first()).toContainText("Chrome");
  await expect(rows.last()).toContainText("Firefox 142 on Windows");
  await expect(rows.last()).not.toContainText("this one");
  await accessible(page);

  await page.getByRole("button", { name: "End the session of Firefox 142 on Windows from 127.0.0.1" }).click();
  await expect(page.getByRole("dialog")).toContainText("Firefox 142 on Windows");
  await accessible(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await other.reload(); // asking ends nothing
  await expect(other.getByLabel(/^You are /)).toBeVisible();

  await page.getByRole("button", { name: /^End the session of Firefox/ }).click();
  await page.getByRole("button", { name: "End the session", exact: true }).click();
  await expect(rows).toHaveCount(1);
  await expect(rows.first()).toContainText("this one");
  // Its next request is refused, whatever it asks for, and the page says so.
  expect((await elsewhere.request.get(`${service.url}/api/session`)).status()).toBe(401);
  await other.goto(`${service.url}/ui/events`);
  await expect(other.getByRole("button", { name: "Log in" })).toBeVisible();
  await elsewhere.close();
  await page.reload();
  await expect(rows).toHaveCount(1); // this one goes on
});

test("ends the session it uses", async ({ page, service }, info) => {
  const name = `once ${info.project.name}`;
  const secret = service.cli("user", "create", "--name", name, "--role", "viewer");
  await logIn(page, service, "/ui/parameters/account", name, secret);
  const answer = await page.request.get(`${service.url}/api/sessions`);
  const text = await answer.text();
  const [cookie] = await page.context().cookies();
  expect(text).not.toContain(cookie?.value);
  await page.getByRole("button", { name: "End this session" }).click();
  await expect(page.getByRole("dialog")).toContainText(/you will have to log in again/i);
  await page.getByRole("button", { name: "End the session", exact: true }).click();
  await expect(page.getByRole("button", { name: "Log in" })).toBeVisible();
  expect((await page.request.get(`${service.url}/api/session`)).status()).toBe(401);
});
