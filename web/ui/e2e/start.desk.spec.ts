// The way of a newcomer: logged in to a fresh service, a key made, a value sent with the lines that are shown, and on a chart.
import { execFileSync } from "node:child_process";
import { accessible, expect, logIn, Service, test } from "./service";

let fresh: Service;

test.beforeEach(async () => {
  fresh = await Service.start();
});

test.afterEach(async () => {
  await fresh?.remove();
});

test("from a fresh service to a value on a chart", async ({ page }) => {
  const began = performance.now();
  await logIn(page, fresh, "/ui/");
  await page.getByLabel(/^You are admin/).click();
  await page.getByRole("menuitem", { name: "First steps" }).click();
  const tour = page.getByRole("dialog", { name: "First steps" });
  await expect(tour).toContainText("Waiting for the first value");
  await expect(tour.getByLabel("Lines for a shell")).toContainText("YOUR KEY");
  await accessible(page);
  await tour.getByRole("button", { name: "Make a key" }).click();
  const key = (await tour.getByLabel("The new key").textContent()) ?? "";
  expect(key).toMatch(/^[0-9a-f-]{36}$/);
  const lines = (await tour.getByLabel("Lines for a shell").textContent()) ?? "";
  expect(lines).toContain(key);
  expect(lines).not.toContain("YOUR KEY");

  // As a person would: into a shell with it.
  const said = execFileSync("sh", ["-ec", lines], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  expect(said.match(/"accepted":1/g)).toHaveLength(2);
  await expect(tour).toContainText("load of my first server: 12.5");
  await accessible(page);
  await tour.getByRole("link", { name: "Open its chart" }).click();
  await expect(page).toHaveURL(/\/ui\/item\?kind=object&name=load&resource=my\+first\+server/);
  await expect(tour).toBeHidden();
  await expect(page.getByRole("heading", { level: 1, name: "load" })).toBeVisible();
  await expect(page.locator("canvas").first()).toBeVisible();
  console.log(`logged in, key made and data on a chart in ${Math.round(performance.now() - began)} ms`);
});

test("the card is for a customer without resources, sees the first value, and can be put away", async ({ page }) => {
  await logIn(page, fresh, "/ui/status");
  const card = page.getByRole("region", { name: "First steps" });
  await expect(card).toContainText("Nothing is monitored yet");
  await accessible(page);
  await card.getByLabel("Or send a value from here").fill("7");
  await card.getByRole("button", { name: "Send it" }).click();
  await expect(card).toContainText("load of my first server: 7");
  await page.reload();
  await expect(card).toContainText("Open its chart"); // somebody is in the middle of it
  await card.getByRole("button", { name: "Done" }).click();
  await expect(card).toBeHidden();
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(card).toBeHidden();
});

test("the card stays away from who does not need it", async ({ page }) => {
  await fresh.csv("/api/provisioning/custom", "name", "web01");
  await fresh.csv("/api/send", "type,resname,view,class,object,i1", "data,web01,web01,cpu,cpu,1");
  const answer = page.waitForResponse((r) =>
    (r.request().postData() ?? "").includes("SELECT name FROM objectstatus WHERE kind='object'"),
  );
  await logIn(page, fresh, "/ui/status");
  await answer;
  await expect(page.getByRole("region", { name: "First steps" })).toBeHidden();
});
