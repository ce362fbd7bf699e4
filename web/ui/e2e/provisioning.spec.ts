import type { Page } from "@playwright/test";
import { fits } from "./fits";
import { expect, logIn, accessible as readable, Service, test } from "./service";

const hostile = ["<script>alert(1)</script>", "شبكة المكتب", "🔔 bell", "x".repeat(255)];

/** accessible is what holds for every state of the page. */
async function accessible(page: Page) {
  await fits(page);
  await readable(page);
}

async function open(page: Page, service: Service, query: string) {
  await logIn(page, service, `/ui/provisioning?${query}`);
}

async function paste(page: Page, csv: string) {
  await page.getByRole("textbox", { name: /^CSV/ }).fill(csv);
  await page.getByRole("button", { name: "Look at it" }).click();
}

/** choose gives the page a file. */
async function choose(page: Page, name: string, csv: string | Buffer) {
  await page.getByLabel("CSV file").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(csv as string) });
}

const attempt = (page: Page) => page.getByRole("button", { name: /^Try (it|again)$/ }).click();
const would = (page: Page) => page.getByRole("region", { name: "What would change" });
const did = (page: Page) => page.getByRole("region", { name: "What has changed" });
const sheet = (page: Page) => page.getByRole("table", { name: "Rows" });

/** exists counts what is there under names that begin so. */
async function exists(service: Service, prefix: string): Promise<number> {
  const rows = await service.sql<{ n: number }>(
    `SELECT COUNT(*) AS n FROM objectstatus WHERE kind='resource' AND name LIKE '${prefix}%'`,
  );
  return rows[0]?.n ?? 0;
}

/** wipe removes what a test has made. */
async function wipe(service: Service, pkg: string, ...names: string[]) {
  await service.call(
    "DELETE",
    `/api/provisioning/${pkg}?recursive=true`,
    `name\n${names.map((n) => `"${n}"`).join("\n")}\n`,
  );
}

test("finds a package, and says what its columns are", async ({ page, service }) => {
  await logIn(page, service, "/ui/provisioning");
  await accessible(page);
  await page.getByLabel("What do you want to provision?").fill("ip_address");
  await expect(page.getByRole("link", { name: /^custom/ })).toBeHidden();
  await page.getByRole("link", { name: /^network-ping/ }).click();
  await expect(page).toHaveURL(/package=network-ping/);
  await page.getByRole("button", { name: /columns$/ }).click();
  await expect(page.getByRole("row", { name: /ip_address_fqdn required/ })).toContainText("Address or host name");
  await expect(page.getByRole("row", { name: /^count/ })).toContainText("1 to 100");
  await accessible(page);
});

test("shows a wrong row, lets it be corrected, and changes nothing before it is told to", { tag: "@quick" }, async ({
  page,
  service,
}) => {
  await open(page, service, "package=custom&way=paste");
  await paste(page, 'name,vieuw,posx\nmend 1,MAIN,10\n\nmend 2,Nowhere,10\nmend "3,MAIN,10\nmend 4,MAIN,15\n');
  const wrong = page.getByRole("alert");
  await expect(wrong).toContainText('there is no column "vieuw"; did you mean "view"?');
  await expect(page.getByRole("button", { name: "Try it" })).toBeDisabled();
  await accessible(page);
  await page.getByRole("combobox", { name: "What the column vieuw is" }).click();
  await page.getByRole("option", { name: "view", exact: true }).click();
  await expect(wrong).toBeHidden();
  await attempt(page);
  await expect(would(page)).toContainText("Would be created1");
  await expect(would(page)).toContainText("Wrong rows3");
  expect(await exists(service, "mend")).toBe(0);
  await accessible(page);

  const faults = page.getByLabel("Wrong rows", { exact: true });
  await expect(faults).toContainText('view "Nowhere" does not exist');
  await expect(faults).toContainText("mend 2,Nowhere,10");
  await page.getByRole("button", { name: "Correct line 4" }).click(); // the blank line counts
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText('view "Nowhere" does not exist');
  await accessible(page);
  await expect(dialog.getByLabel("view")).toBeFocused();
  await dialog.getByLabel("view").fill("MAIN");
  await dialog.getByRole("button", { name: "Keep the change" }).click();
  await expect(page.getByText("The rows have changed since the dry run")).toBeVisible();
  await page.getByRole("button", { name: "Correct line 5" }).click();
  await dialog.getByLabel("The raw row").fill("mend 3,MAIN,20");
  await dialog.getByRole("button", { name: "Keep the change" }).click();
  await page.getByRole("button", { name: "Correct line 6" }).click();
  await dialog.getByRole("button", { name: "Leave this row out" }).click();
  await attempt(page);
  await expect(would(page)).toContainText("Would be created3");
  await expect(would(page)).toContainText("Wrong rows0");
  expect(await exists(service, "mend")).toBe(0); // still

  await page.getByRole("button", { name: "Apply 3 rows" }).click();
  await expect(did(page)).toContainText("Created33 resources");
  expect(await exists(service, "mend")).toBe(3);
  await accessible(page);
  await expect(page.getByRole("link", { name: "mend 3" })).toHaveAttribute(
    "href",
    /\/ui\/item\?kind=resource&name=mend\+3/,
  );
  await wipe(service, "custom", "mend 1", "mend 2", "mend 3");
});

test("applies the right rows and gives the wrong ones as a file", { tag: "@quick" }, async ({ page, service }) => {
  await open(page, service, "package=custom&way=paste");
  await paste(page, "name,posx\npart 1,10\npart 2,11\npart 3,10\npart 4,many\n");
  await attempt(page);
  await page.getByRole("button", { name: "Apply the 2 right rows" }).click();
  await expect(did(page)).toContainText("Wrong rows2");
  expect(await exists(service, "part")).toBe(2);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Wrong rows as CSV" }).click();
  const file = await (await saved).createReadStream();
  let text = "";
  for await (const chunk of file) text += chunk;
  expect(text).toBe("name,posx\npart 2,11\npart 4,many\n");
  await wipe(service, "custom", "part 1", "part 3");
});

test("names rows that repeat others", async ({ page, service }) => {
  await open(page, service, "package=custom&way=paste");
  await paste(
    page,
    "name,view,posx\nagain 1,MAIN,10\nagain 2,MAIN,10\nagain 1,MAIN,20\nagain 2,MAIN,10\nagain 1,MAIN,11\n",
  );
  const twice = page.getByRole("status").filter({ hasText: "3 rows name what an earlier row names" });
  await expect(twice.getByRole("listitem")).toHaveText([
    "Line 4 names the same as line 2: again 1; they differ, and the later row counts",
    "Line 5 names the same as line 3: again 2, and says the same",
    "Line 6 names the same as line 2: again 1; they differ, and the later row counts",
  ]);
  await expect(sheet(page).getByRole("img", { name: "Line 4 names the same as line 2" })).toBeVisible();
  await accessible(page);
  await attempt(page); // what the service says of such a row names the other one, too
  await expect(page.getByLabel("Wrong rows", { exact: true })).toContainText("Line 6 names the same as line 2.");
  await expect(would(page)).toContainText(/Would be created2.*Would be changed1As they are1Wrong rows1/);
  await expect(sheet(page).locator("tbody td:nth-of-type(1)")).toHaveText([
    "created",
    "created",
    "changed",
    "as it is",
    "wrong",
  ]);
  await twice.getByRole("button", { name: "Leave out 1 row that says the same" }).click();
  await expect(page.getByText("2 rows name what an earlier row names")).toBeVisible();
  await expect(page.getByText("4 rows, 1 left out")).toBeVisible();
  await accessible(page);
});

test("all or nothing", async ({ page, service }) => {
  await open(page, service, "package=custom&way=paste");
  await paste(page, "name,posx\natomic 1,10\natomic 2,11\n");
  await page.getByLabel("All or nothing").check();
  await attempt(page);
  await expect(page.getByRole("button", { name: /^Apply/ })).toBeDisabled();
  await page.getByRole("button", { name: "Change the row on line 3" }).click();
  await page.getByRole("dialog").getByLabel("posx").fill("20");
  await page.getByRole("button", { name: "Keep the change" }).click();
  await attempt(page);
  await expect(page.getByRole("button", { name: "Apply 2 rows" })).toBeEnabled();
  // Meanwhile somebody takes a name: now the service refuses all of it.
  await service.csv("/api/provisioning/view", "name,view", "atomic 2,MAIN");
  await page.getByRole("button", { name: "Apply 2 rows" }).click();
  await expect(page.getByText("Nothing was applied")).toBeVisible();
  expect(await exists(service, "atomic")).toBe(0);
  await wipe(service, "view", "atomic 2");
});

test("asks the questions of a package in a form, and collects rows", async ({ page, service }) => {
  await open(page, service, "package=network-ping&way=form");
  const form = page.getByRole("form", { name: "One row" });
  await accessible(page);
  await form.getByRole("button", { name: "Add this row" }).click(); // the browser asks for what is required
  await expect(sheet(page)).toBeHidden();
  await form.getByLabel("name").fill("form 1");
  await form.getByLabel("ip_address_fqdn").fill("192.0.2.7");
  await form.getByRole("button", { name: "Add this row" }).click();
  await form.getByLabel("name").fill("form 2");
  await form.getByLabel("ip_address_fqdn").fill("192.0.2.8");
  await form.getByRole("button", { name: /more questions/ }).click();
  await form.getByLabel("count").fill("1000");
  await form.getByRole("button", { name: "Add this row" }).click();
  await expect(sheet(page).getByRole("row")).toHaveCount(3);
  await attempt(page);
  await page.getByRole("button", { name: "Correct line 3" }).click();
  await page.getByRole("dialog").getByLabel("count").fill("3");
  await page.getByRole("button", { name: "Keep the change" }).click();
  await attempt(page);
  await page.getByRole("button", { name: "Apply 2 rows" }).click();
  await expect(did(page)).toContainText("2 resources, 2 objects");
  const csv = await (await service.call("GET", "/api/provisioning/network-ping")).text();
  expect(csv).toMatch(/form 2,MAIN,192\.0\.2\.8,60s,3,/);
  await wipe(service, "network-ping", "form 1", "form 2");
});

test("a secret is typed hidden and never shown", async ({ page, service }) => {
  await open(page, service, "package=log-trap-receiver&way=form");
  const form = page.getByRole("form", { name: "One row" });
  await form.getByRole("button", { name: /more questions/ }).click();
  await expect(form.getByLabel("community")).toHaveAttribute("type", "password");
  await form.getByLabel("name").fill("secret 1");
  await form.getByLabel("community").fill("hush");
  await form.getByRole("button", { name: "Add this row" }).click();
  await expect(sheet(page)).toContainText("••••");
  await expect(sheet(page)).not.toContainText("hush");
});

test("what is exported can be edited and sent back", async ({ page }) => {
  const service = await Service.start(); // with nothing else in it
  try {
    const names = hostile.map((n) => `"${n}",MAIN`);
    await service.csv("/api/provisioning/custom", "name,view", ...names);
    await open(page, service, "package=custom&do=export");
    for (const n of hostile) await expect(sheet(page).getByRole("cell", { name: n, exact: true })).toBeVisible();
    await accessible(page);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    expect((await saved).suggestedFilename()).toBe("custom.csv");
    await page.getByRole("button", { name: "Edit and send back" }).click();
    await attempt(page);
    await expect(would(page)).toContainText(`As they are${hostile.length}`); // a round trip
    await expect(sheet(page).getByRole("cell", { name: "as it is" })).toHaveCount(hostile.length);
    await page.getByRole("button", { name: "Change the row on line 3" }).click();
    await page.getByRole("dialog").getByLabel("posx").fill("40");
    await page.getByRole("button", { name: "Keep the change" }).click();
    await attempt(page);
    await expect(would(page)).toContainText("Would be changed1");
    await expect(sheet(page).getByRole("row", { name: / changed .* → 40/ })).toHaveCount(1);
    await page.getByRole("button", { name: /^Apply 4 rows/ }).click();
    await expect(did(page)).toContainText("Changed1");
    for (const n of hostile) await expect(page.getByRole("link", { name: n, exact: true })).toBeVisible();
    await wipe(service, "custom", ...hostile);
  } finally {
    await service.remove();
  }
});

test("removes what is named, after a warning", async ({ page, service }) => {
  await service.csv("/api/provisioning/view", "name,view", "Old site,MAIN", "Old room,Old site");
  await service.csv("/api/provisioning/custom", "name,view", "gone 1,Old room", "gone 2,Old room", "spared,MAIN");
  await open(page, service, "package=view&do=remove&way=paste");
  await expect(page.getByText("This removes items")).toBeVisible();
  await paste(page, "name\nOld site\nNo such view\n");
  await attempt(page);
  await expect(page.getByLabel("Wrong rows", { exact: true })).toContainText('view "Old site" holds 1 view');
  await expect(page.getByLabel("Wrong rows", { exact: true })).toContainText("not_found");
  await accessible(page);
  await page.getByLabel("Include content and nested views").check();
  await attempt(page);
  await expect(would(page)).toContainText("Would be removed1");
  expect(await exists(service, "gone")).toBe(2);
  await page.getByRole("button", { name: "Remove 1" }).click();
  await expect(page.getByRole("dialog")).toContainText("They are removed with all their content");
  await accessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Keep them" }).click();
  expect(await exists(service, "gone")).toBe(2);
  await page.getByRole("button", { name: "Remove 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove 1" }).click();
  await expect(did(page)).toContainText("Removed1");
  expect(await exists(service, "gone")).toBe(0);
  expect(await exists(service, "spared")).toBe(1);
  await wipe(service, "custom", "spared");
});

test("a file of 20,000 rows goes out in pieces, with progress, and can be held", async ({ page, service }) => {
  const rows = Array.from({ length: 20_000 }, (_, i) => `heap ${i},MAIN${i === 12_345 ? ",11" : ""}`);
  await open(page, service, "package=custom");
  await choose(page, "many.csv", `\ufeffname,view,posx\r\n${rows.join("\r\n")}\r\n`);
  await expect(page.getByText("20,000 rows")).toBeVisible();
  await expect.poll(() => sheet(page).getByRole("row").count()).toBeLessThan(80); // only those in sight are made

  // What there is cannot be read: the trial ends with it.
  const tries: number[] = [];
  await page.route(/\/api\/provisioning\/custom/, async (route) => {
    if (route.request().method() === "GET") return route.fulfill({ status: 503, body: "" });
    tries.push(1);
    return route.continue();
  });
  await page.getByRole("button", { name: "Try it" }).click();
  await expect(page.getByRole("alert")).toBeVisible();
  await expect(page.getByText("A dry run changes nothing.")).toBeVisible();
  expect(tries.length).toBeLessThan(3);
  await page.unrouteAll();

  // A piece for which the service is busy is tried again.
  const busy = { status: 429, headers: { "Retry-After": "1" }, json: { code: "rate_limited", error: "too fast" } };
  tries.length = 0;
  await page.route(/\/api\/provisioning\/custom/, (route) =>
    route.request().method() === "POST" && tries.push(1) === 3 ? route.fulfill(busy) : route.continue(),
  );
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("Trying again in 1 s.")).toBeVisible();
  await expect(would(page)).toContainText("Wrong rows1");
  await page.unrouteAll();
  expect(tries).toHaveLength(6); // as a whole, four pieces, one of them again
  await expect(would(page)).toContainText("Would be created19,999");
  await expect(page.getByText("they were checked in pieces of 5,000")).toBeVisible();
  await expect(page.getByRole("button", { name: "Correct line 12347" })).toBeVisible();
  await page.getByLabel("All or nothing").check();
  await expect(page.getByText("too many rows for all or nothing")).toBeVisible();
  await page.getByLabel("All or nothing").uncheck();

  // Keys of the pieces: each its own, and the same again when an answer was lost.
  const keys: string[] = [];
  let lost = 0;
  let release = () => {};
  const held = new Promise<void>((go) => {
    release = go;
  });
  await page.route("**/api/provisioning/custom", async (route) => {
    keys.push(route.request().headers()["idempotency-key"] ?? "");
    const answer = await route.fetch();
    if (keys.length === 2 && lost++ === 0) return route.abort();
    if (keys.length === 3) await held;
    return route.fulfill({ response: answer });
  });
  await page.getByRole("button", { name: "Apply the 19,999 right rows" }).click();
  await expect(page.getByText("5,000 of 20,000 rows")).toBeVisible();
  await expect(page.getByRole("progressbar", { name: "Rows applied" })).toHaveAttribute("aria-valuenow", "25");
  await page.getByRole("button", { name: "Pause" }).click();
  release();
  await expect(page.getByText("Paused")).toBeVisible();
  await expect(page.getByText("10,000 of 20,000 rows")).toBeVisible();
  await accessible(page);
  expect(await exists(service, "heap")).toBe(10_000);
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByText("Done", { exact: true })).toBeVisible();
  await expect(page.getByText(/rows\/s/)).toBeVisible();
  expect(await exists(service, "heap")).toBe(19_999);
  await expect(did(page)).toContainText("Created19,999");
  await expect(page.getByRole("button", { name: "Correct line 12347" })).toBeVisible(); // the line of the file, not of the piece
  expect(keys).toHaveLength(5);
  expect(keys[1]).toBe(keys[2]);
  expect(new Set(keys).size).toBe(4);
  await page.unrouteAll();

  // And away again, from the export; stopped in the middle.
  await page.goto(`${service.url}/ui/provisioning?package=custom&do=export`);
  await page.getByLabel("Only rows with this text").fill("heap");
  await page.getByRole("button", { name: "Choose for removal" }).click();
  await attempt(page);
  await expect(would(page)).toContainText("Would be removed19,999");
  let stop = () => {};
  const stopped = new Promise<void>((go) => {
    stop = go;
  });
  await page.route("**/api/provisioning/custom", async (route) => {
    const answer = await route.fetch();
    await stopped;
    return route.fulfill({ response: answer });
  });
  await page.getByRole("button", { name: "Remove 19,999" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove 19,999" }).click();
  await page.getByRole("button", { name: "Stop here" }).click();
  stop();
  await expect(page.getByText("Stopped after 5,000 rows")).toBeVisible();
  expect(await exists(service, "heap")).toBe(14_999);
  await page.unrouteAll();
  await service.call("DELETE", "/api/provisioning/custom", "name,view\n*,MAIN\n");
});

test("says what is wrong with a file that is no CSV in UTF-8", async ({ page, service }) => {
  await open(page, service, "package=custom");
  await choose(
    page,
    "old.csv",
    Buffer.from([0x6e, 0x61, 0x6d, 0x65, 0x0a, 0x4d, 0xfc, 0x6e, 0x63, 0x68, 0x65, 0x6e, 0x0a]),
  );
  await expect(page.getByRole("alert")).toContainText("old.csv is not UTF-8");
  await accessible(page);
  await page.getByRole("button", { name: "Read it as Western European" }).click();
  await expect(sheet(page)).toContainText("München");
  await page.getByRole("button", { name: "Take other rows" }).click();
  await choose(page, "book.xlsx", Buffer.from([0x50, 0x4b, 3, 4]));
  await expect(page.getByRole("alert")).toContainText("book.xlsx is a workbook");
  await choose(page, "empty.csv", "\n\n");
  await expect(page.getByRole("alert")).toContainText("empty.csv is empty");
  await choose(page, "semicolons.csv", "name;view\na;MAIN\n");
  await expect(page.getByRole("alert")).toContainText("separated by semicolons");
});

test("a viewer looks, and is refused everything else", { tag: "@quick" }, async ({ page, service }) => {
  try {
    service.cli("user", "create", "--name", "vera", "--role", "viewer");
  } catch {
    // The other project has made her.
  }
  const secret = service.cli("user", "password", "--name", "vera");
  await service.csv("/api/provisioning/custom", "name", "seen");
  await logIn(page, service, "/ui/provisioning?package=custom&do=remove", "vera", secret.split("\n").at(-1));
  await expect(sheet(page)).toContainText("seen");
  for (const name of ["Edit and send back", "Choose for removal"])
    await expect(page.getByRole("button", { name })).toBeHidden();
  await expect(page.getByText("Changing items needs the role operator")).toBeVisible();
  await accessible(page);
  for (const method of ["POST", "DELETE"]) {
    const answer = await page.request.fetch(`${service.url}/api/provisioning/custom`, {
      method,
      data: "name\nseen\n",
      headers: { "Content-Type": "text/csv" },
    });
    expect(answer.status()).toBe(403);
  }
  await wipe(service, "custom", "seen");
});
