import type { Page } from "@playwright/test";
import { accessible, expect, logIn, type Service, test } from "./service";

/** user makes somebody with a role, and gives the password. */
const user = (service: Service, name: string, role: string) =>
  service.cli("user", "create", "--name", name, "--role", role);

const narrow = (page: Page) => (page.viewportSize()?.width ?? 0) < 600;

/** entries are the pages that the menu of the parameters offers. */
async function entries(page: Page): Promise<string[]> {
  const list = narrow(page)
    ? page.getByLabel("Page of the parameters").locator("option")
    : page.getByRole("navigation", { name: "Parameters" }).getByRole("link");
  await expect(list.first()).toBeAttached();
  return list.allTextContents();
}

test("packages show what they ask, with an example that works", async ({ page, service }) => {
  await logIn(page, service, "/ui/parameters/packages");
  await expect(page.getByRole("row").filter({ hasText: "network-ping" })).toContainText("ip_address_fqdn");
  await accessible(page);
  await page.getByRole("link", { name: "network-ping", exact: true }).click();
  const count = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "count", exact: true }) });
  await expect(count).toContainText("integer from 1 to 100");
  await expect(count).toContainText("no3no");
  await accessible(page);
  await page.getByRole("link", { name: "Provision with it" }).click();
  await expect(page).toHaveURL(/\/provisioning\?package=network-ping/);
  for (const pkg of ["network-ping", "custom", "view", "label", "log-syslog-receiver"]) {
    await page.goto(`${service.url}/ui/parameters/packages?package=${pkg}`);
    const csv = await page.getByLabel("Example CSV", { exact: true }).textContent();
    const answer = await service.call("POST", `/api/provisioning/${pkg}?dryrun=true`, csv ?? "");
    expect(await answer.json(), `${pkg}: ${csv}`).toMatchObject({ accepted: 1, rejected: 0 });
  }
});

for (const role of ["viewer", "operator"]) {
  test(`a ${role} reads classes and packages, and changes nothing`, async ({ page, service }, info) => {
    const name = `${role} ${info.project.name}`;
    await logIn(page, service, "/ui/parameters", name, user(service, name, role));
    await expect(page.getByRole("heading", { name: "Classes" })).toBeVisible();
    expect(await entries(page)).toEqual(["Classes", "Packages", "Your account"]);
    await expect(page.getByRole("link", { name: "Define a class" })).toHaveCount(0);
    await page.getByRole("link", { name: "network-ping", exact: true }).click();
    await expect(page.getByRole("row").filter({ hasText: "Loss" })).toContainText(">= 50");
    await expect(page.getByRole("button", { name: "Save" })).toHaveCount(0);
    await accessible(page);
    for (const path of ["keys", "users", "customers", "policies", "retention", "health"]) {
      await page.goto(`${service.url}/ui/parameters/${path}`);
      await expect(page.getByText(/This page is for administrators/)).toBeVisible();
      await expect(page.getByRole("button", { name: /Create|Set a/ })).toHaveCount(0);
    }
    await accessible(page);
    // The service decides, whatever the page shows.
    const made = await page.request.post(`${service.url}/api/keys`, { data: { name: "mine", level: "read" } });
    expect(made.status()).toBe(403);
    const put = await page.request.put(`${service.url}/api/classes/network-ping`, { data: { indicators: [{ n: 1 }] } });
    expect(put.status()).toBe(403);
  });
}

test("an administrator is offered what an administrator may do", async ({ page, service }, info) => {
  const name = `administrator ${info.project.name}`;
  await logIn(page, service, "/ui/parameters", name, user(service, name, "administrator"));
  await expect(page.getByRole("heading", { name: "API keys" })).toBeVisible();
  const offered = await entries(page);
  expect(offered).toContain("Policies");
  expect(offered).not.toContain("Customers");
  await page.goto(`${service.url}/ui/parameters/customers`);
  await expect(page.getByText("This page is for administrators of the whole instance")).toBeVisible();
});

test("no page of the parameters is wider than the screen", async ({ page, service }) => {
  await logIn(page, service, "/ui/parameters");
  for (const path of [
    "keys",
    "classes",
    "classes?class=network-ping",
    "classes?class=network-ping&tab=text",
    "packages",
    "packages?package=view",
    "policies",
    "policies?new=true",
    "account",
  ]) {
    await page.goto(`${service.url}/ui/parameters/${path}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), path).toBeLessThanOrEqual(0);
    await accessible(page);
  }
});
