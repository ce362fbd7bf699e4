import type { Locator, Page } from "@playwright/test";
import { holdStream } from "./drawn";
import { accessible, expect, logIn, Service, test } from "./service";

const bad = "<script>alert(1)</script>";
const rtl = "خادم الويب";

/** makeResource makes a resource of its own for a test, with objects whose status the values decide. */
async function makeResource(service: Service, name: string, objects: Record<string, number>): Promise<void> {
  await service.json("PUT", "/api/classes/gauge", {
    indicators: [
      {
        n: 1,
        name: "Used",
        unit: "%",
        thresholds: [
          { when: ">= 80", status: 1 },
          { when: ">= 95", status: 3 },
        ],
      },
    ],
  });
  await service.csv("/api/provisioning/custom", "name", quoted(name));
  await send(service, name, objects);
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

async function send(service: Service, resource: string, objects: Record<string, number>): Promise<void> {
  const r = quoted(resource);
  await service.csv(
    "/api/send",
    "type,resname,object,class,view,i1",
    ...Object.entries(objects).map(([o, v]) => `data,${r},${quoted(o)},gauge,${r},${v}`),
  );
}

const list = (page: Page) => page.getByRole("grid", { name: "Items and their status" });

/** line is the row of an item. */
const line = (page: Page, name: string): Locator =>
  list(page)
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name, exact: true }) })
    .first();

const names = (page: Page) => list(page).getByRole("row").locator(".title a").allTextContents();

interface Row {
  acknowledged: boolean;
  ack?: string;
  ackby?: string;
  isunmanaged: boolean;
  unmanageifred: boolean;
  collectunmanage: boolean;
  collectorunmanage: boolean;
  unmanagefrom?: string;
  unmanageto?: string;
  unmanagenote?: string;
  note?: string;
}

/** stored asks the service what it knows of an item. */
const stored = async (service: Service, resource: string, name: string) =>
  (
    await service.sql<Row>(
      `SELECT acknowledged, ack, ackby, isunmanaged, unmanageifred, collectunmanage, collectorunmanage, unmanagefrom, unmanageto, unmanagenote, note FROM objectstatus WHERE resource='${resource}' AND name='${name}'`,
    )
  )[0];

/** choose selects an item and starts an operation on it by keyboard. */
async function choose(page: Page, name: string, key: string): Promise<Locator> {
  await line(page, name).getByRole("checkbox").click();
  await page.keyboard.press(key);
  const dialog = page.getByRole("dialog");
  await expect(dialog).toBeVisible();
  return dialog;
}

test("says how to begin when there is nothing", async ({ page }) => {
  const empty = await Service.start();
  try {
    await logIn(page, empty, "/ui/status");
    await page.getByRole("button", { name: "Put away" }).click(); // the first steps
    await expect(page.getByText("Nothing is monitored yet")).toBeVisible();
    await accessible(page);
    await empty.csv("/api/provisioning/custom", "name", "first"); // and goes on by itself
    await page.getByRole("button", { name: "Show views and resources" }).click();
    await expect(line(page, "first")).toBeVisible();
    await empty.call("DELETE", "/api/provisioning/custom", "name\nfirst\n");
    await page.getByRole("link", { name: "create an API key" }).click();
    await expect(page).toHaveURL(/\/ui\/parameters\/keys/);
    await expect(page.getByRole("heading", { name: "API keys" })).toBeVisible(); // it has been loaded before the service goes
  } finally {
    await empty.remove();
  }
});

test("says how to see more when nothing matches", async ({ page, service }) => {
  await makeResource(service, "lambda", { one: 10 });
  await logIn(page, service, "/ui/status?text=nothing+is+called+so&status=3");
  await expect(page.getByText("Nothing matches the filter")).toBeVisible();
  await page.getByRole("button", { name: "Show all objects" }).click();
  await expect(page).toHaveURL(/\/ui\/status$/);
  await expect(list(page)).toBeVisible();
});

test("filters and sorts, and keeps both in the address", { tag: "@quick" }, async ({ page, service }) => {
  await makeResource(service, "alpha", { one: 97, two: 85, three: 10 });
  await logIn(page, service, "/ui/status?view=alpha");
  await expect.poll(() => names(page)).toEqual(["one", "two", "three"]); // the worst first
  await accessible(page);

  await page.getByRole("button", { name: "Warning 1", pressed: false }).click();
  await expect.poll(() => names(page)).toEqual(["two"]);
  await page.getByRole("button", { name: "OK 1", pressed: false }).click();
  await expect.poll(() => names(page)).toEqual(["two", "three"]);
  await expect(page).toHaveURL(/status=1%2C0/);
  await page.reload();
  await expect.poll(() => names(page)).toEqual(["two", "three"]);
  await page.getByRole("button", { name: "Warning 1", pressed: true }).click();
  await page.getByRole("button", { name: "OK 1", pressed: true }).click();

  await page.getByLabel("Filter by text").fill("ONE");
  await expect.poll(() => names(page)).toEqual(["one"]);
  await page.getByLabel("Clear the text").click();
  await page.getByLabel("Filter by text").fill("used 85");
  await expect.poll(() => names(page)).toEqual(["two"]);
  await page.getByLabel("Clear the text").click();

  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByText("Resources", { exact: true }).click();
  await page.getByText("Objects", { exact: true }).click();
  await expect.poll(() => names(page)).toEqual(["alpha"]);
  await accessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Without: resources" }).click();
  await page.goto(`${service.url}/ui/status?class=gauge&view=alpha&sort=name+desc`);
  await expect.poll(() => names(page)).toEqual(["two", "three", "one"]);
  await page.goto(`${service.url}/ui/status?view=alpha&acknowledged=yes`);
  await expect(page.getByText("Nothing matches the filter")).toBeVisible();
});

test("a fault is one line and one number", { tag: "@quick" }, async ({ page }) => {
  const service = await Service.start();
  try {
    await makeResource(service, "omega", { one: 97, two: 10 });
    await service.csv("/api/provisioning/view", "name,view", "omega view,MAIN");
    await service.csv("/api/provisioning/custom", "name,view", "omega,omega view");
    await logIn(page, service, "/ui/status");
    await expect.poll(() => names(page)).toEqual(["one", "two"]);
    const above = page.getByRole("region", { name: "Objects by status" }).getByRole("link", { name: /Critical$/ });
    const toggle = page
      .getByRole("region", { name: /^Filter by status; the numbers are objects/ })
      .getByRole("button", { name: /^Critical/ });
    const numbers = async () => [await above.textContent(), (await toggle.textContent())?.replace("Critical ", "")];
    await expect.poll(numbers).toEqual(["1", "1"]);
    await expect(page.getByRole("status").getByText("2 objects")).toBeVisible();

    // What it stands in is shown on demand, and changes no number.
    await page.getByRole("button", { name: "Views and resources too", pressed: false }).click();
    await expect.poll(() => names(page)).toEqual(["MAIN", "omega", "omega view", "one", "two"]);
    await expect(page).toHaveURL(/\/ui\/status\?kind=all$/);
    await page.reload();
    await expect.poll(() => names(page)).toEqual(["MAIN", "omega", "omega view", "one", "two"]);
    await expect.poll(numbers).toEqual(["1", "1"]);
    await expect(page.getByRole("status").getByText("2 objects, 1 resource, 2 views")).toBeVisible();
    await accessible(page);
    await send(service, "omega", { two: 99 });
    await expect.poll(numbers).toEqual(["2", "2"]);
    await above.click();
    await expect.poll(() => names(page)).toEqual(["one", "two"]);
    await expect(page).toHaveURL(/\/ui\/status\?status=3$/);
  } finally {
    await service.remove();
  }
});

test("sorts by a click on a column", async ({ page, service, isMobile }) => {
  test.skip(!!isMobile, "cards have no columns");
  await makeResource(service, "beta", { one: 97, two: 85, three: 10 });
  await logIn(page, service, "/ui/status?view=beta&kind=object");
  await page.getByRole("button", { name: "Name", exact: true }).click();
  await expect.poll(() => names(page)).toEqual(["one", "three", "two"]);
  await page.getByRole("button", { name: "Name", exact: true }).click();
  await expect.poll(() => names(page)).toEqual(["two", "three", "one"]);
  await expect(page.getByRole("columnheader", { name: "Name" })).toHaveAttribute("aria-sort", "descending");
  await expect(page).toHaveURL(/sort=name\+desc/);
});

test("sorts on a phone", async ({ page, service, isMobile }) => {
  test.skip(!isMobile, "a desk has columns to click on");
  await makeResource(service, "nu", { one: 97, two: 85, three: 10 });
  await logIn(page, service, "/ui/status?view=nu&kind=object");
  await expect.poll(() => names(page)).toEqual(["one", "two", "three"]);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("combobox", { name: "Sort by" }).click();
  await page.getByRole("option", { name: "Name" }).click();
  await expect.poll(() => names(page)).toEqual(["one", "three", "two"]);
  await page.getByRole("button", { name: "Rising" }).click();
  await expect.poll(() => names(page)).toEqual(["two", "three", "one"]);
});

test("shows a change when it happens, in its new place", async ({ page, service }) => {
  await makeResource(service, "gamma", { one: 10, two: 10, three: 85 });
  await logIn(page, service, "/ui/status?view=gamma&kind=object");
  await expect.poll(() => names(page)).toEqual(["three", "one", "two"]);
  await send(service, "gamma", { two: 99 });
  await expect(line(page, "two").getByRole("gridcell", { name: "Critical" })).toBeVisible();
  await expect.poll(() => names(page)).toEqual(["two", "three", "one"]);
  await send(service, "gamma", { four: 96 }); // and what is new comes by itself
  await expect.poll(() => names(page)).toEqual(["four", "two", "three", "one"]);
});

/** actions notes what the page asks the service to do with items. */
function actions(page: Page): string[] {
  const asked: string[] = [];
  page.on("request", (r) => {
    if (r.method() === "POST" && r.url().includes("/api/ackmanagenote/")) asked.push(r.postData() ?? "");
  });
  return asked;
}

test("the numbers beside the statuses follow a filter's rows", { tag: "@quick" }, async ({ page, service }) => {
  await makeResource(service, "num01", { a: 10, b: 85 });
  await logIn(page, service, "/ui/status?text=num01&sort=name+asc");
  const critical = page.locator(".status-toggle").filter({ hasText: "Critical" });
  await expect(critical).toContainText("0");
  await send(service, "num01", { a: 99 });
  // Everything is read again every half minute.
  await expect(critical).toContainText("1", { timeout: 20_000 });
});

test("what changes before the list hears of changes is shown", async ({ page, service }) => {
  await makeResource(service, "opening", { fan: 10 });
  const open = await holdStream(page);
  await logIn(page, service, "/ui/status?view=opening&kind=object&sort=name+asc");
  await expect(line(page, "fan").getByRole("gridcell", { name: "OK" })).toBeVisible();
  await send(service, "opening", { fan: 97 });
  await open();
  // Everything is read again every 30 seconds.
  await expect(line(page, "fan").getByRole("gridcell", { name: "Critical" })).toBeVisible({ timeout: 15_000 });
});

test("acknowledges several at once and tells what became of each", { tag: "@quick" }, async ({ page, service }) => {
  await makeResource(service, "delta", { one: 97, two: 85, three: 97 });
  await logIn(page, service, "/ui/status?view=delta&kind=object");
  const asked = actions(page);
  await line(page, "one").getByRole("checkbox").click();
  await line(page, "three").getByRole("checkbox").click();
  await line(page, "two")
    .getByRole("checkbox")
    .click({ modifiers: ["Shift"] });
  await expect(page.getByRole("status").getByText("3 selected")).toBeVisible();
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Text").fill("part is ordered");
  await dialog.getByRole("button", { name: "When it ends" }).click();
  await dialog.getByLabel("When it becomes worse than it is now").check();
  await accessible(page);
  await send(service, "delta", { three: 10 }); // recovers behind the dialog, so the service refuses it
  await dialog.getByRole("button", { name: "Acknowledge 3" }).click();
  await expect(dialog.getByRole("alert")).toContainText("2 items acknowledged, 1 item not done");
  await expect(dialog.getByRole("listitem").filter({ hasText: "three" })).toContainText("only an item in error");
  expect(asked).toHaveLength(1);
  await accessible(page);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await expect(line(page, "one").getByRole("img", { name: "Acknowledged by admin: part is ordered" })).toBeVisible();
  await expect
    .poll(() => stored(service, "delta", "two"))
    .toMatchObject({ acknowledged: true, ack: "part is ordered", ackby: "admin" });
  await send(service, "delta", { two: 97 }); // worse than it was
  await expect(line(page, "two").getByRole("img", { name: /^Acknowledged/ })).toBeHidden();
});

test("rows of many resources and kinds are one call, there and back", { tag: "@quick" }, async ({ page, service }) => {
  for (const n of [1, 2, 3]) await makeResource(service, `plenty ${n}`, { same: 97 });
  await logIn(page, service, "/ui/status?text=plenty&kind=object,resource");
  await expect.poll(() => names(page)).toHaveLength(6);
  await page.getByRole("button", { name: "Select all 6" }).click();
  await expect(page.getByRole("status").getByText("6 selected")).toBeVisible();
  const asked = actions(page);
  const dialog = page.getByRole("dialog");
  const all = async (want: Partial<Row>) => {
    for (const n of [1, 2, 3])
      for (const item of ["same", `plenty ${n}`])
        await expect.poll(() => stored(service, `plenty ${n}`, item)).toMatchObject(want);
  };
  const f = async (key: string, button: string, want: Partial<Row>) => {
    await page.keyboard.press(key);
    await dialog.getByRole("button", { name: `${button} 6` }).click();
    await expect(dialog).toBeHidden();
    await all(want);
  };
  await f("a", "Acknowledge", { acknowledged: true });
  expect(asked).toHaveLength(1);
  await expect(line(page, "same").getByRole("img", { name: /^Acknowledged by admin/ })).toBeVisible();
  await page.keyboard.press("Shift+A");
  await accessible(page);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await f("Shift+A", "Unacknowledge", { acknowledged: false });
  await f("u", "Unmanage", { isunmanaged: true });
  await expect(line(page, "same").getByRole("img", { name: /^Unmanaged/ })).toBeVisible();
  await f("m", "Manage", { isunmanaged: false });
  expect(asked).toHaveLength(4);
});

test("unmanages in every way, and manages again", { tag: "@quick" }, async ({ page, service }) => {
  await makeResource(service, "epsilon", { one: 97 });
  await logIn(page, service, "/ui/status?view=epsilon&kind=all");
  const f = async (name: string, way: string, want: Partial<Row>) => {
    const dialog = await choose(page, name, "u");
    await dialog.getByRole("radio", { name: way }).check();
    await dialog.getByLabel("Why").fill(`because ${way}`);
    await dialog.getByRole("button", { name: "Unmanage", exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect
      .poll(() => stored(service, "epsilon", name))
      .toMatchObject({ ...want, unmanagenote: `because ${way}` });
    await expect(line(page, name).getByRole("img", { name: new RegExp(`because ${way}`) })).toBeVisible();
    // It is still selected, and is put back.
    await page.keyboard.press("m");
    await page.getByRole("dialog").getByRole("button", { name: "Manage", exact: true }).click();
    await expect(page.getByRole("dialog")).toBeHidden();
    await expect
      .poll(() => stored(service, "epsilon", name))
      .toMatchObject({ isunmanaged: false, unmanageifred: false });
    await expect(line(page, name).getByRole("img", { name: /because/ })).toBeHidden();
    await page.keyboard.press("Escape");
  };
  const flags = (
    isunmanaged: boolean,
    unmanageifred: boolean,
    collectunmanage: boolean,
    collectorunmanage: boolean,
  ) => ({
    isunmanaged,
    unmanageifred,
    collectunmanage,
    collectorunmanage,
  });
  await f("one", "Only while unavailable", flags(false, true, true, true)); // armed: it is not unavailable
  await f("one", "Keep the data", flags(true, false, true, true));
  await f("one", "Discard the data", flags(true, false, false, true));
  await f("epsilon", "Stop collecting", flags(true, false, false, false));

  await expect(await choose(page, "one", "u")).toBeVisible();
  await expect(page.getByRole("radio", { name: "Stop collecting" })).toBeHidden(); // it is for resources
});

test("plans a window and tells when it will be open", async ({ page, service }) => {
  await makeResource(service, "zeta", { one: 10 });
  await logIn(page, service, "/ui/status?view=zeta");
  const dialog = await choose(page, "one", "u");
  const outcome = dialog.getByRole("list", { name: "Result for each item" }).getByRole("listitem");
  await dialog.getByLabel("From", { exact: true }).fill("2098-07-05T22:00");
  await dialog.getByLabel("To", { exact: true }).fill("2098-07-06T04:00");
  await expect(dialog.getByLabel("Time zone")).toHaveValue("Europe/Paris"); // that of the browser
  await accessible(page);
  await dialog.getByRole("button", { name: "Unmanage", exact: true }).click();
  await expect(outcome).toContainText("planned from 5 Jul 2098, 22:00:00 until 6 Jul 2098, 04:00:00");
  await dialog.getByRole("button", { name: "Close" }).last().click();
  expect(await stored(service, "zeta", "one")).toMatchObject({
    isunmanaged: false,
    unmanagefrom: "2098-07-05T20:00:00.000000Z",
    unmanageto: "2098-07-06T02:00:00.000000Z",
  });
  await expect(line(page, "one").getByRole("img", { name: /^Will be unmanaged from 5 Jul 2098/ })).toBeVisible();

  await page.keyboard.press("u"); // what the service does not take is told word for word
  await dialog.getByLabel("From", { exact: true }).fill("2098-07-05T22:00");
  await dialog.getByLabel("To", { exact: true }).fill("2098-07-05T21:00");
  await dialog.getByRole("button", { name: "Unmanage", exact: true }).click();
  await expect(outcome).toContainText(/todatetime|end/);
});

test("shows when a window that comes again will be open", async ({ page, service }) => {
  await makeResource(service, "mu", { one: 10 });
  await logIn(page, service, "/ui/status?view=mu");
  const dialog = await choose(page, "one", "u");
  await dialog.getByLabel("From", { exact: true }).fill("2098-07-05T22:00");
  await dialog.getByLabel("To", { exact: true }).fill("2098-07-06T04:00");
  await dialog.getByLabel("Repeat").click();
  await page.getByRole("option", { name: "Every day" }).click();
  const next = dialog.getByRole("list", { name: "Open, by your clock:" }).getByRole("listitem");
  await expect(next.nth(1)).toHaveText("6 Jul 2098, 22:00:00 – 7 Jul 2098, 04:00:00");
  await dialog.getByLabel("To", { exact: true }).fill("2098-07-05T21:00");
  await expect(dialog.getByRole("alert")).toContainText(/todatetime|end/);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect((await stored(service, "mu", "one"))?.unmanagefrom).toBeUndefined(); // it was only asked
});

test("writes a note and removes it", async ({ page, service }) => {
  await makeResource(service, "eta", { one: 10 });
  await logIn(page, service, "/ui/status?view=eta&kind=object");
  let dialog = await choose(page, "one", "n");
  await dialog.getByLabel("Note").fill("key at the desk");
  await dialog.getByRole("button", { name: "Note", exact: true }).click();
  await expect(line(page, "one").getByRole("img", { name: "Note: key at the desk" })).toBeVisible();
  expect(await stored(service, "eta", "one")).toMatchObject({ note: "key at the desk" });
  await page.keyboard.press("n");
  dialog = page.getByRole("dialog");
  await expect(dialog.getByLabel("Note")).toHaveValue("key at the desk");
  await dialog.getByLabel("Note").fill("");
  await dialog.getByRole("button", { name: "Note", exact: true }).click();
  await expect(line(page, "one").getByRole("img", { name: /^Note/ })).toBeHidden();
  expect((await stored(service, "eta", "one"))?.note).toBeUndefined();
});

test("selects everything that matches, in several resources", async ({ page, service }) => {
  await makeResource(service, "theta 1", { "same name": 97, other: 10 });
  await makeResource(service, "theta 2", { "same name": 97, other: 10 });
  await logIn(page, service, "/ui/status?text=theta&kind=object&status=3");
  await page.getByRole("button", { name: "Select all 2" }).click();
  await expect(page.getByRole("status").getByText("2 selected")).toBeVisible();
  await page.keyboard.press("n");
  await page.getByRole("dialog").getByLabel("Note").fill("both");
  await page.getByRole("dialog").getByRole("button", { name: "Note 2" }).click();
  await expect(page.getByText("Note set on 2 items")).toBeVisible();
  const rows = await service.sql<{ resource: string }>(
    "SELECT resource FROM objectstatus WHERE note='both' ORDER BY resource",
  );
  expect(rows.map((r) => r.resource)).toEqual(["theta 1", "theta 2"]);
});

test("works by keyboard alone", { tag: "@quick" }, async ({ page, service }) => {
  await makeResource(service, "iota", { one: 97, two: 97, three: 97 });
  await logIn(page, service, "/ui/status?view=iota&kind=object");
  await expect.poll(() => names(page)).toEqual(["one", "three", "two"]);
  const press = async (key: string, at: number) => {
    await page.keyboard.press(key);
    await expect(list(page)).toHaveAttribute("aria-activedescendant", `row-${at}`);
  };
  const selected = (n: number) => expect(page.getByRole("status").getByText(`${n} selected`)).toBeVisible();
  await press("Home", 0);
  await press("j", 1);
  await press("k", 0);
  await press("x", 0);
  await selected(1);
  await press("j", 1);
  await press("j", 2);
  await press("x", 2);
  await selected(2);
  await expect(list(page).getByRole("row", { selected: true })).toHaveCount(2);
  await page.keyboard.press("Escape");
  await expect(list(page).getByRole("row", { selected: true })).toHaveCount(0);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/ui\/item\?kind=object&name=two&resource=iota/);
});

test("a viewer looks and does not touch", { tag: "@quick" }, async ({ page, service }) => {
  await makeResource(service, "kappa", { one: 97 });
  const secret = service.cli(
    "user",
    "create",
    "--name",
    `kappa viewer ${test.info().project.name}`,
    "--role",
    "viewer",
  );
  await logIn(page, service, "/ui/status?view=kappa", `kappa viewer ${test.info().project.name}`, secret);
  await expect(line(page, "one")).toBeVisible();
  await expect(list(page).getByRole("checkbox")).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^Select all/ })).toHaveCount(0);
  await line(page, "one").getByRole("gridcell", { name: "Critical" }).click();
  await page.keyboard.press("a");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^Actions for/ })).toHaveCount(0);
  const answer = await page.request.post(`${service.url}/api/ackmanagenote/objects`, {
    data: { items: ["one"], resname: "kappa", ack: "no" },
  });
  expect(answer.status()).toBe(403);
  expect(await stored(service, "kappa", "one")).toMatchObject({ acknowledged: false });
});

test("what is not seen in a name is shown, and turns nothing around", { tag: "@quick" }, async ({ page, service }) => {
  const [turned, hidden] = ["invoice\u202egpj.exe", "web\u200b01"];
  await makeResource(service, "tau", { [turned]: 97, [hidden]: 97, web01: 97 });
  await logIn(page, service, "/ui/status?view=tau&sort=name+asc");
  await expect.poll(() => names(page)).toEqual(["invoice⟨U+202E⟩gpj.exe", "web01", "web⟨U+200B⟩01"]);
  const dialog = await choose(page, "invoice⟨U+202E⟩gpj.exe", "a");
  await expect(dialog).toContainText("invoice⟨U+202E⟩gpj.exe");
  await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
  await expect.poll(() => stored(service, "tau", turned)).toMatchObject({ acknowledged: true }); // the name itself is as it was
  await line(page, "web⟨U+200B⟩01").getByRole("link", { name: "web⟨U+200B⟩01" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("web⟨U+200B⟩01");
  expect(await page.content()).not.toMatch(/[\u200b\u202e]/);
});

test("ages are counted by the clock of the service", async ({ fresh: page, service }) => {
  await makeResource(service, "upsilon", { one: 97 });
  for (const hours of [5, -10]) {
    await page.addInitScript((ms) => {
      const real = Date.now;
      Date.now = () => real() + ms;
    }, hours * 3_600_000); // the second time on top of the first: five hours behind
    await logIn(page, service, "/ui/status?view=upsilon");
    const age = line(page, "one").locator(".since time");
    await expect(age).toHaveText(/^\d+ (s|min)$/);
    const since = (await age.getAttribute("datetime")) ?? "";
    const text = (await age.textContent()) ?? "";
    const shown = Number.parseInt(text, 10) * (text.endsWith("min") ? 60 : 1);
    const is = (Date.now() - Date.parse(since)) / 1000;
    expect(Math.abs(is - shown)).toBeLessThan(60);
  }
});

test("prints as a table, black on white, with its time and filter", { tag: "@quick" }, async ({ page, service }) => {
  await makeResource(service, "phi", { one: 97, two: 85, three: 10 });
  await logIn(page, service, "/ui/status?view=phi&status=3,1");
  await expect.poll(() => names(page)).toEqual(["one", "two"]);
  await page.evaluate(() => document.documentElement.setAttribute("data-mantine-color-scheme", "dark"));
  await page.emulateMedia({ media: "print" });
  const table = page.getByRole("table");
  await expect(table.getByRole("row")).toHaveText([/^Status/, /^\s*Critical.*one.*phi/, /^\s*Warning.*two/]);
  await expect(table).toContainText("Shown: objects; status Critical or Warning; in phi; the worst first. All 2.");
  await expect(page.getByRole("heading", { name: "Status", level: 1 })).toBeVisible();
  await expect(page.locator(".printed-when")).toContainText(/20\d\d.*\d\d:\d\d:\d\d.*status\?view=phi/);
  for (const gone of ["Sections", "Objects by status"])
    await expect(page.getByLabel(gone, { exact: true })).toBeHidden();
  await expect(list(page)).toBeHidden();
  const colours = await table.evaluate((t) => {
    const own = getComputedStyle(t);
    return [own.color, getComputedStyle(document.body).backgroundColor];
  });
  expect(colours).toEqual(["rgb(0, 0, 0)", "rgb(255, 255, 255)"]);
  const pdf = await page.pdf(); // fails where a page cannot be printed
  expect(pdf.length).toBeGreaterThan(1000);
  await page.emulateMedia({ media: null });
  await expect(list(page)).toBeVisible();
  await expect(table).toBeHidden();
});

test("shows names as text, whatever they are", async ({ page, service }) => {
  const long = "x".repeat(255);
  for (const name of [bad, rtl, "🔔 a|b", long]) await makeResource(service, name, { [name]: 97 });
  await logIn(page, service, "/ui/status?kind=object&status=3");
  for (const name of [bad, rtl, "🔔 a|b", long]) {
    await page.getByLabel("Filter by text").fill(name.slice(0, 40));
    await expect(line(page, name)).toBeVisible();
    const dialog = await choose(page, name, "a");
    await expect(dialog).toContainText(name);
    await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(line(page, name).getByRole("img", { name: /^Acknowledged by admin/ })).toBeVisible();
    await page.keyboard.press("Escape");
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wide).toBeLessThanOrEqual(0);
});

test("the end of an acknowledgment takes one click", async ({ page, service }) => {
  await makeResource(service, "ending", { down: 99 });
  await logIn(page, service, "/ui/item?kind=object&resource=ending&name=down");
  await page.getByRole("button", { name: "Acknowledge", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Tomorrow 8:00" }).click();
  await expect(dialog.getByLabel("At the latest at")).toHaveValue(/T08:00$/);
  await accessible(page);
  // What is over is told by the clock of the browser.
  await dialog.getByLabel("At the latest at").fill("2020-01-15T09:00");
  await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
  await expect(dialog.getByText(/15 Jan 2020, 09:00:00 is over/)).toBeVisible();
});
