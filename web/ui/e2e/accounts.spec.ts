import { accessible, expect, logIn, password, type Service, test } from "./service";

const first = "a long enough password";

test("creates, changes and removes a user", async ({ page, service, browser }, info) => {
  const name = `<b>eve</b> 🔔 ${info.project.name}`;
  await logIn(page, service, "/ui/parameters/users");
  await page.getByRole("button", { name: "Create a user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("radio", { name: "viewer", exact: true }).check();
  await accessible(page);
  await dialog.getByLabel("Password", { exact: true }).fill("short");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await expect(dialog.getByRole("alert")).toContainText("less than 10 characters");
  await dialog.getByLabel("Password", { exact: true }).fill("");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  const secret = (await dialog.getByTestId("password").textContent()) ?? "";
  await accessible(page);
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  const row = page.getByRole("row").filter({ hasText: name });
  await expect(row).toContainText("viewer");
  await expect(page.getByText(secret)).toHaveCount(0);

  const other = await browser.newPage();
  await logIn(other, service, "/ui/parameters", name, secret);
  await expect(other.getByRole("heading", { name: "Classes" })).toBeVisible();

  await page.getByRole("button", { name: `Change ${name}` }).click();
  await page.getByRole("dialog").getByRole("radio", { name: "administrator", exact: true }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("administrator");
  await other.reload(); // another role: logged out
  await expect(other.getByRole("button", { name: "Log in" })).toBeVisible();
  await other.close();

  await page.getByRole("button", { name: `Remove ${name}` }).click();
  await page.getByRole("button", { name: "Remove the user" }).click();
  await expect(row).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Remove admin" })).toHaveCount(0); // oneself
  await accessible(page);
});

async function made(service: Service, name: string) {
  return service.cli("user", "create", "--name", name, "--role", "operator");
}

test("changes the own password; other sessions end", async ({ page, service, browser }, info) => {
  const name = `own ${info.project.name}`;
  const old = await made(service, name);
  const other = await browser.newPage();
  await logIn(other, service, "/ui/parameters/account", name, old);
  await logIn(page, service, "/ui/parameters/account", name, old);
  await accessible(page);
  const fill = async (have: string, next: string, again: string) => {
    await page.getByLabel("Current password").fill(have);
    await page.getByLabel("A new one").fill(next);
    await page.getByLabel("Repeat the new password").fill(again);
  };
  await fill(old, first, "another one");
  await expect(page.getByText("The two differ.")).toBeVisible();
  await fill("wrong", first, first);
  await page.getByRole("button", { name: "Change the password" }).click();
  await expect(page.getByRole("alert").first()).toContainText(/password/);
  await fill(old, first, first);
  await page.getByRole("button", { name: "Change the password" }).click();
  await expect(page.getByText("Your password was changed.")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Your account" })).toBeVisible();
  await other.reload();
  await expect(other.getByRole("button", { name: "Log in" })).toBeVisible();
  await logIn(other, service, "/ui/parameters/account", name, first);
  await other.close();
});

test("logs out everywhere", async ({ page, service, browser }, info) => {
  const name = `everywhere ${info.project.name}`;
  const secret = await made(service, name);
  const other = await browser.newPage();
  await logIn(other, service, "/ui/parameters/account", name, secret);
  await logIn(page, service, "/ui/parameters/account", name, secret);
  await page.getByRole("button", { name: "Log out everywhere…" }).click();
  await accessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Log out everywhere" }).click();
  await expect(page.getByRole("button", { name: "Log in" })).toBeVisible();
  await other.reload();
  await expect(other.getByRole("button", { name: "Log in" })).toBeVisible();
  await other.close();
});

test("creates a customer, acts in it, comes back and removes it", async ({ page, service }, info) => {
  const name = `Nord & Süd ${info.project.name}`;
  await logIn(page, service, "/ui/parameters/customers", "admin", password);
  await page.getByRole("button", { name: "Create a customer" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await expect(dialog.getByTestId("password")).toBeVisible();
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("button", { name: `Act in it: ${name}` }).click();
  await expect(page).toHaveURL(/\/ui\/status/);
  await page.goto(`${service.url}/ui/parameters/account`);
  await expect(page.getByText(`acting in customer ${name}`)).toBeVisible();
  await accessible(page);
  await page.getByRole("button", { name: "Back to default" }).click();
  await expect(page).toHaveURL(/\/ui\/status/);
  await page.goto(`${service.url}/ui/parameters/customers`);
  await page.getByRole("button", { name: `Remove ${name}` }).click();
  await expect(page.getByRole("button", { name: "Remove permanently" })).toBeDisabled();
  await accessible(page);
  await page.getByLabel("Repeat the name of the customer").fill(name);
  await page.getByRole("button", { name: "Remove permanently" }).click();
  await expect(page.getByRole("row").filter({ hasText: name })).toHaveCount(0);
});
