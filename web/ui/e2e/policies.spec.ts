// Policies as a form and as text: both say the same, what is wrong is told where it is, and what only one of them knows is kept.
import type { Page } from "@playwright/test";
import { fits } from "./fits";
import { hostile } from "./sampledata";
import { accessible, expect, logIn, type Service, test } from "./service";

/** disks makes a class of its own for a test, with a resource and an object in it. */
async function disks(service: Service, cls: string, box: string, value = 72) {
  await service.json("PUT", `/api/classes/${encodeURIComponent(cls)}`, {
    indicators: [
      { n: 1, name: "Used", unit: "%", thresholds: [{ when: ">= 80", status: 2, recover: "< 75" }] },
      { n: 2, name: "State", type: "string" },
    ],
  });
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
  await service.csv("/api/provisioning/custom", "name", cell(box));
  await service.csv(
    "/api/send",
    "type,resname,object,class,view,i1",
    `data,${cell(box)},root,${cell(cls)},${cell(box)},${value}`,
  );
}

/** policy reads a policy as the service has it; it is for people who are logged in. */
async function policy(page: Page, service: Service, name: string) {
  const answer = await page.request.get(`${service.url}/api/policies/${encodeURIComponent(name)}`);
  return answer.ok() ? await answer.json() : answer.status();
}

const box = (page: Page, name: string) => page.getByRole("combobox", { name, exact: true });
const save = (page: Page) => page.getByRole("button", { name: "Save" }).click();
const textOf = (page: Page) => page.getByRole("textbox", { name: /as text/ });

test("fills in everything that a policy can say", async ({ page, service }, info) => {
  const cls = `form-${info.project.name}`;
  const res = `form box ${info.project.name}`;
  const name = `form ${info.project.name}`;
  await disks(service, cls, res);
  await logIn(page, service, "/ui/parameters/policies?new=true");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Kind").selectOption("resource");
  await box(page, "Item").fill(res.slice(0, -1));
  await page.getByRole("option", { name: res }).click();
  await page.getByRole("button", { name: "Add an indicator" }).click();
  await box(page, "Class, indicator 1").fill(cls);
  await box(page, "Number, indicator 1").fill("1");
  await expect(box(page, "Number, indicator 1")).toHaveAccessibleDescription("Used (%)");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Start with those of the class" }).click();
  await expect(page.getByLabel("Until, threshold 1 of indicator 1")).toHaveValue("< 75");
  await page.getByLabel("When, threshold 1 of indicator 1").fill(">= 70");
  await page.getByLabel("Until, threshold 1 of indicator 1").fill("< 60");
  await page.getByRole("button", { name: "Add an indicator" }).click();
  await box(page, "Class, indicator 2").fill(cls);
  await box(page, "Number, indicator 2").fill("2");
  await page.keyboard.press("Escape");
  await page.getByLabel("Of any class").fill("5m");
  await page.getByRole("button", { name: "Add an interval of a class" }).click();
  await box(page, "Class, interval 1").fill(cls);
  await page.getByLabel("Interval, interval 1").fill("none");
  await page.getByLabel("It is").selectOption("number");
  await page.getByLabel("How many").fill("3");
  await page.getByRole("button", { name: "Add hours of the week" }).click();
  await page.getByLabel("Hours, time 1").fill("00:00-24:00");
  await page.getByRole("button", { name: "Add dates" }).click();
  await page.getByLabel("From, time 2").fill("2026-01-05T08:00");
  await page.getByLabel("To, time 2").fill("2026-01-05T18:00");
  await page.getByLabel("Repeats, time 2").fill("FREQ=MONTHLY;BYDAY=1MO");
  await box(page, "Time zone").fill("Europe/Vienna");
  await page.keyboard.press("Escape");
  await accessible(page);
  await fits(page);
  const want = {
    kind: "resource",
    item: res,
    thresholds: [
      { class: cls, n: 1, thresholds: [{ when: ">= 70", status: 2, recover: "< 60" }] },
      { class: cls, n: 2, thresholds: [] },
    ],
    interval: "5m",
    intervals: [{ class: cls, interval: "none" }],
    rollup: "3 of m",
    period: {
      timezone: "Europe/Vienna",
      times: ["00:00-24:00", { from: "2026-01-05T08:00", to: "2026-01-05T18:00", rrule: "FREQ=MONTHLY;BYDAY=1MO" }],
    },
  };
  await page.getByRole("tab", { name: "YAML or JSON" }).click();
  await page.getByText("JSON", { exact: true }).click();
  expect(JSON.parse(await textOf(page).inputValue())).toEqual(want);
  await page.getByRole("tab", { name: "Form" }).click();
  await save(page);
  await expect(page.getByRole("heading", { name })).toBeVisible();
  expect(await policy(page, service, name)).toMatchObject(want);

  // What is taken out of the form is taken out of the policy; the rest stays.
  await page.getByRole("button", { name: "Remove time 2" }).click();
  await page.getByRole("button", { name: "Remove indicator 2" }).click();
  await page.getByRole("button", { name: "Remove interval 1" }).click();
  await page.getByLabel("Of any class").fill("");
  await page.getByLabel("It is").selectOption("best");
  await save(page);
  await expect(page.getByText(`Policy ${name} updated.`)).toBeVisible();
  const now = await policy(page, service, name);
  expect(now).toMatchObject({
    thresholds: [want.thresholds[0]],
    rollup: "best",
    period: { timezone: "Europe/Vienna", times: ["00:00-24:00"] },
  });
  expect(now).not.toHaveProperty("interval");
  expect(now).not.toHaveProperty("intervals");
});

test("a wrong value is told word for word at its field", async ({ page, service }, info) => {
  const cls = `wrong-${info.project.name}`;
  const res = `wrong box ${info.project.name}`;
  await disks(service, cls, res);
  await disks(service, cls, `${res} 2`);
  await logIn(page, service, "/ui/parameters/policies?new=true");
  await page.getByLabel("Name").fill(`wrong ${info.project.name}`);
  /** refused saves, and expects a message at a field, which then has the focus, and in whole above the form. */
  const refused = async (field: ReturnType<Page["getByLabel"]>, message: string) => {
    await save(page);
    await expect(field).toHaveAttribute("aria-invalid", "true");
    await expect(field).toHaveAccessibleDescription(new RegExp(message.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")));
    await expect(page.getByRole("alert")).toContainText(message);
    await expect(page.locator("[aria-invalid=true]")).toHaveCount(1);
    await expect(field).toBeFocused();
  };
  await refused(box(page, "Item"), "is missing");
  await box(page, "Item").fill("MAIN");
  await page.keyboard.press("Escape");
  await save(page);
  await expect(page.getByText("policy says nothing; give it thresholds")).toBeInViewport(); // of the whole, so above it
  await box(page, "Item").fill("nowhere");
  await page.getByLabel("Of any class").fill("soon");
  await refused(box(page, "Item"), 'there is no view "nowhere"');
  await accessible(page);
  await page.getByLabel("Kind").selectOption("object");
  await box(page, "Item").fill("root");
  await save(page);
  await expect(box(page, "In the resource")).toHaveAccessibleDescription(/exists in .*; give resource/);
  await box(page, "In the resource").fill(res);
  await refused(
    page.getByLabel("Of any class"),
    'is wrong: a duration is a whole number followed by s, m, h, d or w, such as 60s or 400d, and at most 36500d; got "soon"; write none when nothing is expected',
  );
  await page.getByLabel("Of any class").fill("");
  await page.getByRole("button", { name: "Add an indicator" }).click();
  await box(page, "Number, indicator 1").fill("seven");
  await refused(box(page, "Number, indicator 1"), 'must be a whole number from 1 to 100, got "seven"');
  await box(page, "Number, indicator 1").fill("7");
  await refused(box(page, "Number, indicator 1"), `is about indicator i7, which class "${cls}" does not have`);
  await box(page, "Number, indicator 1").fill("1");
  await page.getByRole("button", { name: "Add a threshold" }).click();
  await page.getByLabel("When, threshold 1 of indicator 1").fill("much");
  await refused(
    page.getByLabel("When, threshold 1 of indicator 1"),
    'is wrong: "much" does not begin with a comparison',
  );
  await page.getByLabel("When, threshold 1 of indicator 1").fill("> 5");
  await page.getByRole("button", { name: "Add hours of the week" }).click();
  await page.getByLabel("Hours, time 1").fill("moonday");
  await refused(page.getByLabel("Hours, time 1"), '"moonday" is no day of the week; nearest is mon');
  await page.getByLabel("Hours, time 1").fill("mon");
  await box(page, "Time zone").fill("Mars/Base");
  await refused(box(page, "Time zone"), 'timezone: there is no zone "Mars/Base"; write its IANA name');
  await box(page, "Time zone").fill("UTC");
  await page.getByLabel("Kind").selectOption("view");
  await box(page, "Item").fill("MAIN");
  await box(page, "In the resource").fill("");
  await page.getByRole("button", { name: "Remove indicator 1" }).click();
  await page.getByLabel("It is").selectOption("number");
  await page.getByLabel("How many").fill("some");
  await refused(page.getByLabel("How many"), 'must be worst, best, or a number as in "2 of m", got "some of m"');
  expect(await policy(page, service, `wrong ${info.project.name}`)).toBe(404);
});

test("what another policy sets already is told where it stands in the form", async ({ page, service }, info) => {
  const cls = `clash-${info.project.name}`;
  const res = `clash box ${info.project.name}`;
  await disks(service, cls, res);
  await logIn(page, service, "/ui/parameters/policies?new=true");
  const set = async (name: string) => {
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Kind").selectOption("resource");
    await box(page, "Item").fill(res);
    await page.getByRole("button", { name: "a redundant pair" }).click();
    await expect(box(page, "Item")).toHaveValue(res); // an example leaves the item as it was chosen
    await save(page);
  };
  await set(`clash 1 ${info.project.name}`);
  await expect(page.getByRole("heading", { name: `clash 1 ${info.project.name}` })).toBeVisible();
  await page.goto(`${service.url}/ui/parameters/policies?new=true`);
  await set(`clash 2 ${info.project.name}`);
  await expect(page.getByLabel("How many")).toHaveAccessibleDescription(
    new RegExp(`policy "clash 1 ${info.project.name}" sets the roll-up of the resource "${res}" already`),
  );
});

test("what the form does not know is not lost", async ({ page, service }, info) => {
  const cls = `kept-${info.project.name}`;
  const res = `kept box ${info.project.name}`;
  await disks(service, cls, res);
  await logIn(page, service, "/ui/parameters/policies?new=true&tab=text");
  await page.getByLabel("Name").fill(`kept ${info.project.name}`);
  await page.getByText("JSON", { exact: true }).click();
  const strange = {
    kind: "resource",
    item: res,
    thresholds: [{ class: cls, n: 1, why: "a", thresholds: [{ when: "> 1", status: 5, note: { deep: [1] } }] }],
    intervals: [{ class: cls, interval: "1m", jitter: 3 }],
    rollup: "most",
    period: { times: ["mon", { from: "2026-01-05T08:00", to: "2026-01-05T18:00", zone: "x" }], holidays: ["xmas"] },
    comment: ["of a later version"],
  };
  await textOf(page).fill(JSON.stringify(strange));
  await page.getByRole("tab", { name: "Form" }).click();
  await expect(page.getByLabel("Status, threshold 1 of indicator 1")).toHaveValue("5");
  await expect(page.getByLabel("It is")).toHaveValue("other");
  await page.getByLabel("When, threshold 1 of indicator 1").fill("> 2");
  await page.getByRole("tab", { name: "YAML or JSON" }).click();
  const [override] = strange.thresholds;
  expect(JSON.parse(await textOf(page).inputValue())).toEqual({
    ...strange,
    thresholds: [{ ...override, thresholds: [{ ...override?.thresholds[0], when: "> 2" }] }],
  });
  await page.getByRole("tab", { name: "Form" }).click();
  await save(page);
  await expect(page.getByRole("alert")).toContainText("unknown field"); // the service has the last word

  // What has no place in the form stays in the text.
  await page.getByRole("tab", { name: "YAML or JSON" }).click();
  await textOf(page).fill(JSON.stringify({ kind: "view", item: "MAIN", thresholds: "none" }));
  await page.getByRole("tab", { name: "Form" }).click();
  await expect(page.getByText("The form cannot show this: thresholds is no list")).toBeVisible();
  await expect(textOf(page)).toHaveValue(/"none"/);
  await textOf(page).fill("{");
  await page.getByRole("tab", { name: "Form" }).click();
  await expect(page.getByText(/The form cannot show this/)).toBeVisible();
});

test("another indicator of another type needs no hint", async ({ page, service }, info) => {
  const cls = `type-${info.project.name}`;
  const res = `type box ${info.project.name}`;
  const name = `type ${info.project.name}`;
  await disks(service, cls, res);
  await logIn(page, service, "/ui/parameters/policies");
  const put = await page.request.put(`${service.url}/api/policies/${encodeURIComponent(name)}`, {
    data: { kind: "resource", item: res, thresholds: [{ class: cls, n: 1, thresholds: [{ when: "> 1", status: 1 }] }] },
  });
  expect(put.status(), await put.text()).toBe(201);
  await page.goto(`${service.url}/ui/parameters/policies?policy=${encodeURIComponent(name)}`);
  await box(page, "Number, indicator 1").fill("2");
  await page.getByLabel("When, threshold 1 of indicator 1").fill("<> ok");
  await save(page);
  await expect(page.getByText(`Policy ${name} updated.`)).toBeVisible();
  expect(await policy(page, service, name)).toMatchObject({ thresholds: [{ n: 2, type: "string" }] });
});

test("hostile names stand in the form as they are", async ({ page, service }, info) => {
  for (const [i, odd] of Object.values(hostile).entries()) {
    const cls = `${odd.slice(0, 230)} ${info.project.name} c`;
    const res = `${odd.slice(0, 230)} ${info.project.name} r`;
    const name = `${odd.slice(0, 230)} ${info.project.name} p`;
    await disks(service, cls, res);
    if (i === 0) await logIn(page, service, "/ui/parameters/policies?new=true");
    else await page.goto(`${service.url}/ui/parameters/policies?new=true`);
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Kind").selectOption("resource");
    await box(page, "Item").fill(res.slice(0, -1));
    await expect(page.getByRole("option", { name: res })).toBeVisible();
    await fits(page);
    await page.getByRole("option", { name: res }).click();
    await page.getByRole("button", { name: "Add an indicator" }).click();
    await box(page, "Class, indicator 1").fill(cls);
    await box(page, "Number, indicator 1").fill("1");
    await page.keyboard.press("Escape");
    await save(page);
    await expect(page.getByRole("heading", { name, exact: true })).toBeVisible();
    await expect(box(page, "Item")).toHaveValue(res);
    await expect(box(page, "Class, indicator 1")).toHaveValue(cls);
    await fits(page);
    await accessible(page);
    expect(await policy(page, service, name)).toMatchObject({ item: res, thresholds: [{ class: cls, n: 1 }] });
  }
});

test(
  "sets, changes and removes a policy as text, which changes a status",
  { tag: "@quick" },
  async ({ page, service }, info) => {
    const name = `p/<i>${info.project.name}</i> 🔔`;
    const box = `policed ${info.project.name}`;
    await service.json("PUT", `/api/classes/policed-${info.project.name}`, {
      indicators: [{ n: 1, name: "Used", thresholds: [{ when: ">= 80", status: 2 }] }],
    });
    await service.csv("/api/provisioning/custom", "name", box);
    await service.csv(
      "/api/send",
      "type,resname,object,class,view,i1",
      `data,${box},root,policed-${info.project.name},${box},72`,
    );
    const status = async () =>
      (
        await service.sql<{ status: string }>(
          `SELECT status FROM objectstatus WHERE resource='${box}' AND object='root'`,
        )
      )[0]?.status;
    expect(await status()).toBe("0");

    await logIn(page, service, "/ui/parameters/policies");
    await accessible(page);
    await page.getByRole("link", { name: "Set a policy" }).click();
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "other thresholds" }).click();
    await page.getByRole("tab", { name: "YAML or JSON" }).click();
    const text = page.getByRole("textbox", { name: /as text/ });
    await expect(text).toHaveValue(/item: MAIN/);
    await text.fill(`kind: resource\nitem: ${box}\nrollup: most\n`);
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("alert")).toContainText(
      'line 3: rollup must be worst, best, or a number as in "2 of m"',
    );
    await accessible(page);
    await text.fill(
      `kind: resource\nitem: ${box}\nthresholds:\n  - {class: policed-${info.project.name}, n: 1, thresholds: [{when: ">= 70", status: 3}]}\n`,
    );
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByRole("heading", { name })).toBeVisible();
    await expect.poll(status).toBe("3");
    await page.getByRole("link", { name: "Policies" }).last().click();
    await expect(page.getByRole("row").filter({ hasText: name })).toContainText(">= 70 is Critical");
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("button", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove the policy" }).click();
    await expect(page.getByRole("heading", { name: "Policies" })).toBeVisible();
    await expect(page.getByRole("link", { name, exact: true })).toHaveCount(0);
    await expect.poll(status).toBe("0");
  },
);
