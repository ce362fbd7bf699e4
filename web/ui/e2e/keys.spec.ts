import { execFileSync } from "node:child_process";
import type { Page } from "@playwright/test";
import { accessible, expect, logIn, test } from "./service";

/** make creates a key in the dialog and leaves it shown. */
async function make(page: Page, name: string, level: string, term?: string) {
  await page
    .getByRole("button", { name: /^Create (a|the first) key$/ })
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("radio", { name: level, exact: true }).check();
  if (term) await dialog.getByLabel("Expires").selectOption(term);
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  return dialog;
}

/** shell runs lines exactly as a page shows them. */
const shell = (lines: string) => execFileSync("sh", ["-c", lines], { encoding: "utf8" });

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

test(
  "creates a key, uses its lines with curl, revokes it",
  { tag: "@quick" },
  async ({ page, service, context }, info) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const name = `curl ${info.project.name}`;
    await logIn(page, service, "/ui/parameters/keys");
    const dialog = await make(page, name, "Read and write", "In 90 days");
    const key = (await dialog.getByTestId("key").textContent()) ?? "";
    expect(key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    await accessible(page);

    await dialog.getByRole("button", { name: "Copy the key" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    await dialog.getByRole("button", { name: "Copy: Lines that send a value" }).click();
    const send = await page.evaluate(() => navigator.clipboard.readText());
    expect(send).toBe(await dialog.getByLabel("Lines that send a value", { exact: true }).textContent());
    const query = (await dialog.getByLabel("Line that runs a query", { exact: true }).textContent()) ?? "";
    const said = shell(send);
    expect(said).toContain('"accepted":1');
    expect(said).not.toContain('"rejected":1');
    expect(JSON.parse(shell(query)).rows).toContainEqual(
      expect.objectContaining({ resource: "first-steps", object: "temperature", i1: 21.5 }),
    );

    await page.keyboard.press("Escape"); // would lose the key
    await expect(dialog).toBeVisible();
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    await expect(page.getByText(key)).toHaveCount(0);
    await page.reload();
    await expect(row(page, name)).toContainText(key.slice(-4));
    await expect(row(page, name)).toContainText("by admin");
    await expect(row(page, name)).toContainText(/\d+ (s|min) ago/);
    await expect(page.getByText(key)).toHaveCount(0);

    await page.getByRole("button", { name: `Revoke ${name}` }).click();
    await expect(page.getByRole("dialog")).toContainText("cannot be undone");
    await accessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect(JSON.parse(shell(query)).rows.length).toBeGreaterThan(0);
    await page.getByRole("button", { name: `Revoke ${name}` }).click();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await expect(row(page, name)).toHaveCount(0);
    expect(shell(query)).toContain("invalid_key");
  },
);

test("a key may read and expires, unless more is chosen", async ({ page, service }, info) => {
  const name = `careful ${info.project.name}`;
  await logIn(page, service, "/ui/parameters/keys");
  await page
    .getByRole("button", { name: /^Create (a|the first) key$/ })
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("radio", { name: "Read", exact: true })).toBeChecked();
  await expect(dialog.getByLabel("Expires")).toHaveValue("90d");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await expect(dialog.getByTestId("key")).toBeVisible();
  const key = (await dialog.getByTestId("key").textContent()) ?? "";
  const refused = await service.call("POST", "/api/send", "type,object,i1\n", "text/csv", key);
  expect(refused.status).toBe(403);
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  const at = await row(page, name).locator("time").last().getAttribute("datetime");
  const days = (Date.parse(at ?? "") - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(90);
});

test("a key can end on a date; what is wrong is told", async ({ page, service }, info) => {
  const name = `dated ${info.project.name}`;
  await logIn(page, service, "/ui/parameters/keys");
  await page
    .getByRole("button", { name: /^Create (a|the first) key$/ })
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  await accessible(page);
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("radio", { name: "Read", exact: true }).check();
  await dialog.getByLabel("Expires").selectOption("On a date");
  await dialog.getByLabel("Last time at which it is accepted").fill("2020-01-01T12:00");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await expect(dialog.getByRole("alert")).toContainText("expires is over already");
  await dialog.getByLabel("Last time at which it is accepted").fill("2099-03-01T12:00");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await expect(dialog.getByTestId("key")).toBeVisible();
  await expect(dialog.getByLabel("Lines that send a value", { exact: true })).toHaveCount(0); // it could not
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await expect(row(page, name).locator("time[datetime^='2099-03-01T11:00']")).toBeVisible(); // Paris

  const twice = await make(page, name, "Read");
  await expect(twice.getByRole("alert")).toContainText("there is a key");
});

test("hostile names are names", async ({ page, service }, info) => {
  const names = ["<script>alert(1)</script>", "مفتاح الخادم", "🔑🔔 one/two #1 ?", "k".repeat(255)];
  await logIn(page, service, "/ui/parameters/keys");
  for (const n of names) {
    const name = `${info.project.name} ${n}`.slice(0, 255);
    const dialog = await make(page, name, "Read");
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    await expect(page.getByRole("rowheader", { name, exact: true })).toBeVisible();
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await accessible(page);
  for (const n of names) {
    const name = `${info.project.name} ${n}`.slice(0, 255);
    await page.getByRole("button", { name: `Revoke ${name}`, exact: true }).click();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await expect(page.getByRole("rowheader", { name, exact: true })).toHaveCount(0);
  }
});

test("narrows a key and rotates it", async ({ page, service }, info) => {
  const name = `narrow ${info.project.name}`;
  await logIn(page, service, "/ui/parameters/keys");
  await page
    .getByRole("button", { name: /^Create (a|the first) key$/ })
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("radio", { name: "Read and write", exact: true }).check();
  await dialog.getByLabel("Only for sending").check();
  await dialog.getByLabel("Accepted from addresses").fill("10.0.0.1/8");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await expect(dialog).toContainText("the network is 10.0.0.0/8");
  await accessible(page);
  await dialog.getByLabel("Accepted from addresses").fill("10.0.0.0/8\n127.0.0.1");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  const first = (await dialog.getByTestId("key").textContent()) ?? "";
  await expect(dialog.getByLabel("Line that runs a query", { exact: true })).toHaveCount(0);
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await expect(row(page, name)).toContainText("only for sending");
  await expect(row(page, name)).toContainText("from 10.0.0.0/8, 127.0.0.1");
  const refused = shell(`curl -s -H 'x-api-key: ${first}' '${service.url}/api/sql?q=SELECT+name+FROM+objectstatus'`);
  expect(refused).toContain("only: send");

  await page.getByRole("button", { name: `Rotate ${name}` }).click();
  await accessible(page);
  await dialog.getByRole("button", { name: "Rotate the key" }).click();
  const second = (await dialog.getByTestId("key").textContent()) ?? "";
  expect(second).not.toBe(first);
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await expect(row(page, name)).toContainText(`…${second.slice(-4)}`);
  await expect(row(page, name)).toContainText(`old …${first.slice(-4)}`);
  await accessible(page);
});
