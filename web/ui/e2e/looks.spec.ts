// Every page, filled, in all four looks: nothing broken, nothing beyond the edge, nothing that somebody cannot read. With
// SCREENSHOTS=1, as make screenshots sets it, what was seen is kept in docs/screenshots.
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page, TestInfo } from "@playwright/test";
import { fits } from "./fits";
import { fillWithSamples, hostile, items } from "./sampledata";
import { accessible, expect, logIn, Service, test } from "./service";

interface Look {
  name: string;
  path: string;
  /** What to do before looking. */
  act?: (page: Page) => Promise<void>;
  /** Text that must be there, once the page has been built. */
  sees?: (string | RegExp)[];
}

const q = (params: Record<string, string>) => new URLSearchParams(params).toString();
const item = (i: { object: string; resource: string }) =>
  `/ui/item?${q({ kind: "object", name: i.object, resource: i.resource })}`;

/** variants are pages in another state, and pages that few people open: make soak looks at them. */
const variants = new Set([
  "status-filtered",
  "map-view",
  "map-names",
  "object",
  "object-acknowledged",
  "object-unmanaged",
  "view-names",
  "provisioning-file",
  "provisioning-form",
  "provisioning-export",
  "palette",
  "object-names",
  "view",
  "users",
  "customers",
  "packages",
  "classes",
  "retention",
  "account",
  "first-steps",
]);

/** phones are the pages that people look at on a phone most. */
const phones = new Set(["status", "map", "object-critical", "events", "provisioning-wrong", "health", "policy"]);

/** pages is every page there is. */
const pages: Look[] = [
  { name: "status", path: "/ui/status" },
  { name: "status-filtered", path: "/ui/status?status=3&kind=object" },
  { name: "map", path: "/ui/map" },
  { name: "map-view", path: "/ui/map?view=Linz" },
  { name: "map-names", path: "/ui/map?view=America" },
  { name: "treemap", path: "/ui/treemap" },
  { name: "object", path: item(items.ok) },
  { name: "object-critical", path: item(items.critical) },
  { name: "object-acknowledged", path: item(items.acknowledged) },
  { name: "object-unmanaged", path: item(items.unmanaged) },
  { name: "object-log", path: item(items.major) },
  { name: "object-names", path: item({ object: hostile.script, resource: `${hostile.script} server` }) },
  { name: "resource", path: `/ui/item?${q({ kind: "resource", name: "db01" })}` },
  { name: "view", path: `/ui/item?${q({ kind: "view", name: "Vienna" })}` },
  { name: "view-names", path: `/ui/item?${q({ kind: "view", name: hostile.long })}` },
  { name: "events", path: "/ui/events" },
  { name: "maintenance", path: "/ui/maintenance", sees: ["weekly backup", "From Monday to Friday, Europe/Vienna"] },
  { name: "provisioning", path: "/ui/provisioning", sees: ["What do you want to provision?"] },
  { name: "provisioning-file", path: "/ui/provisioning?package=custom", sees: ["Choose a file"] },
  { name: "provisioning-form", path: "/ui/provisioning?package=network-ping&way=form", sees: ["Add this row"] },
  {
    name: "provisioning-wrong",
    path: "/ui/provisioning?package=custom&way=paste",
    act: wrongRows,
    sees: ["Wrong rows"],
  },
  {
    name: "provisioning-export",
    path: "/ui/provisioning?package=custom&do=export",
    sees: [hostile.script, hostile.rtl],
  },
  { name: "keys", path: "/ui/parameters/keys" },
  { name: "users", path: "/ui/parameters/users" },
  { name: "customers", path: "/ui/parameters/customers" },
  { name: "packages", path: "/ui/parameters/packages" },
  { name: "classes", path: "/ui/parameters/classes" },
  { name: "policies", path: "/ui/parameters/policies" },
  { name: "policy", path: "/ui/parameters/policies?new=true", act: policy, sees: ["Used (%)"] },
  { name: "retention", path: "/ui/parameters/retention" },
  { name: "health", path: "/ui/parameters/health" },
  { name: "account", path: "/ui/parameters/account" },
  { name: "palette", path: "/ui/status", act: palette, sees: ["Provisioning"] },
  { name: "first-steps", path: "/ui/status", act: firstSteps, sees: ["Make a key"] },
  { name: "receiver", path: "/ui/status", act: receiver, sees: ["The message is kept"] },
  { name: "no-such-page", path: "/ui/no-such-page", sees: ["There is no such page"] },
];

async function wrongRows(page: Page) {
  await page
    .getByRole("textbox", { name: /^CSV/ })
    .fill(`name,view,posx\nweb03,Vienna,10\nweb04,Wien,10\n${hostile.rtl} 2,MAIN,15\n`);
  await page.getByRole("button", { name: "Look at it" }).click();
  await page.getByRole("button", { name: "Try it" }).click();
  await expect(page.getByRole("region", { name: "What would change" })).toBeVisible();
}

/** receiver comes after the others, which shall not show it. */
async function receiver(page: Page) {
  await filled.csv(
    "/api/provisioning/log-syslog-receiver",
    "name,listen,filter,script",
    'Switches,127.0.0.1:15514,severity <= 4,"function message(m) {\n  m.category = ""link"";\n  return m;\n}"',
  );
  await page.goto(`${filled.url}/ui/item?${q({ kind: "resource", name: "Switches" })}`);
  await page.getByRole("button", { name: "Try them on a message" }).click();
  await page.getByRole("button", { name: "Try", exact: true }).click();
  await page.getByRole("region", { name: "Result" }).scrollIntoViewIfNeeded();
}

async function policy(page: Page) {
  await page.getByLabel("Name").fill("Vienna at night");
  await page.getByRole("combobox", { name: "Item" }).fill("Vienna");
  await page.getByRole("button", { name: "Add an indicator" }).click();
  await page.getByRole("combobox", { name: "Class, indicator 1" }).fill("disk");
  await page.getByRole("combobox", { name: "Number, indicator 1" }).fill("1");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Start with those of the class" }).click();
  await page.getByLabel("When, threshold 1 of indicator 1").fill(">= 90");
}

async function palette(page: Page) {
  await page.getByRole("button", { name: "Search and commands" }).click();
  await page.getByLabel("Search for items and pages").fill("o");
  await expect(page.getByRole("option", { name: /Provisioning/ })).toBeVisible();
}

async function firstSteps(page: Page) {
  await page.getByLabel(/^You are admin/).click();
  await page.getByRole("menuitem", { name: "First steps" }).click();
  await expect(page.getByRole("dialog")).toContainText("Open its chart");
}

let filled: Service;

test.beforeAll(async () => {
  filled = await Service.start();
  await fillWithSamples(filled);
});

test.afterAll(async () => {
  await filled?.remove();
});

/** settled waits until nothing on the page is still loading. */
async function settled(page: Page) {
  await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
  await expect(page.getByText("Loading…")).toHaveCount(0);
  await expect(page.locator("#page .mantine-Loader-root")).toHaveCount(0);
}

/** proper is what holds for every page. */
async function proper(page: Page) {
  await fits(page);
  expect(await page.evaluate(() => (globalThis as { violated?: string[] }).violated)).toEqual([]);
  await accessible(page);
}

const folder = join(import.meta.dirname, "../../../docs/screenshots");
const largest = 300_000;

/** keep takes a picture of the page, as small as the tools at hand make it. */
async function keep(page: Page, name: string, info: TestInfo) {
  if (!process.env.SCREENSHOTS) return;
  const look = `${info.project.use.isMobile ? "phone" : "desk"}-${info.project.use.colorScheme}`;
  const path = join(folder, `${name}-${look}.png`);
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path, animations: "disabled", caret: "hide" });
  try {
    execFileSync("pngquant", ["--force", "--skip-if-larger", "--output", path, path], { stdio: "ignore" });
  } catch {
    // Not installed, or no smaller: as it is, then.
  }
  expect(statSync(path).size, `${path} is too large to keep`).toBeLessThan(largest);
}

test("login", { tag: "@quick" }, async ({ page }, info) => {
  await page.goto(`${filled.url}/ui/`);
  await expect(page.getByRole("button", { name: "Log in" })).toBeVisible();
  await proper(page);
  await keep(page, "login", info);
});

for (const look of pages) {
  const tag = [...(variants.has(look.name) ? [] : ["@quick"]), ...(phones.has(look.name) ? ["@phone"] : [])];
  test(look.name, { tag }, async ({ page }, info) => {
    await logIn(page, filled, look.path);
    await settled(page);
    await look.act?.(page);
    for (const text of look.sees ?? []) await expect(page.getByText(text).first()).toBeVisible();
    await proper(page);
    await keep(page, look.name, info);
  });
}

test("the sample data have every status", { tag: "@quick" }, async () => {
  for (const [status, i] of [
    ["0", items.ok],
    ["1", items.warning],
    ["2", items.major],
    ["3", items.critical],
    ["-", items.unavailable],
    ["?", items.unknown],
  ] as const) {
    const rows = await filled.sql<{ status: string }>(
      `SELECT status FROM objectstatus WHERE kind='object' AND object='${i.object}' AND resource='${i.resource}'`,
    );
    expect(rows, i.object).toEqual([{ status }]);
  }
  const marked = await filled.sql<{ name: string }>(
    "SELECT name FROM objectstatus WHERE acknowledged = true OR isunmanaged = true ORDER BY name",
  );
  expect(marked.map((r) => r.name)).toEqual(["disk /backup", "disk /tmp"]);
});
