import { accessible, expect, logIn, test } from "./service";

test("names the days that an answer is without", async ({ page, service }) => {
  let asked: { partial?: boolean } = {};
  await page.route("**/api/sql", async (route) => {
    asked = route.request().postDataJSON();
    const answer = await route.fetch();
    const body = await answer.json();
    await route.fulfill({ response: answer, json: { ...body, missing: ["2026-11-13", "2026-11-14"] } });
  });
  await logIn(page, service, "/ui/events");
  const notice = page.getByRole("status").filter({ hasText: "2 days are missing" });
  await expect(notice).toContainText("2026-11-13, 2026-11-14");
  expect(asked.partial).toBe(true);
  await accessible(page);
  await page.unroute("**/api/sql");
  await notice.getByRole("button", { name: "Hide this notice" }).click();
  await expect(notice).toHaveCount(0);
});
