import type { Locator, Page } from "@playwright/test";
import { hostile, icon, mapClass, seen, value } from "./drawn";
import { accessible, expect, logIn, type Service, test } from "./service";

let made = 0;

/** board makes a view of its own with two resources, and opens it for editing. */
async function board(page: Page, service: Service, more = ""): Promise<string> {
  const view = `Board ${++made}`;
  await mapClass(service);
  await service.csv("/api/provisioning/view", "name,view,autoarrange", `${view},MAIN,${more || "none"}`);
  await service.csv(
    "/api/provisioning/custom",
    "name,view,posx,posy",
    `${view} a,${view},50,50`,
    `${view} b,${view},50,150`,
  );
  await logIn(page, service, `/ui/map?view=${encodeURIComponent(view)}`);
  await page.getByRole("button", { name: "Edit" }).click();
  await expect(page.getByRole("toolbar", { name: "Editing" })).toBeVisible();
  return view;
}

async function drag(page: Page, what: Locator, dx: number, dy: number): Promise<void> {
  const box = await what.boundingBox();
  if (!box) throw new Error("nothing to drag");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx / 2, y + dy / 2, { steps: 4 });
  await page.mouse.move(x + dx, y + dy, { steps: 4 });
  await page.mouse.up();
}

async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Save \d/ }).click();
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
}

async function addOne(page: Page, what: string): Promise<Locator> {
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("menuitem", { name: what }).click();
  const form = page.getByRole("dialog", { name: `New ${what.toLowerCase()}` });
  await expect(form.locator(":focus")).toHaveCount(1); // the dialog moves the focus once it is drawn
  return form;
}

const child = async (service: Service, view: string, name: string) =>
  (await seen(service, view)).children.find((c) => c.name === name);

test("what is dragged is saved, in tens, and is still there", async ({ page, service }) => {
  const view = await board(page, service);
  const a = icon(page, `${view} a`);
  // At 100 % a unit is two pixels: 87 pixels are 43.5 units, 53 are 26.5.
  await drag(page, a, 87, 53);
  await expect(page.locator("[data-where]")).toHaveText("Top 80, left 90, 30 × 30");
  expect(await child(service, view, `${view} a`)).toMatchObject({ posx: 50, posy: 50 }); // nothing before it is saved
  await accessible(page);
  await save(page);
  expect(await child(service, view, `${view} a`)).toMatchObject({ posx: 80, posy: 90, width: 30, height: 30 });
  const before = await a.boundingBox();
  await page.reload();
  await expect(a).toBeVisible();
  const after = await a.boundingBox();
  expect([after?.x, after?.y].map((n) => Math.round(n ?? 0))).toEqual(
    [before?.x, before?.y].map((n) => Math.round(n ?? 0)),
  );
});

test("icons that a colleague moves meanwhile are not overwritten without asking", async ({ page, service }) => {
  const view = await board(page, service);
  const [a, b] = [`${view} a`, `${view} b`];
  await drag(page, icon(page, a), 60, 60);
  await drag(page, icon(page, b), 60, 60);
  await service.csv("/api/provisioning/custom", "name,posx,posy", `${a},300,300`, `${b},300,400`);
  const asked = page.getByRole("alert").filter({ hasText: "Another user has changed this view" });
  await expect(asked).toContainText(`${a}: now top 300, left 300; yours top 80, left 80`);
  await expect(asked.getByRole("listitem")).toHaveCount(2);
  await expect(page.getByRole("button", { name: /^Save \d/ })).toBeDisabled();
  await accessible(page);
  await asked.getByRole("button", { name: `Take theirs: ${a}` }).click();
  await asked.getByRole("button", { name: `Keep mine: ${b}` }).click();
  await expect(asked).toHaveCount(0);
  await save(page);
  expect(await child(service, view, a)).toMatchObject({ posx: 300, posy: 300 });
  expect(await child(service, view, b)).toMatchObject({ posx: 80, posy: 180 });

  // Save itself looks once more, for what the page has not heard of.
  await drag(page, icon(page, b), 60, 60);
  await page.route("**/api/tree*", (route) => route.abort());
  await service.csv("/api/provisioning/custom", "name,posx,posy", `${b},10,400`);
  await page.unroute("**/api/tree*");
  await page.getByRole("button", { name: /^Save \d/ }).click();
  await expect(asked).toBeVisible();
  expect(await child(service, view, b)).toMatchObject({ posx: 10, posy: 400 });
});

test("places saved unseen are told to both, and can be taken back", async ({ page, service, context }) => {
  const view = await board(page, service);
  const a = `${view} a`;
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "Edit" }).click();
  await drag(page, icon(page, a), 60, 60);
  await drag(other, icon(other, a), 120, 0);
  // Both compare with the view before either of them has saved.
  const go: (() => void)[] = [];
  for (const p of [page, other])
    await p.route("**/api/provisioning/custom?atomic=true&create=false", async (route) => {
      await new Promise<void>((done) => {
        go.push(done);
        if (go.length === 2) for (const f of go) f();
      });
      await route.continue();
    });
  for (const p of [page, other]) await p.getByRole("button", { name: /^Save \d/ }).click();
  const said = (p: Page) => p.getByRole("alert").filter({ hasText: "Another user saved the same items" });
  await expect(said(page)).toContainText(/replaced what/);
  await expect(said(other)).toContainText(/replaced what/);
  const [first, last] = (await said(page).textContent())?.includes("you replaced") ? [other, page] : [page, other];
  await expect(said(first)).toContainText(/ replaced what you saved \(/);
  await accessible(last);
  await last.getByRole("button", { name: `Take theirs: ${a}` }).click();
  await expect(said(last)).toHaveCount(0);
  await last.unroute("**/api/provisioning/custom?atomic=true&create=false");
  await last.getByRole("button", { name: /^Save \d/ }).click();
  await expect(last.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
  // What comes back is a place that the other one has saved, not one coordinate of each.
  expect(await child(service, view, a)).toMatchObject(
    first === page ? { posx: 80, posy: 80 } : { posx: 50, posy: 110 },
  );
  // One's own next save is nobody else's.
  await drag(last, icon(last, a), 60, 60);
  await last.getByRole("button", { name: /^Save \d/ }).click();
  await expect(last.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
  await drag(last, icon(last, a), 60, 0);
  await last.getByRole("button", { name: /^Save \d/ }).click();
  await expect(last.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
  await service.csv("/api/provisioning/custom", "name,posx,posy", `${view} b,400,400`); // an event that is heard after those
  await expect.poll(async () => (await icon(last, `${view} b`).boundingBox())?.y).toBeGreaterThan(400);
  await expect(said(last)).toHaveCount(0);
});

/** hold stops the requests that save something, until it is let go; begun waits for the first of them. */
async function hold(page: Page, what: string): Promise<{ begun: Promise<unknown>; go: () => void }> {
  let free = () => {};
  const held = new Promise<void>((done) => {
    free = done;
  });
  const pattern = new RegExp(`/api/provisioning/${what}[?]atomic=true(?!&dryrun)`);
  await page.route(pattern, async (route) => {
    await held;
    await route.continue();
  });
  return { begun: page.waitForRequest(pattern), go: () => free() };
}

const pressSave = (page: Page) => page.getByRole("button", { name: /^Save \d/ }).click();
const collided = (p: Page) => p.getByRole("alert").filter({ hasText: "Another user saved the same items" });

test("of two who add something of the same name, the second is told so and moves nothing", async ({
  page,
  service,
}) => {
  const view = await board(page, service);
  for (const [what, field] of [
    ["Label", "Text"],
    ["View", ""],
  ] as const) {
    const name = `${view} twin ${what}`;
    const form = await addOne(page, what);
    if (field) await form.getByLabel(field).fill("mine");
    await form.getByLabel("Name").fill(name);
    await form.getByRole("button", { name: "Add" }).click();
    const held = await hold(page, what.toLowerCase());
    await pressSave(page);
    await held.begun;
    if (what === "Label") await service.csv("/api/provisioning/label", "name,view,text", `${name},MAIN,theirs`);
    else await service.csv("/api/provisioning/view", "name,view", `${name},MAIN`);
    held.go();
    const refused = page.getByRole("alert").filter({ hasText: "Not saved" });
    await expect(refused).toContainText("Another user has just created something with this name");
    expect(await child(service, "MAIN", name)).toBeTruthy();
    expect(await child(service, view, name)).toBeUndefined();
    await accessible(page);
    await refused.getByRole("button", { name: `Another name: ${name}` }).click();
    const again = page.getByRole("dialog");
    await expect(again.getByLabel("Name")).toHaveValue(name);
    await again.getByLabel("Name").fill(`${name} 2`);
    await again.getByRole("button", { name: "Change" }).click();
    await save(page);
    expect(await child(service, view, `${name} 2`)).toMatchObject(field ? { answers: { text: "mine" } } : {});
    expect(await child(service, "MAIN", name)).toMatchObject(field ? { answers: { text: "theirs" } } : {});
  }
});

test("whoever removes what a colleague changes meanwhile is asked, and the colleague is told", async ({
  page,
  service,
  context,
}) => {
  const view = await board(page, service);
  const title = `${view} title`;
  await service.csv("/api/provisioning/label", "name,view,text,posx,posy", `${title},${view},Before,10,50`);
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "Edit" }).click();
  const label = (p: Page) => p.getByRole("button", { name: new RegExp(`^Label ${title}`) });
  await label(page).click();
  await page
    .getByRole("region", { name: /^About/ })
    .getByRole("button", { name: "Remove" })
    .click();
  await label(other).click();
  await other.getByRole("button", { name: "Change", exact: true }).click();
  await other.getByRole("dialog").getByLabel("Text").fill("After");
  await other.getByRole("dialog").getByRole("button", { name: "Change" }).click();
  await save(other);
  const asked = page.getByRole("alert").filter({ hasText: "Another user has changed this view" });
  await expect(asked).toContainText(`${title}: now text “After”; you remove it, when it had text “Before”`);
  await expect(page.getByRole("button", { name: /^Save \d/ })).toBeDisabled();
  await asked.getByRole("button", { name: `Remove anyway: ${title}` }).click();
  await expect(asked).toHaveCount(0);
  await save(page);
  expect(await child(service, view, title)).toBeUndefined();
  await expect(collided(other)).toContainText(/ removed what you saved \(.*\); yours was .*text “After”/);
  await collided(other)
    .getByRole("button", { name: `Put mine back: ${title}` })
    .click();
  await save(other);
  expect(await child(service, view, title)).toMatchObject({ answers: { text: "After" } });
});

test("what is to become of a colleague's change is not asked while a save is on its way", async ({ page, service }) => {
  const view = await board(page, service);
  const a = `${view} a`;
  await drag(page, icon(page, a), 60, 60);
  const held = await hold(page, "custom");
  await pressSave(page);
  await held.begun;
  await service.csv("/api/provisioning/custom", "name,posx,posy", `${a},300,300`);
  const asked = page.getByRole("alert").filter({ hasText: "Another user has changed this view" });
  await expect(asked).toContainText("Your changes are being saved.");
  await expect(asked.getByRole("button")).toHaveCount(0);
  held.go();
  await expect(collided(page)).toContainText(/you replaced what .* now top 80, left 80; theirs was top 300, left 300/);
  await expect(asked).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled(); // nothing is left in the draft
  await collided(page)
    .getByRole("button", { name: `Take theirs: ${a}` })
    .click();
  await save(page);
  expect(await child(service, view, a)).toMatchObject({ posx: 300, posy: 300 });
});

test("whoever leaves the map right after saving is told on the next page", async ({ page, service }) => {
  const view = await board(page, service);
  const a = `${view} a`;
  await drag(page, icon(page, a), 60, 60);
  await save(page);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("link", { name: "Status", exact: true }).first().click();
  await expect(page.getByRole("heading", { name: "Status", level: 1 })).toBeVisible();
  await service.csv("/api/provisioning/custom", "name,posx,posy", `${a},300,300`);
  await expect(collided(page)).toContainText(`${view}: resource ${a}: `);
  await expect(collided(page)).toContainText(
    /replaced what you saved \((afterwards|at the same time), at .*yours was top 80, left 80/,
  ); // it may be within a second
  await accessible(page);
  await collided(page).getByRole("link", { name: "Open the map" }).click();
  await collided(page)
    .getByRole("button", { name: `Put mine back: ${a}` })
    .click();
  await expect(collided(page)).toHaveCount(0);
  await save(page);
  expect(await child(service, view, a)).toMatchObject({ posx: 80, posy: 80 });
});

test("what is edited while a save runs stays to be saved", async ({ page, service }) => {
  const view = await board(page, service);
  const [a, b] = [`${view} a`, `${view} b`];
  await drag(page, icon(page, a), 60, 60);
  let go = () => {};
  const held = new Promise<void>((done) => {
    go = done;
  });
  await page.route("**/api/provisioning/custom?atomic=true*", async (route) => {
    if (!route.request().url().includes("dryrun")) await held;
    await route.continue();
  });
  const sent = page.waitForRequest((r) => r.url().includes("custom?atomic=true") && !r.url().includes("dryrun"));
  await page.getByRole("button", { name: /^Save \d/ }).click();
  await sent;
  await drag(page, icon(page, a), 0, 100);
  await drag(page, icon(page, b), 60, 60);
  go();
  await expect(page.getByRole("button", { name: "Save 2 changes" })).toBeEnabled();
  expect(await child(service, view, a)).toMatchObject({ posx: 80, posy: 80 });
  await save(page);
  expect(await child(service, view, a)).toMatchObject({ posx: 130, posy: 80 });
  expect(await child(service, view, b)).toMatchObject({ posx: 80, posy: 180 });
});

test("what is removed while a save runs is not made again", async ({ page, service }) => {
  const view = await board(page, service);
  const a = `${view} a`;
  await drag(page, icon(page, a), 60, 60);
  await page.route("**/api/provisioning/custom?atomic=true*", async (route) => {
    if (!route.request().url().includes("dryrun"))
      await service.call("DELETE", "/api/provisioning/custom", `name\n${a}\n`);
    await route.continue();
  });
  await page.getByRole("button", { name: /^Save \d/ }).click();
  const refused = page.getByRole("alert").filter({ hasText: "Not saved" });
  await expect(refused).toContainText(`${a}: It is no longer in this view`);
  expect(await service.sql(`SELECT name FROM objectstatus WHERE kind = 'resource' AND name = '${a}'`)).toEqual([]);
  await page.getByRole("button", { name: "Drop these changes" }).click();
  await expect(refused).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
});

test("a draft of an icon that was removed says so before Save", async ({ page, service }) => {
  const view = await board(page, service);
  await drag(page, icon(page, `${view} a`), 60, 60);
  await service.csv("/api/provisioning/custom", "name,view", `${view} a,MAIN`);
  const gone = page.getByRole("alert").filter({ hasText: `No longer in this view: ${view} a` });
  await expect(gone).toBeVisible();
  await gone.getByRole("button", { name: "Drop these changes" }).click();
  await expect(gone).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
});

test("the corner changes the size", async ({ page, service }) => {
  const view = await board(page, service);
  await icon(page, `${view} a`).click();
  await drag(page, page.locator(`[data-resize]`), 41, 79);
  await save(page);
  expect(await child(service, view, `${view} a`)).toMatchObject({ posx: 50, posy: 50, width: 50, height: 70 });
});

test("keys move, size, undo and redo", async ({ page, service }) => {
  const view = await board(page, service);
  await icon(page, `${view} a`).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  const where = page.locator("[data-where]");
  await expect(where).toHaveText("Top 60, left 70, 40 × 30");
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await expect(where).toHaveText("Top 60, left 60, 30 × 30");
  await page.keyboard.press("Control+y");
  await expect(where).toHaveText("Top 60, left 70, 30 × 30");
  await page.getByRole("button", { name: "Undo" }).click();
  await save(page);
  expect(await child(service, view, `${view} a`)).toMatchObject({ posx: 60, posy: 60 });
});

test("adds a label, a link, a shortcut, a picture and a view", async ({ page, service }) => {
  const view = await board(page, service);
  let form = await addOne(page, "Label");
  await accessible(page);
  await form.getByLabel("Text").fill(`${hostile[0]}, "quoted"\nsecond line`);
  await form.getByLabel("Size in points").fill("20");
  // Whoever leaves the field within the same moment finds it as it was before, and no person is that fast.
  await expect(async () => {
    await form.getByLabel("Colour").fill("#224488");
    await page.keyboard.press("Tab"); // the colours to choose from go away
    await expect(form.getByLabel("Colour")).toHaveValue("#224488", { timeout: 1000 });
  }).toPass();
  await form.getByRole("button", { name: "Add" }).click();
  form = await addOne(page, "Link");
  await form.getByRole("combobox", { name: "From" }).click();
  await page.getByRole("option", { name: `${view} a` }).click();
  await form.getByRole("combobox", { name: "To" }).click();
  await page.getByRole("option", { name: `${view} b` }).click();
  await form.getByLabel("Text").fill("fibre");
  await form.getByRole("button", { name: "Add" }).click();
  form = await addOne(page, "Shortcut");
  await form.getByLabel("Leads to").fill(`${view} b`);
  await form.getByRole("button", { name: "Add" }).click();
  form = await addOne(page, "Picture");
  await form.getByLabel("Picture").fill("logo.png");
  await form.getByRole("button", { name: "Add" }).click();
  form = await addOne(page, "View");
  await form.getByLabel("Name").fill(`${view} inner`);
  await form.getByLabel("Arrange its icons automatically").check();
  await form.getByRole("button", { name: "Add" }).click();
  await expect(page.getByText("second line")).toBeVisible();
  await save(page);
  const { children } = await seen(service, view);
  const of = (pkg: string) => children.find((c) => c.package === pkg);
  expect(of("label")?.answers).toEqual({ text: `${hostile[0]}, "quoted"\nsecond line`, size: "20", colour: "#224488" });
  expect(of("link")?.answers).toEqual({ from: `${view} a`, to: `${view} b`, text: "fibre" });
  expect(of("shortcut")?.answers).toEqual({ target: `${view} b` });
  expect(of("picture")).toMatchObject({ answers: { picture: "logo.png" }, width: 100, height: 100 });
  expect(children.find((c) => c.name === `${view} inner`)).toMatchObject({ kind: "view", autoarrange: "linear" });
  for (const c of children) for (const n of [c.posx, c.posy]) expect((n ?? 0) % 10).toBe(0);
  await page.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText("fibre")).toBeVisible();
  await accessible(page);
});

test("changes and removes what is drawn", async ({ page, service }) => {
  const view = await board(page, service);
  const title = `${view} title`;
  await service.csv(
    "/api/provisioning/label",
    "name,view,text,posx,posy",
    `${title},${view},Before,10,50`,
    `${view} other,${view},Goes,10,150`,
  );
  await page.getByRole("button", { name: `Label ${title}: Before` }).click();
  await page.getByRole("button", { name: "Change" }).click();
  const form = page.getByRole("dialog");
  await expect(form.getByLabel("Text")).toBeFocused(); // the dialog moves the focus there once it is drawn
  await form.getByLabel("Text").fill("After");
  await form.getByLabel("From the top").fill("20");
  await form.getByRole("button", { name: "Change" }).click();
  await page.getByRole("button", { name: /^Label .*Goes$/ }).click();
  await page
    .getByRole("region", { name: /^About/ })
    .getByRole("button", { name: "Remove" })
    .click();
  await expect(page.getByText("Goes")).toHaveCount(0);
  await save(page);
  const { children } = await seen(service, view);
  expect(children.filter((c) => c.package === "label")).toMatchObject([
    { name: title, posx: 20, answers: { text: "After" } },
  ]);
});

test("what the service does not take is told, and nothing is lost", async ({ page, service }) => {
  const view = await board(page, service);
  let form = await addOne(page, "Shortcut");
  await form.getByLabel("Leads to").fill("no such view");
  await form.getByRole("button", { name: "Add" }).click();
  await icon(page, `${view} a`).click();
  await page.getByRole("button", { name: "Place and size" }).click();
  form = page.getByRole("dialog");
  await form.getByLabel("From the top").fill("55");
  await form.getByRole("button", { name: "Change" }).click();
  await page.getByRole("button", { name: "Save 2 changes" }).click();
  const told = page.getByRole("alert");
  await expect(told).toContainText('there is no view of the customer and no resource "no such view"');
  await expect(told).toContainText("divisible by 10");
  await accessible(page);
  const { children } = await seen(service, view);
  expect(children.map((c) => [c.name, c.posx])).toEqual([
    [`${view} a`, 50],
    [`${view} b`, 50],
  ]);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("button", { name: "Done" })).toBeVisible();
});

test("a name in use elsewhere is not taken away from there", async ({ page, service }) => {
  await service.csv("/api/provisioning/view", "name,view", "Elsewhere,MAIN");
  await service.csv("/api/provisioning/label", "name,view,text", "Taken,Elsewhere,mine");
  await board(page, service);
  const form = await addOne(page, "Label");
  await form.getByLabel("Text").fill("yours");
  await form.getByLabel("Name").fill("Taken");
  await form.getByRole("button", { name: "Add" }).click();
  await page.getByRole("button", { name: "Save 1 change" }).click();
  await expect(page.getByRole("alert")).toContainText("already");
  expect((await seen(service, "Elsewhere")).children).toMatchObject([{ name: "Taken", answers: { text: "mine" } }]);
});

test("background and arrangement of the view", async ({ page, service }) => {
  const view = await board(page, service);
  await page.getByRole("button", { name: "This view" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Arrange its icons automatically").check();
  await form.getByLabel("Background").click();
  await page.getByRole("option", { name: "A colour" }).click();
  await form.getByLabel("Colour", { exact: true }).fill("#123b52");
  await form.getByRole("button", { name: "Change" }).click();
  await save(page);
  expect((await seen(service, view)).view).toMatchObject({ autoarrange: "linear", bg: "#123b52" });
  await icon(page, `${view} a`).click();
  await expect(page.locator("[data-where]")).toHaveText("This view arranges its icons automatically.");
  const before = await icon(page, `${view} a`).boundingBox();
  await drag(page, icon(page, `${view} a`), 100, 100);
  expect(await icon(page, `${view} a`).boundingBox()).toEqual(before);
  await accessible(page);
});

test("whoever leaves with changes is asked", async ({ page, service }) => {
  const view = await board(page, service);
  await icon(page, `${view} a`).focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("link", { name: "Events" }).click();
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  await expect(question).toBeVisible();
  await question.getByRole("button", { name: "Stay" }).click();
  await expect(page.getByRole("button", { name: "Save 1 change" })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await question.getByRole("button", { name: "Leave" }).click();
  await expect(page.getByRole("heading", { name: "Events" })).toBeVisible();
  expect(await child(service, view, `${view} a`)).toMatchObject({ posx: 50 });
});

test("statuses live on while a view is edited", async ({ page, service }) => {
  const view = await board(page, service);
  await icon(page, `${view} a`).focus();
  await page.keyboard.press("ArrowDown");
  await value(service, `${view} a`, 95);
  await expect(icon(page, `${view} a`)).toHaveAccessibleName(/Critical/);
  await expect(page.locator("[data-where]")).toHaveText("Top 60, left 50, 30 × 30");
});

test("an operator edits and may not remove", async ({ page, service }) => {
  const view = "Board of operators";
  await service.csv("/api/provisioning/view", "name,view", `${view},MAIN`);
  await service.csv("/api/provisioning/label", "name,view,text,posx,posy", `${view} l,${view},Stays,10,10`);
  const secret = service.cli("user", "create", "--name", "mapoperator", "--role", "operator");
  await logIn(page, service, `/ui/map?view=${encodeURIComponent(view)}`, "mapoperator", secret);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("button", { name: /^Label .*Stays$/ }).click();
  await expect(page.getByRole("button", { name: "Remove" })).toHaveCount(0);
  await page.keyboard.press("Delete");
  await page.keyboard.press("ArrowDown");
  await save(page);
  expect((await seen(service, view)).children).toMatchObject([{ posx: 20, posy: 10 }]);
});

test("a picture is uploaded, drawn, and refused when it is none", async ({ page, service }) => {
  const view = await board(page, service);
  const form = await addOne(page, "Picture");
  const choose = async (name: string, mimeType: string, text: string) => {
    const chooser = page.waitForEvent("filechooser");
    await form.getByRole("button", { name: "Upload" }).click();
    await (await chooser).setFiles({ name, mimeType, buffer: Buffer.from(text) });
  };
  await choose("plan.png", "image/png", "this is no picture");
  await expect(form.getByRole("alert")).toBeVisible();
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="teal"/><script>alert(1)</script></svg>';
  await choose("plan.svg", "image/svg+xml", svg);
  await expect(form.getByLabel("Picture")).toHaveValue("plan.svg");
  await expect(form.getByRole("button", { name: /plan\.svg/ })).toHaveAttribute("aria-pressed", "true");
  await form.getByLabel("Name").fill(`${view} plan`);
  await form.getByRole("button", { name: "Add" }).click();
  await save(page);
  expect(await child(service, view, `${view} plan`)).toMatchObject({
    package: "picture",
    answers: { picture: "plan.svg" },
  });
  await page.reload();
  const drawn = page.locator('img[src*="/api/pictures/plan.svg"]').first();
  await expect.poll(() => drawn.evaluate((i: HTMLImageElement) => i.naturalWidth)).toBe(40); // the browser could read it
});
