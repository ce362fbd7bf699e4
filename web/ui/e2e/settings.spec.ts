import { accessible, expect, logIn, test } from "./service";

test("changes how long a collection is kept, and takes it back", async ({ page, service }) => {
  await logIn(page, service, "/ui/parameters/retention");
  const syslog = page.getByLabel("syslog", { exact: true });
  await expect(syslog).toHaveValue("30d");
  await accessible(page);
  await syslog.fill("soon");
  const form = page.getByRole("form", { name: "Retention" });
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Change it" }).click();
  await expect(page.getByRole("dialog").getByRole("alert")).toContainText("soon");
  await page.getByRole("button", { name: "Cancel" }).click();
  await syslog.fill("90d");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("dialog")).toContainText("syslog: 30d becomes 90d");
  await accessible(page);
  await page.getByRole("button", { name: "Change it" }).click();
  await expect(page.getByText("set here; else 30d")).toBeVisible();
  await page.reload();
  await expect(syslog).toHaveValue("90d");
  await page.getByRole("button", { name: "Take it back: syslog" }).click();
  await expect(syslog).toHaveValue("30d");
});

test("health shows what comes in and what is asked", async ({ page, service }, info) => {
  await service.csv("/api/provisioning/custom", "name", `healthy ${info.project.name}`);
  await service.csv(
    "/api/send",
    "type,resname,object,class,view,i1",
    `data,healthy ${info.project.name},x,healthy,healthy ${info.project.name},1`,
  );
  await logIn(page, service, "/ui/parameters/health");
  await expect(page.getByText("The service accepts data and answers queries.")).toBeVisible();
  await expect(page.getByRole("region", { name: "Rows" })).toContainText(/Received since the start\s*[1-9]/);
  await expect(page.getByRole("table", { name: "Space" })).toContainText("journal");
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await accessible(page);
});
