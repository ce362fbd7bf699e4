import { accessible, expect, logIn, Service, test } from "./service";

test("the demo has resources whose data keep changing", async ({ page }) => {
  const demo = await Service.start("--demo");
  try {
    await logIn(page, demo, "/ui/map?view=Tramont");
    await expect(page.getByRole("heading", { name: "Tramont" })).toBeVisible();
    await expect(page.getByText("Capital City").first()).toBeVisible();
    await accessible(page);
    await page.goto(`${demo.url}/ui/status?kind=object`);
    await expect(page.getByText(/^30\d objects/)).toBeVisible();
    await expect(page.getByText("Critical").first()).toBeVisible();
    const newest = async () =>
      (await demo.sql<{ t: string }>("SELECT MAX(lastdata) AS t FROM objectstatus"))[0]?.t ?? "";
    const before = await newest();
    await expect.poll(newest).not.toBe(before); // data go on arriving
    await page.goto(`${demo.url}/ui/events`);
    await expect(page.getByText(/[\d,]+ events/).first()).toBeVisible();
  } finally {
    await demo.remove();
  }
});
