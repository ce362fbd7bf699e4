import { holdStream, hostile, icon, mapClass, noSideways, value } from "./drawn";
import { accessible, expect, logIn, test } from "./service";

const map = (view: string, as = "drawing") => `/ui/map?view=${encodeURIComponent(view)}&as=${as}`;

test.beforeAll(async ({ service }) => {
  await mapClass(service);
  await service.csv(
    "/api/provisioning/view",
    "name,view,posx,posy,autoarrange",
    "Country,MAIN,10,10,none",
    "City,Country,40,40,none",
    "Rows,Country,40,140,linear",
    "Strange,MAIN,10,100,none",
  );
  await service.csv(
    "/api/provisioning/custom",
    "name,view,posx,posy",
    "left,City,50,40",
    "right,City,50,140",
    "nowhere,City,,",
    ...Array.from({ length: 12 }, (_, i) => `row${i},Rows,,`),
    ...hostile.map((n, i) => `${n},Strange,${10 + 80 * Math.floor(i / 2)},${20 + 100 * (i % 2)}`),
  );
  for (const r of ["left", "right", "nowhere", "row0", "row1"]) await value(service, r, 10);
  await service.csv("/api/provisioning/view", "name,view,resname", "Inner,left,left");
  await service.csv(
    "/api/provisioning/label",
    "name,view,text,size,colour,posx,posy",
    "City title,City,The city,18,#224488,10,40",
  );
  await service.csv("/api/provisioning/link", "name,view,from,to,text", "Cable,City,left,right,10 Gbit/s");
  await service.csv(
    "/api/provisioning/shortcut",
    "name,view,target,posx,posy",
    "To rows,City,Rows,130,40",
    "Lost one,City,Country,130,140",
  );
  await service.csv(
    "/api/provisioning/picture",
    "name,view,picture,posx,posy,width,height",
    "Plan,City,not-there.png,50,220,60,40",
  );
});

test("goes into views and up again", { tag: "@quick" }, async ({ page, service }) => {
  await logIn(page, service, map("MAIN"));
  await icon(page, "Country").focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Country", exact: true })).toBeVisible();
  await page.goto(service.url + map("Country"));
  await page.getByRole("link", { name: "City", exact: true }).click();
  await page.goto(service.url + map("City"));
  const way = page.getByRole("navigation", { name: "Way to this view" });
  await expect(way).toHaveText("MAIN/Country/City");
  await icon(page, "left").dblclick();
  await expect(page.getByRole("heading", { name: "left", exact: true })).toBeVisible();
  await page.goto(`${service.url}/ui/map?view=Inner&resource=left&as=drawing`);
  await expect(way).toHaveText("MAIN/Country/City/left/Inner");
  await way.getByRole("link", { name: "left" }).click();
  await expect(page.getByRole("heading", { name: "left", exact: true })).toBeVisible();
  await way.getByRole("link", { name: "Country" }).click();
  await expect(page.getByRole("heading", { name: "Country", exact: true })).toBeVisible();
  await way.getByRole("link", { name: "MAIN" }).click();
  await expect(page.getByRole("heading", { name: "Map", exact: true })).toBeVisible();
});

test("draws labels, links, shortcuts and pictures", async ({ page, service }) => {
  await logIn(page, service, map("City"));
  await expect(page.getByText("The city")).toBeVisible();
  await expect(page.getByText("10 Gbit/s")).toBeVisible();
  await expect(page.locator('line[data-link="Cable"]')).toHaveAttribute("data-status", "0");
  await expect(icon(page, "To rows")).toHaveAccessibleName(/shortcut; OK/);
  await expect(page.getByText("not-there.png")).toBeVisible(); // a frame in place of what is missing
  await expect(icon(page, "nowhere")).toHaveAccessibleName(/has no place/);
  await expect(page.getByText("Without a position")).toBeVisible();
  await icon(page, "To rows").click();
  await expect(page.getByRole("region", { name: "About To rows" })).toContainText("Leads to Rows");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("region", { name: "About To rows" })).toHaveCount(0);
  await noSideways(page);
  await accessible(page);
});

test("links and shortcuts that lead nowhere are drawn as such", async ({ page, service }) => {
  await service.csv("/api/provisioning/view", "name,view", "Ends,MAIN", "Gone view,MAIN");
  await service.csv("/api/provisioning/custom", "name,view,posx,posy", "stays,Ends,60,60", "goes,Ends,60,260");
  await service.csv("/api/provisioning/link", "name,view,from,to,text", "Half,Ends,stays,goes,1 Gbit/s");
  await service.csv("/api/provisioning/shortcut", "name,view,target,posx,posy", "Way out,Ends,Gone view,160,60");
  await service.call("DELETE", "/api/provisioning/custom", "name\ngoes\n");
  await service.call("DELETE", "/api/provisioning/view", "name\nGone view\n");
  await logIn(page, service, map("Ends"));
  const said = "Link from stays to goes, 1 Gbit/s: broken, goes has been removed";
  await expect(page.getByRole("img", { name: said })).toBeVisible();
  await expect(page.locator("line[data-link=Half][data-broken]")).toHaveCount(1);
  await expect(icon(page, "Way out")).toHaveAccessibleName(/leads to Gone view, which has been removed/);
  await expect(page.locator(".map-item[data-kind=shortcut][data-broken]")).toHaveCount(1);
  await expect(
    page.getByText("Broken: Half (goes has been removed), Way out (Gone view has been removed)"),
  ).toBeVisible();
  await accessible(page);
  await page.goto(service.url + map("Ends", "list"));
  await expect(page.getByText("shortcut to Gone view, which has been removed")).toBeVisible();
  await expect(page.getByText(said)).toBeVisible();
  await service.csv("/api/provisioning/custom", "name,view,posx,posy", "goes,Ends,60,260"); // what comes again is linked again
  await service.csv("/api/provisioning/view", "name,view", "Gone view,MAIN");
  await expect(page.getByText(/^Broken/)).toBeHidden();
});

test("a change of status is seen at once", { tag: "@quick" }, async ({ page, service }) => {
  await value(service, "right", 10);
  await logIn(page, service, map("City"));
  await expect(icon(page, "right")).toHaveAccessibleName(/OK; inside: 1 OK/);
  await value(service, "right", 95);
  await expect(icon(page, "right")).toHaveAccessibleName(/Critical; inside: 1 Critical/);
  await expect(page.locator('line[data-link="Cable"]')).toHaveAttribute("data-status", "3");
  await service.json("POST", "/api/ackmanagenote/resources", { items: ["right"], ack: "seen", note: "a note" });
  await expect(icon(page, "right")).toHaveAccessibleName(/Critical, acknowledged.*has a note/);
  await icon(page, "right").click();
  const panel = page.getByRole("region", { name: "About right" });
  await expect(panel).toContainText("Critical, acknowledged");
  await expect(panel).toContainText("a note");
  await expect(panel.getByRole("link", { name: "Open its page" })).toHaveAttribute(
    "href",
    /\/item\?kind=resource&name=right/,
  );
  await value(service, "right", 10);
  await expect(panel).toContainText("OK");
  // A shortcut shows what it leads to. Everything is read again every minute.
  const before = { timeout: 30_000 };
  await value(service, "row0", 75);
  await expect(icon(page, "To rows")).toHaveAccessibleName(/Warning; inside: 1 Warning, 1 OK/, before);
  await value(service, "row0", 10);
  await expect(icon(page, "To rows")).toHaveAccessibleName(/OK; inside: 2 OK/, before);
});

test("what changes before the map hears of changes is shown", { tag: "@quick" }, async ({ page, service }) => {
  await value(service, "right", 10);
  const open = await holdStream(page);
  await logIn(page, service, map("City"));
  await expect(icon(page, "right")).toHaveAccessibleName(/OK; inside: 1 OK/);
  await value(service, "right", 95);
  await open();
  // Everything is read again every minute.
  await expect(icon(page, "right")).toHaveAccessibleName(/Critical; inside: 1 Critical/, { timeout: 30_000 });
  await value(service, "right", 10);
});

test("counts that a change has moved are read once more", async ({ page, service }) => {
  await value(service, "right", 10);
  await logIn(page, service, map("City"));
  await expect(icon(page, "right")).toHaveAccessibleName(/OK; inside: 1 OK/);
  await page.waitForTimeout(3000); // what the opening asks for has been asked for
  const read = page.waitForRequest((r) => r.url().includes("/api/tree"), { timeout: 30_000 });
  await value(service, "right", 95);
  await read;
  await expect(icon(page, "right")).toHaveAccessibleName(/Critical; inside: 1 Critical/);
  await value(service, "right", 10);
});

test("arrows move from icon to icon", async ({ page, service }) => {
  await logIn(page, service, map("City"));
  await icon(page, "left").focus();
  await page.keyboard.press("ArrowRight");
  await expect(icon(page, "right")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(icon(page, "Lost one")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(icon(page, "To rows")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Rows", exact: true })).toBeVisible();
});

test("zooms, and fits the window", async ({ page, service }) => {
  await logIn(page, service, map("City"));
  const width = async () => (await icon(page, "left").boundingBox())?.width ?? 0;
  await page.getByRole("button", { name: /zoom to 100 %/ }).click();
  await expect.poll(width).toBeCloseTo(60, 0);
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect.poll(width).toBeCloseTo(75, 0);
  await page.getByRole("button", { name: "Fit to window" }).click();
  const box = page.getByRole("region", { name: "Drawing of City" });
  await expect
    .poll(() => box.evaluate((b) => b.scrollWidth - b.clientWidth + b.scrollHeight - b.clientHeight))
    .toBeLessThan(3);
  await noSideways(page);
});

test("an arranged view puts its icons into rows", async ({ page, service }) => {
  await logIn(page, service, map("Rows"));
  await expect(icon(page, "row11")).toBeVisible();
  const boxes = await page
    .locator("button.map-icon")
    .evaluateAll((all) => all.map((b) => b.getBoundingClientRect().toJSON()));
  expect(boxes).toHaveLength(12);
  const tops = new Set(boxes.map((b) => Math.round(b.top)));
  expect(tops.size).toBeGreaterThan(1);
  expect(new Set(boxes.map((b) => `${Math.round(b.left)} ${Math.round(b.top)}`)).size).toBe(12);
  await expect(page.getByText("Without a position")).toHaveCount(0);
});

test("the list says the same", { tag: "@quick" }, async ({ page, service }) => {
  await value(service, "left", 75);
  await logIn(page, service, map("City", "list"));
  const rows = page.locator("tr[data-item]");
  await expect(rows).toHaveCount(5);
  await expect(rows.first()).toContainText("left"); // the worst first
  await expect(page.getByText("Link from left to right, 10 Gbit/s: Warning")).toBeVisible();
  await page.getByRole("button", { name: "Details of left" }).click();
  await expect(page.getByRole("region", { name: "About left" })).toContainText("Warning");
  await value(service, "left", 10);
  await expect(page.getByRole("region", { name: "About left" })).toContainText("OK");
  await page.getByRole("button", { name: "Close the panel" }).click();
  await noSideways(page);
  await accessible(page);
  await page.getByRole("link", { name: "left", exact: true }).click();
  await expect(page.getByRole("heading", { name: "left", exact: true })).toBeVisible();
});

test("the small screen lists, the large one draws", async ({ page, service, isMobile }) => {
  await logIn(page, service, "/ui/map?view=City");
  await expect(page.getByRole("heading", { name: "City", exact: true })).toBeVisible();
  await expect(page.getByRole("table")).toHaveCount(isMobile ? 1 : 0);
  await page.getByText(isMobile ? "Drawing" : "List", { exact: true }).click();
  await expect(page.getByRole("table")).toHaveCount(isMobile ? 0 : 1);
  await expect(page).toHaveURL(/as=/);
});

test("names are text, whatever they are", async ({ page, service }) => {
  await logIn(page, service, map("Strange"));
  for (const name of hostile) await expect(icon(page, name)).toBeVisible();
  await icon(page, hostile[0]).click();
  await expect(page.getByRole("region", { name: `About ${hostile[0]}` })).toContainText(hostile[0]);
  await noSideways(page);
  await icon(page, hostile[3]).click();
  await noSideways(page);
  await accessible(page);
  await page.goto(service.url + map("Strange", "list"));
  for (const name of hostile) await expect(page.getByRole("link", { name, exact: true })).toBeVisible();
  await noSideways(page);
  await page.goto(service.url + map(hostile[3]));
  await expect(page.getByRole("heading", { name: hostile[3] })).toBeVisible();
  await noSideways(page);
});

test("names that begin alike are told apart from farther away", async ({ page, service }) => {
  const names = Array.from({ length: 4 }, (_, i) => `router-of-the-house-no-${10 + i}`);
  const odd = ["مبدل الشبكة في المبنى الكبير", "👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻 bell 👩‍💻", "short"];
  await service.csv("/api/provisioning/view", "name,view,posx,posy,autoarrange", "Alike,MAIN,200,10,linear");
  await service.csv("/api/provisioning/custom", "name,view", ...[...names, ...odd].map((n) => `${n},Alike`));
  await logIn(page, service, map("Alike"));
  await page.getByRole("button", { name: /zoom to 100 %/ }).click();
  for (let i = 0; i < 3; i++) await page.getByRole("button", { name: "Zoom out" }).click();
  await expect(page.locator(".map-board")).toHaveAttribute("data-zoomed-out", "1");
  for (const name of names) {
    const link = page.getByRole("link", { name, exact: true }); // all of it is there to be read aloud
    await expect(link).toBeVisible();
    const seen = await link.evaluate((a) => {
      const [head, tail] = a.children as unknown as HTMLElement[];
      const [box, end] = [a.getBoundingClientRect(), tail?.getBoundingClientRect()];
      return {
        cut: !!head && head.scrollWidth > head.clientWidth && head.clientWidth > 0,
        end: end && end.left >= box.left && end.right <= box.right ? tail?.textContent : "out of sight",
      };
    });
    expect(seen).toEqual({ cut: true, end: name.slice(-4) });
  }
  for (const name of odd) await expect(page.locator(`.map-name[title="${name}"]`)).toHaveText(name);
  // The signs of one person stay together, and letters that are joined are not taken apart.
  await expect(page.locator(`.map-name[title="${odd[1]}"] .map-tail`)).toHaveText("l 👩‍💻");
  await expect(page.locator(`.map-name[title="${odd[0]}"] .map-tail`)).toHaveCount(0);
  await accessible(page);
});

test("a view that is not there says so", async ({ page, service }) => {
  await logIn(page, service, map("Nowhere at all"));
  await expect(page.getByRole("alert")).toContainText("Nowhere at all");
});

test("an empty view says what to do", async ({ page, service }) => {
  await service.csv("/api/provisioning/view", "name,view", "Empty one,Country");
  await logIn(page, service, map("Empty one"));
  await expect(page.getByText("This view is empty")).toBeVisible();
  await expect(page.getByRole("link", { name: "provision resources" })).toBeVisible();
});

test("a viewer may look and not edit", async ({ page, service }) => {
  const secret = service.cli("user", "create", "--name", "mapviewer", "--role", "viewer");
  await logIn(page, service, map("City"), "mapviewer", secret);
  await expect(icon(page, "left")).toBeVisible();
  await expect(page.getByRole("button", { name: "Edit" })).toHaveCount(0);
  const answer = await page.request.post(`${service.url}/api/provisioning/custom`, {
    data: "name,posx\nleft,90\n",
    headers: { "Content-Type": "text/csv", Origin: service.url },
  });
  expect(answer.status()).toBe(403);
});

test("the tree map shows all objects by status", async ({ page, service }) => {
  await value(service, "left", 95);
  await logIn(page, service, "/ui/treemap");
  const country = page.getByRole("button", { name: /^Country: / });
  await expect(country).toHaveAccessibleName(/1 Critical/);
  await accessible(page);
  await country.click({ position: { x: 20, y: 8 } });
  await expect(page.getByRole("navigation", { name: "Way to this part" })).toHaveText("MAIN/Country");
  const city = page.getByRole("button", { name: /^City: / });
  await expect(city).toHaveAccessibleName(/1 Critical/);
  await value(service, "left", 10);
  await expect(city).not.toHaveAccessibleName(/Critical/); // without anybody's asking
  await page.getByRole("button", { name: "Zoom out" }).click();
  await expect(country).toBeVisible();
  await page.getByText("Table", { exact: true }).click();
  const row = page.getByRole("row").filter({ hasText: "Country" });
  await expect(row).toContainText("5");
  await noSideways(page);
  await accessible(page);
  await row.getByRole("button", { name: "Country" }).click();
  await expect(page.getByRole("row").filter({ hasText: "Rows" })).toContainText("2");
});
