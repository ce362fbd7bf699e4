import { accessible, expect, logIn, type Service, test } from "./service";

const now = () => Math.floor(Date.now() / 1000);
const script = "<script>alert(1)</script>";

/** flip makes a resource whose object goes from OK to Warning and back, so many times, one a second until some time ago. */
async function flip(service: Service, name: string, times: number, ago = 60): Promise<void> {
  await service.json("PUT", "/api/classes/flips", {
    indicators: [{ n: 1, name: "Level", thresholds: [{ when: ">= 5", status: 1 }] }],
  });
  await service.csv("/api/provisioning/custom", "name", `"${name}"`);
  const start = now() - ago - times;
  const rows = [...Array(times).keys()].map((i) => `data,"${name}",lamp,flips,"${name}",${start + i},${i % 2 ? 1 : 9}`);
  await service.csv("/api/send", "type,resname,object,class,view,timestamp,i1", ...rows);
}

test("events are filtered, and the filter is in the address", async ({ page, service }) => {
  await flip(service, "filtered", 6);
  await service.json("POST", "/api/ackmanagenote/objects", {
    items: ["lamp"],
    resname: "filtered",
    note: "a yellow lamp",
  });
  await logIn(page, service, "/ui/events?resource=filtered");
  const list = page.getByRole("feed", { name: "Events" });
  await expect(list.getByText("a yellow lamp")).toBeVisible();
  await expect(list.getByRole("img", { name: "OK, then Warning" }).first()).toBeVisible();
  await expect(page.getByText("resource: filtered")).toBeVisible();
  await accessible(page);
  await page.getByRole("combobox", { name: "Type" }).click();
  await page.getByRole("option", { name: "note" }).click();
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(/type=note/);
  await expect(list.getByRole("article")).toHaveCount(1);
  await page.reload();
  await expect(list.getByRole("article")).toHaveCount(1);
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(page).not.toHaveURL(/type=|resource=/);
  await page.getByLabel("Search in words").fill("yellow AND resource:filtered");
  await expect(list.getByRole("article")).toHaveCount(1);
  await page.getByLabel("Search in words").fill("zebra");
  await expect(page.getByText("No events match")).toBeVisible();
  await page.getByLabel("Search in words").fill("status:(");
  await expect(page.getByRole("alert").first()).toBeVisible();
});

test("names of items and users are typed in", async ({ page, service }) => {
  await flip(service, "typed", 2);
  await logIn(page, service, "/ui/events");
  await page.getByRole("button", { name: "Item, user" }).click();
  await page.getByLabel("Resource").fill("typed");
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page).toHaveURL(/resource=typed/);
  await expect(page.getByRole("feed").getByRole("link", { name: "lamp" }).first()).toBeVisible();
  await page.getByRole("button", { name: "Any resource" }).click();
  await expect(page).not.toHaveURL(/resource=typed/);
});

test("the histogram counts, and a bar looks closer", async ({ page, service }) => {
  await flip(service, "counted", 8);
  const [found] = await service.sql<{ n: number }>(
    "SELECT COUNT(*) AS n FROM events WHERE resource = 'counted' AND timestamp = '[NOW-24HOURS TO NOW]'",
  );
  await logIn(page, service, "/ui/events?resource=counted");
  await expect(page.getByText(`${found?.n} events`)).toBeVisible();
  const bars = page.getByRole("group", { name: "Events over time" }).getByRole("button");
  const full = bars.and(page.getByLabel(/Warning/)).last();
  await full.click();
  await expect(page).toHaveURL(/from=.*&to=/);
  await expect(page.getByText("A range that has ended")).toBeVisible();
  await page.getByRole("button", { name: "Reset" }).click();
  await expect(page).not.toHaveURL(/from=/);
  // The same with the keyboard.
  await expect(page.getByText("Live: new events come on top")).toBeVisible();
  await bars.last().focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/from=.*&to=/);
  await page.goBack();
  await page.getByRole("button", { name: "type", exact: true }).click();
  await expect(page).toHaveURL(/by=type/);
  await expect(page.getByText(/^alarm \d+/)).toBeVisible();
  await page.getByRole("button", { name: "As a table" }).click();
  await expect(page.getByRole("region", { name: "Events over time as a table" })).toContainText("alarm");
  await accessible(page);
});

test("new events come on top, unless one reads", async ({ page, service }) => {
  await flip(service, "living", 120);
  await logIn(page, service, "/ui/events?resource=living");
  const list = page.getByRole("feed", { name: "Events" });
  await expect(list.getByRole("article").first()).toBeVisible();
  const note = (text: string) =>
    service.json("POST", "/api/ackmanagenote/objects", { items: ["lamp"], resname: "living", note: text });
  await note("first news");
  await expect(list.getByRole("article").first()).toContainText("first news");
  const scroll = async (e: HTMLElement | SVGElement) => {
    e.scrollTo({ top: 600 });
    for (let i = 0; i < 10; i++) await new Promise(requestAnimationFrame); // the list stays on top for some frames after news
    return e.scrollTop;
  };
  await expect.poll(() => list.evaluate(scroll)).toBeGreaterThan(500);
  await note("second news");
  await page.getByRole("button", { name: "1 new" }).click();
  await expect(list.getByRole("article").first()).toContainText("second news");
  await page.getByRole("button", { name: "Pause" }).click();
  await note("third news");
  await expect(page.getByRole("button", { name: "1 new" })).toBeVisible();
  await expect(list.getByText("third news")).toHaveCount(0);
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(list.getByText("third news")).toBeVisible();
  // What does not fit the filter does not come.
  await service.json("POST", "/api/ackmanagenote/resources", { items: ["living"], note: "fourth news" });
  await expect(list.getByText("fourth news")).toBeVisible();
});

test("all of many events can be scrolled to", async ({ page, service }) => {
  await flip(service, "many", 700, 1000);
  await logIn(page, service, "/ui/events?resource=many&source=object");
  const list = page.getByRole("feed", { name: "Events" });
  await expect(list.getByRole("article").first()).toBeVisible();
  // Each step goes to the end of what is loaded, and more is loaded for it.
  await expect
    .poll(async () => {
      await list.evaluate((e) => e.scrollTo({ top: e.scrollHeight }));
      const last = list.getByRole("article").last();
      return Number(await last.getAttribute("aria-posinset"));
    })
    .toBe(700);
  expect(await list.getByRole("article").count()).toBeLessThan(100);
});

test("events are had as CSV, all of them", async ({ page, service }) => {
  await flip(service, "sheet, one", 7);
  await logIn(page, service, "/ui/events?resource=sheet%2C+one&q=Level");
  const shown = page.getByRole("feed", { name: "Events" }).getByRole("article");
  await expect(shown.first()).toBeVisible();
  // The service gives 100,000 rows at a time; here it is asked for two.
  const asked: string[] = [];
  await page.route(/\/api\/sql\?.*wt=csv/, (route) => {
    asked.push(new URL(route.request().url()).searchParams.get("after") ?? "");
    return route.continue({ url: route.request().url().replace("rows=100000", "rows=2") });
  });
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe("events.csv");
  let text = "";
  for await (const chunk of await file.createReadStream()) text += chunk;
  const lines = text.trim().split("\n");
  expect(lines[0]).toMatch(/^timestamp,id,source,type,status,previous,resource/);
  expect(lines.length - 1).toBe(await shown.count());
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines[1]).toContain('"sheet, one"');
  expect(asked.length).toBe(Math.floor((lines.length - 1) / 2) + 1);
});

test("names in events are no markup", async ({ page, service }) => {
  await flip(service, script, 2);
  await logIn(page, service, `/ui/events?resource=${encodeURIComponent(script)}`);
  await expect(page.getByRole("feed").getByText(script).first()).toBeVisible();
  await page.getByRole("feed").getByRole("link", { name: script, exact: true }).first().click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(script);
});
