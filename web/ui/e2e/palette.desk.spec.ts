// The palette by keyboard, for those who type faster than it is loaded.
import { expect, logIn, test } from "./service";

test("what is typed after the first Ctrl-K is for the palette", { tag: "@quick" }, async ({ page, service }) => {
  await service.json("PUT", "/api/classes/gauge", {
    indicators: [{ n: 1, thresholds: [{ when: ">= 95", status: 3 }] }],
  });
  await service.csv("/api/provisioning/custom", "name", "typed");
  await service.csv("/api/send", "type,resname,object,class,view,i1", "data,typed,one,gauge,typed,99");
  let there: () => void = () => {};
  const waits = new Promise<void>((done) => {
    there = done;
  });
  await page.route(/\/palette-[^/]*\.js$/, async (route) => {
    await waits;
    await route.continue();
  });
  await logIn(page, service, "/ui/status?view=typed&kind=object");
  await expect(page.getByRole("grid", { name: "Items and their status" })).toContainText("one");
  await page.keyboard.press("Home"); // the row that keys are about
  await page.keyboard.press("Control+k");
  await page.keyboard.type("anxx"); // acknowledge, note, select twice
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  there();
  const field = page.getByLabel("Search for items and pages");
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("anx");
  await page.keyboard.type("y"); // and goes on where it was
  await expect(field).toHaveValue("anxy");
  await expect(page.getByRole("dialog")).toHaveCount(1);
  await expect(page).toHaveURL(/\/ui\/status/);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByRole("status").getByText("selected")).toHaveCount(0);
  await page.keyboard.press("Control+k");
  await expect(field).toHaveValue("");
});
