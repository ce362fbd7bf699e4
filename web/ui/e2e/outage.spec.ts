// What a page does when something goes wrong behind it: it says what is so, and goes on by itself when it can.
import { accessible, expect, logIn, test } from "./service";

test("an error in a page stays in that page", { tag: "@quick" }, async ({ page, service, complaints }) => {
  await service.csv("/api/provisioning/custom", "name", "boundary");
  await page.route("**/api/tree*", (route) => route.fulfill({ json: { view: { name: "MAIN", kind: "view" } } })); // no children
  await logIn(page, service, "/ui/map");
  const failed = page.getByRole("alert").filter({ hasText: "It cannot be shown" });
  await expect(failed).toContainText("(TypeError in the page)"); // what went wrong
  await accessible(page);
  expect(complaints.splice(0).length).toBeGreaterThan(0); // the browser's console has it, too

  await page
    .getByRole("navigation", { name: "Sections" })
    .getByRole("link", { name: "Events", includeHidden: true })
    .evaluate((a: HTMLElement) => a.click());
  await expect(page.getByRole("heading", { level: 1, name: "Events" })).toBeVisible();
  await page.goBack();
  await expect(failed).toBeVisible();
  complaints.splice(0);
  await page.unroute("**/api/tree*");
  await failed.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Map" })).toBeVisible();
  await expect(failed).toHaveCount(0);
});
