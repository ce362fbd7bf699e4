import { accessible, expect, logIn, test } from "./service";

test("filter and script of a receiver are tried on a message", async ({ page, service }) => {
  const script = '"function message(m) { m.category = ""link""; return m }"';
  await service.csv(
    "/api/provisioning/log-syslog-receiver",
    "name,listen,filter,script",
    `Core/1,127.0.0.1:15514,severity <= 4,${script}`,
  );
  await logIn(page, service, "/ui/item?kind=resource&name=Core%2F1");
  const card = page.getByRole("region", { name: "Filter and script" });
  await card.getByRole("button", { name: "Try them on a message" }).click();
  await expect(card.getByLabel("Filter")).toHaveValue("severity <= 4");
  await card.getByRole("button", { name: "Try", exact: true }).click();
  const became = page.getByRole("region", { name: "Result" });
  await expect(became.getByRole("status")).toContainText("The message is kept");
  await expect(became.getByRole("row", { name: "category" })).toContainText("nothing link");
  await accessible(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);

  await card.getByLabel("Message").fill("<14>an <b>information</b>");
  await card.getByRole("button", { name: "Try", exact: true }).click();
  await expect(became.getByRole("status")).toContainText("The filter drops the message");
  await expect(became.getByRole("row", { name: "message" })).toContainText("an <b>information</b>");

  await card.getByLabel("Filter").fill("");
  await card.getByLabel("Script").fill("function message(m) { data('Links', {i1: 2}); for (;;); }");
  await card.getByRole("button", { name: "Try", exact: true }).click();
  await expect(became.getByRole("status")).toContainText("The message is kept as it came");
  await expect(became.getByRole("alert")).toContainText("the script ran for too long");

  await card
    .getByLabel("Script")
    .fill("function message(m) { m.sevrity = 1; data('Links', {i1: 2}, {class: 'link', view: 'Core/1'}); return m }");
  await card.getByRole("button", { name: "Try", exact: true }).click();
  await expect(became.getByText("data Links (Core/1) i1=2")).toBeVisible();
  await expect(became.getByText("sevrity (severity?)")).toBeVisible();

  await card.getByLabel("Filter").fill("sevrity <= 4");
  await card.getByRole("button", { name: "Try", exact: true }).click();
  await expect(card.getByText("unknown name sevrity")).toBeVisible();
});
