import type { Page } from "@playwright/test";
import { accessible, expect, logIn, type Service, test } from "./service";

const minute = 60;
const now = () => Math.floor(Date.now() / 1000);
const script = "<script>alert(1)</script>";

/** room makes a class and a resource of a name, with an object that has values of the last hour. */
async function room(service: Service, name: string, values: (string | number)[] = []): Promise<void> {
  await service.json("PUT", `/api/classes/${name}`, {
    indicators: [
      {
        n: 1,
        name: "Used",
        unit: "%",
        thresholds: [
          { when: ">= 80", status: 1 },
          { when: ">= 95", status: 3, recover: "< 90", after: 2 },
        ],
      },
      { n: 2, name: "Mode", type: "string" },
    ],
    log: { columns: ["who", "what"] },
  });
  await service.csv("/api/provisioning/custom", "name", name);
  const start = now() - values.length * minute;
  const rows = values.map((v, i) => `data,${name},disk,${name},${name},${start + (i + 1) * minute},${v}`);
  if (rows.length) await service.csv("/api/send", "type,resname,object,class,view,timestamp,i1,i2", ...rows);
}

const object = (resource: string, name = "disk") =>
  `/ui/item?kind=object&name=${encodeURIComponent(name)}&resource=${encodeURIComponent(resource)}`;

/** inked counts the points of a chart that have the colour of its line. */
function inked(page: Page): Promise<number> {
  return page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>(".chart-plot canvas");
    const box = document.querySelector(".chart-plot");
    const ctx = canvas?.getContext("2d");
    if (!canvas || !box || !ctx || !canvas.width) return 0;
    const colour = getComputedStyle(box).getPropertyValue("--chart-1").trim();
    const want = [1, 3, 5].map((i) => Number.parseInt(colour.slice(i, i + 2), 16));
    const { data } = ctx.getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4)
      if (want.every((w, k) => Math.abs((data[i + k] ?? 0) - w) < 12) && (data[i + 3] ?? 0) > 200) n++;
    return n;
  });
}

test("an object says what it is, why, and draws its values", { tag: "@quick" }, async ({ page, service }) => {
  const values = [...Array(40).keys()].map((i) => 40 + i);
  await room(service, "drawn", [...values, 96, 97.25]);
  await logIn(page, service, object("drawn"));
  await expect(page.getByRole("heading", { name: "disk", level: 1 })).toBeVisible();
  await expect(page.getByRole("region", { name: "Status", exact: true })).toContainText("Critical");
  await expect(page.getByRole("region", { name: "Why" })).toContainText("disk of drawn is Critical");
  await expect(page.getByRole("region", { name: "Why" })).toContainText("decides");
  await expect(page.getByRole("region", { name: "Current values" })).toContainText("97.25 %");
  await expect.poll(() => inked(page)).toBeGreaterThan(30);
  await expect(page.locator(".chart-level", { hasText: "Critical >= 95" })).toBeVisible();
  await expect(page.locator(".chart-level", { hasText: "Warning >= 80" })).toBeVisible();
  await accessible(page);
  await page.getByRole("button", { name: "Show Used as a table" }).click();
  const table = page.getByRole("region", { name: "Used as a table" });
  await expect(table.getByRole("row")).not.toHaveCount(1);
  await expect(table).toContainText("97.25 %");
  await expect(table).not.toContainText("98");
  await accessible(page);
});

test("a chart is read to those who do not see it", async ({ page, service }) => {
  await room(service, "heard", [10, 20, 30]);
  await logIn(page, service, `${object("heard")}&range=1h`);
  const chart = page.getByRole("group", { name: /^Chart of Used/ });
  await expect(chart).toHaveAccessibleDescription(/between 10\s% and 30\s%, 20\s% on average, last 30\s%/);
});

test("the range is chosen, typed, and stays in the address", async ({ page, service }) => {
  await room(service, "ranged", [10, 20, 30]);
  await logIn(page, service, object("ranged"));
  const chart = page.getByRole("group", { name: /^Chart of Used/ });
  await expect(chart).toBeVisible();
  await page.getByText("7 d", { exact: true }).click();
  await expect(page).toHaveURL(/range=7d/);
  await page.reload();
  await expect(page.getByRole("radio", { name: "7 d", exact: true })).toBeChecked();
  await page.getByRole("button", { name: "From – to" }).click();
  await page.locator("input[type=datetime-local]").first().fill("2026-01-01T00:00");
  await page.locator("input[type=datetime-local]").last().fill("2026-01-02T00:00");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await expect(page).toHaveURL(/from=2025-12-31T23%3A00%3A00.000Z/); // midnight in Paris
  await expect(page.getByText("No values in this range").first()).toBeVisible();
  await page.goBack();
  await expect(page).not.toHaveURL(/from=/);
});

test("zooms with keys, by dragging, and back", async ({ page, service }) => {
  await room(service, "zoomed", [10, 20, 30, 40, 50]);
  await logIn(page, service, object("zoomed"));
  const chart = page.getByRole("group", { name: /^Chart of Used/ });
  await expect.poll(() => inked(page)).toBeGreaterThan(0);
  await chart.focus();
  await page.keyboard.press("+");
  await expect(page).toHaveURL(/from=.*&to=/);
  const at = () => {
    const p = new URL(page.url()).searchParams;
    return [p.get("from"), p.get("to")].map((t) => Date.parse(t ?? "") / 1000) as [number, number];
  };
  const [from, to] = at();
  expect(to - from).toBeCloseTo(12 * 3600, -1); // half of a day and a night
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => at()[0]).toBeLessThan(from - 3600);
  await page.getByRole("button", { name: "Reset the zoom of Used" }).click();
  await expect(page).not.toHaveURL(/from=/);

  await chart.scrollIntoViewIfNeeded();
  await expect.poll(() => inked(page)).toBeGreaterThan(0);
  const over = await page.locator(".chart-plot .u-over").first().boundingBox();
  if (!over) throw new Error("there is no chart to drag on");
  const y = over.y + over.height / 2;
  await page.mouse.move(over.x + over.width * 0.5, y);
  await page.mouse.down();
  await page.mouse.move(over.x + over.width * 0.75, y, { steps: 5 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=.*&to=/);
  const dragged = at();
  expect(Math.abs(dragged[1] - dragged[0] - 6 * 3600)).toBeLessThan(1200); // a quarter of it
  await page.mouse.dblclick(over.x + over.width * 0.5, y);
  await expect(page).not.toHaveURL(/from=/);
});

test("new values and statuses come by themselves", { tag: "@quick" }, async ({ page, service }) => {
  await room(service, "living", [10, 20]);
  await logIn(page, service, `${object("living")}&range=1h`);
  const values = page.getByRole("region", { name: "Current values" });
  await expect(values).toContainText("20 %");
  await service.csv("/api/send", "type,resname,object,i1", "data,living,disk,88.5");
  await expect(page.getByRole("region", { name: "Status", exact: true })).toContainText("Warning");
  await expect(values).toContainText("88.5 %");
  await expect(page.getByRole("group", { name: /^Chart of Used/ })).toHaveAccessibleDescription(/last 88.5\s%/);
  await expect(page.getByRole("region", { name: "Events" })).toContainText("Used 88.5 %");
});

test("what is added to a view or taken away shows by itself", { tag: "@quick" }, async ({ page, service }) => {
  await service.csv("/api/provisioning/view", "name,view", "Growing,MAIN");
  await logIn(page, service, "/ui/item?kind=view&name=Growing");
  await expect(page.getByText("It is empty.")).toBeVisible();
  await service.csv("/api/provisioning/custom", "name,view", "sprout,Growing");
  await expect(page.getByText("1 resource", { exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: "sprout", exact: true })).toBeVisible();
  await service.call("DELETE", "/api/provisioning/custom", "name\nsprout\n");
  await expect(page.getByText("It is empty.")).toBeVisible();
});

test("a note that somebody else has changed meanwhile is not lost", async ({ page, service }) => {
  await room(service, "noted", [10, 20]);
  await logIn(page, service, object("noted"));
  await page.getByRole("button", { name: "Note" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Note" }).fill("mine");
  await service.json("POST", "/api/ackmanagenote/objects", { items: ["disk"], resname: "noted", note: "theirs" });
  await expect(dialog.getByRole("alert")).toContainText("theirs");
  await dialog.getByRole("button", { name: "Put it before mine" }).click();
  await expect(dialog.getByRole("textbox", { name: "Note" })).toHaveValue("theirs\nmine");

  // However long the other note is, what is written and the buttons stay in sight.
  const long = `${"W".repeat(300)}\n${"line\n".repeat(600)}`;
  await service.json("POST", "/api/ackmanagenote/objects", { items: ["disk"], resname: "noted", note: long });
  await expect(dialog.getByRole("alert")).toContainText("WWW");
  const box = await dialog.getByRole("alert").boundingBox();
  expect(box?.height).toBeLessThan(400);
  await expect(dialog.getByRole("button", { name: "Note", exact: true })).toBeInViewport();
  const wide = await dialog.getByRole("alert").evaluate((e) => e.scrollWidth - e.clientWidth);
  expect(wide).toBeLessThanOrEqual(0);
});

test("two notes at the same moment: whoever replaced one unseen is shown it", async ({ page, service }) => {
  await room(service, "hasty", [10, 20]);
  await logIn(page, service, object("hasty"));
  await expect(page.getByRole("heading", { name: "disk", level: 1 })).toBeVisible();
  await page.keyboard.press("n"); // the key of the list works here, too
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Note" }).fill("mine");
  // The other note comes with the save, so the form cannot show it before.
  await page.route("**/api/ackmanagenote/**", async (route) => {
    await service.json("POST", "/api/ackmanagenote/objects", { items: ["disk"], resname: "hasty", note: "theirs" });
    await route.continue();
  });
  await dialog.getByRole("button", { name: "Note", exact: true }).click();
  await expect(dialog).toContainText(/note set, replacing a note that you had not seen, by test \d+ at .*: “theirs”/);
  await accessible(page);
});

test("whoever saved a note is told when somebody else replaces it, and can put it back", async ({ page, service }) => {
  await room(service, "replaced", [10, 20]);
  await logIn(page, service, object("replaced"));
  await page.getByRole("button", { name: "Note" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Note" }).fill("mine");
  await dialog.getByRole("button", { name: "Note", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await service.json("POST", "/api/ackmanagenote/objects", { items: ["disk"], resname: "replaced", note: "theirs" });
  const said = page.getByRole("alert").filter({ hasText: "Another user has replaced your note" });
  await expect(said).toContainText(/disk in replaced was replaced by test \d+ at .*: “theirs”/);
  await expect(said).toContainText("Yours was:mine");
  await accessible(page);
  await said.getByRole("button", { name: "Put mine back: disk" }).click();
  await expect(dialog.getByRole("textbox", { name: "Note" })).toHaveValue("mine");
  await expect(dialog.getByRole("alert")).toContainText("It now says: theirs");
  await dialog.getByRole("button", { name: "Note", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(said).toHaveCount(0); // my own note is nobody else's
  await expect(page.getByText("mine", { exact: true }).first()).toBeVisible();
});

test("what happened in a view follows what is moved and removed, although its status stays", async ({
  page,
  service,
  browser,
}, info) => {
  const name = `moving ${info.project.name}`;
  await room(service, name);
  await service.csv("/api/provisioning/view", "name,view", `${name} hall,MAIN`, `${name} far,MAIN`);
  const bad = async (box: string) =>
    service.csv("/api/send", "type,resname,object,class,view,i1", `data,${box},disk,${name},${box},97`);
  const put = (box: string, view: string) => service.csv("/api/provisioning/custom", "name,view", `${box},${view}`);
  await put(`${name} stays`, `${name} hall`);
  await bad(`${name} stays`); // so the hall is critical throughout
  await put(`${name} old`, `${name} far`);
  await bad(`${name} old`);
  const secret = service.cli("user", "create", "--name", name, "--role", "viewer", "--views", `${name} hall`);
  const limited = await (await browser.newContext()).newPage();
  const path = `/ui/item?kind=view&name=${encodeURIComponent(`${name} hall`)}`;
  await logIn(page, service, path);
  await logIn(limited, service, path, name, secret);
  const both = [page, limited];
  const problems = (p: Page) => p.getByRole("region", { name: "Last problems" });
  const events = (p: Page) => p.getByRole("region", { name: "Events" });
  const follows = async (box: string, n: number) => {
    for (const p of both)
      for (const list of [problems(p), events(p)])
        await expect(list.locator(".event").filter({ hasText: box })).toHaveCount(n, { timeout: 30_000 });
  };
  for (const p of both) await expect(problems(p)).toContainText(`${name} stays`);

  await put(`${name} new`, `${name} hall`);
  await bad(`${name} new`);
  await follows(`${name} new`, 1); // told by the stream
  await service.call("DELETE", "/api/provisioning/custom", `name\n${name} new\n`);
  for (const list of [problems(limited), events(limited)])
    await expect(list.locator(".event").filter({ hasText: `${name} new` })).toHaveCount(0, { timeout: 30_000 });
  await put(`${name} old`, `${name} hall`);
  await follows(`${name} old`, 1); // with its history
  await put(`${name} old`, `${name} far`);
  await follows(`${name} old`, 0);
});

test("a form keeps what was typed when its item is removed", async ({ page, service }) => {
  await room(service, "leaving", [10, 20]);
  await logIn(page, service, object("leaving"));
  await page.getByRole("button", { name: "Note" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Note" }).fill("a long story");
  await service.call("DELETE", "/api/provisioning/object", "name,view,resname\ndisk,leaving,leaving\n");
  await expect(page.getByText("This object has been removed")).toBeVisible();
  await expect(page.getByText("The request failed")).toHaveCount(0);
  await expect(page.getByText("could not be read since")).toHaveCount(0);
  await expect(dialog.getByRole("textbox", { name: "Note" })).toHaveValue("a long story");
});

test("texts are shown as stretches and changes", async ({ page, service }) => {
  await room(service, "texts", ["10,auto", "11,auto", "12,manual", "13,manual", "14,auto"]);
  await logIn(page, service, `${object("texts")}&range=1h`);
  const mode = page.getByRole("region", { name: "Mode over time" });
  await mode.getByText("2 changes").click();
  await expect(mode.getByRole("row")).toHaveCount(3);
  await expect(mode.getByRole("row").nth(1)).toContainText("manual");
});

test("long spans are summed up, with a band of lowest and highest", async ({ page, service }) => {
  await room(service, "long");
  const hour = Math.floor(now() / 3600) * 3600 - 5 * 86400;
  const rows = [...Array(48).keys()].map((i) => `data,long,disk,long,long,${hour + i * 1800},${i % 2 ? 10 : 30}`);
  await service.csv("/api/send", "type,resname,object,class,view,timestamp,i1", ...rows);
  await logIn(page, service, `${object("long")}&range=7d`);
  await page.getByRole("button", { name: "Show Used as a table" }).click();
  const row = page.getByRole("region", { name: "Used as a table" }).getByRole("row").nth(1);
  await expect(row).toContainText("20 %"); // the mean of an hour
  await expect(row).toContainText("10 %");
  await expect(row).toContainText("30 %");
  await page.getByRole("region", { name: "Over time" }).getByRole("button", { name: "As SQL" }).first().click();
  await expect(page.getByRole("dialog")).toContainText("TIMEBUCKET(timestamp, '1h')");
  await expect(page.getByRole("button", { name: "Copy" })).toBeVisible();
});

test("the log is searched by words", async ({ page, service }) => {
  await room(service, "logged", [10]);
  const lines = [...Array(120).keys()].map((i) => `log,logged,disk,${now() - i},"alice\tline number ${i}"`);
  lines.push(`log,logged,disk,${now()},"${script}\tconnection refused <img src=x onerror=alert(1)>"`);
  await service.csv("/api/send", "type,resname,object,timestamp,log", ...lines);
  await logIn(page, service, object("logged"));
  const log = page.getByRole("region", { name: "Log", exact: true });
  await expect(log.getByRole("columnheader", { name: "who" })).toBeVisible();
  await expect(log.getByText(script)).toBeVisible();
  // Cells, as the text of a whole table runs together: "line number 1" and the time "19:00:01" behind it.
  const cell = (name: string) => log.getByRole("cell", { name, exact: true });
  await expect(cell("line number 119")).toHaveCount(0);
  await log.getByRole("button", { name: "Load more lines" }).click();
  await expect(cell("line number 119")).toBeVisible();
  await log.getByLabel("Search the log").fill("refused");
  await expect(cell("line number 1")).toHaveCount(0);
  await expect(log.getByText(/connection refused <img/)).toBeVisible();
  await expect(page).toHaveURL(/log=refused/);
  await log.getByLabel("Search the log").fill('"unclosed');
  await expect(log.getByRole("alert")).toBeVisible();
  await log.getByLabel("Search the log").fill("nowhere");
  await expect(log.getByText("No line has these words")).toBeVisible();
});

test("what people said about an item, and names that are no markup", { tag: "@quick" }, async ({ page, service }) => {
  await room(service, "said");
  const long = "n".repeat(255);
  await service.csv(
    "/api/send",
    "type,resname,object,class,view,i1",
    `data,said,${script},said,said,99`,
    `data,said,${long},said,said,1`,
    "data,said,שלום 🎉,said,said,1",
  );
  await service.json("POST", "/api/ackmanagenote/objects", {
    items: [script],
    resname: "said",
    ack: "looking <b>into</b> it",
    note: "<i>ask Anna</i>",
  });
  await logIn(page, service, object("said", script));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(script);
  await expect(page.getByRole("region", { name: "Acknowledged" })).toContainText("looking <b>into</b> it");
  await expect(page.getByRole("region", { name: "Note" })).toContainText("<i>ask Anna</i>");
  await accessible(page);
  for (const name of [long, "שלום 🎉"]) {
    await page.goto(service.url + object("said", name));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
    await expect(page.getByRole("region", { name: "Current values" })).toContainText("1 %");
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  }
});

test("what is unmanaged says since when and by what", async ({ page, service }) => {
  await room(service, "paused", [10]);
  await service.json("POST", "/api/ackmanagenote/resources", {
    items: ["paused"],
    isunmanaged: true,
    unmanageifred: false,
    collectunmanage: true,
    collectorunmanage: true,
    unmanagenote: "moving house",
  });
  await logIn(page, service, object("paused"));
  await expect(page.getByRole("region", { name: "Status", exact: true })).toContainText("Unknown (Unmanaged)");
  const said = page.getByRole("region", { name: "Unmanaged" });
  await expect(said).toContainText("moving house");
  await said.getByRole("link", { name: "paused" }).click();
  await expect(page.getByRole("heading", { name: "paused", level: 1 })).toBeVisible();
});

test("a view and a resource lead down to what is wrong", async ({ page, service }) => {
  await service.csv("/api/provisioning/view", "name,view", "North,MAIN");
  await room(service, "below", [10, 85]);
  await service.csv("/api/provisioning/custom", "name,view", "below,North");
  await logIn(page, service, "/ui/item?kind=view&name=North");
  const why = page.getByRole("region", { name: "Why" });
  await expect(why).toContainText("North is Warning because disk in below is Warning");
  await expect(page.getByRole("region", { name: "Content" }).getByRole("link", { name: "below" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Show on the map" })).toHaveAttribute("href", "/ui/map?view=North");
  await accessible(page);
  await why.getByRole("link", { name: "below" }).click();
  await expect(page.getByRole("heading", { name: "below", level: 1 })).toBeVisible();
  await expect(page.getByRole("region", { name: "Last problems" })).toContainText("Used 85 %");
  await page.getByRole("button", { name: "Show its settings" }).click();
  await expect(page.getByRole("row", { name: /^view North/ })).toBeVisible();
  await accessible(page);
  await page.getByRole("region", { name: "Content" }).getByRole("link", { name: "disk" }).click();
  await expect(page.getByRole("navigation", { name: "Location" })).toHaveText("MAIN›North›below›object");
});

test("content is listed with the worst first, over all of it", async ({ page, service }) => {
  await room(service, "crowd", [10]);
  await service.csv("/api/provisioning/view", "name,view,resname", "Aside,crowd,crowd");
  const send = (name: string, value: number) => `data,crowd,${name},crowd,crowd,${value}`;
  await service.csv(
    "/api/send",
    "type,resname,object,class,view,i1",
    ...Array.from({ length: 120 }, (_, i) => send(`a${String(i).padStart(3, "0")}`, 1)),
    send("zz worst", 99),
    send("zz worst", 99), // the threshold wants two
    send("zy bad", 85),
    "data,crowd,deeper,crowd,Aside,99",
  );
  await logIn(page, service, "/ui/item?kind=resource&name=crowd");
  const content = page.getByRole("region", { name: "Content" });
  await expect(content).toContainText("1 view, 123 objects");
  const links = content.getByRole("link");
  await expect(links.first()).toHaveText("zz worst");
  await expect(links).toHaveCount(100);
  expect((await links.allTextContents()).slice(0, 4)).toEqual(["zz worst", "Aside", "zy bad", "a000"]);
  await content.getByRole("button", { name: "Load more of the content" }).click();
  await expect(links).toHaveCount(124); // what stands deeper is not listed
  await expect(content.getByRole("button", { name: "Load more of the content" })).toBeHidden();
  const all = await links.allTextContents();
  expect(new Set(all).size).toBe(124);
  expect(all).not.toContain("deeper");
});

test("the words of thresholds do not cover each other", async ({ page, service }) => {
  await service.json("PUT", "/api/classes/close", {
    indicators: [
      {
        n: 1,
        name: "Used",
        thresholds: [
          { when: ">= 90", status: 1 },
          { when: ">= 91", status: 2 },
          { when: ">= 92", status: 3 },
          { when: "< 1", status: 2 },
        ],
      },
    ],
  });
  await service.csv("/api/provisioning/custom", "name", "close");
  await service.csv("/api/send", "type,resname,object,class,view,i1", "data,close,disk,close,close,50");
  await logIn(page, service, object("close"));
  const words = page.locator(".chart-level");
  await expect(words).toHaveCount(4);
  await expect(words.first()).toContainText("Critical >= 92");
  const boxes = await words.evaluateAll((all) =>
    all.map((w) => w.getBoundingClientRect()).map((r) => [r.top, r.bottom]),
  );
  for (const [i, box] of boxes.entries())
    if (i > 0) expect(box[0]).toBeGreaterThanOrEqual((boxes[i - 1]?.[1] ?? 0) - 0.5);
});

test("what is not there is said so", async ({ page, service }) => {
  await room(service, "known", [1]);
  await logIn(page, service, object("known", "dist"));
  await expect(page.getByText("There is no object of this name")).toBeVisible();
  await expect(page.getByRole("link", { name: "its events" })).toBeVisible();
  await accessible(page);
  await page.goto(`${service.url}/ui/item`);
  await expect(page.getByText("Which item?")).toBeVisible();
});
