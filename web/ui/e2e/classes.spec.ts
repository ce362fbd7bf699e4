import { accessible, expect, logIn, type Service, test } from "./service";

/** disks makes objects of a class of their own for a test, with the values given. */
async function disks(service: Service, cls: string, ...values: number[]) {
  await service.json("PUT", `/api/classes/${encodeURIComponent(cls)}`, {
    indicators: [{ n: 1, name: "Used", unit: "%", thresholds: [{ when: ">= 80", status: 1 }] }],
  });
  await service.csv("/api/provisioning/custom", "name", `box ${cls}`);
  await service.csv(
    "/api/send",
    "type,resname,object,class,view,i1",
    ...values.map((v, i) => `data,box ${cls},disk ${i},${cls},box ${cls},${v}`),
  );
}

const statuses = async (service: Service, cls: string) =>
  (
    await service.sql<{ status: string }>(
      `SELECT object, status FROM objectstatus WHERE class='${cls}' AND kind='object' ORDER BY object`,
    )
  ).map((r) => r.status);

test("editing a threshold changes a status at once", async ({ page, service }, info) => {
  const cls = `disk-${info.project.name}`;
  await disks(service, cls, 60, 90);
  expect(await statuses(service, cls)).toEqual(["0", "1"]);
  await logIn(page, service, "/ui/parameters/classes");
  await page.getByLabel("Find a class or indicator").fill(cls);
  await expect(page.getByRole("row").filter({ hasText: cls })).toContainText("2");
  await accessible(page);
  await page.getByRole("link", { name: cls, exact: true }).click();
  await expect(page.getByText("The status of 2 objects is reevaluated at once.")).toBeVisible();
  await accessible(page);
  const first = "threshold 1 of indicator i1";
  await page.getByLabel(`When, ${first}`).fill(">= 50");
  await page.getByLabel(`Status, ${first}`).selectOption("3");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("updated; 2 objects have been evaluated again")).toBeVisible();
  expect(await statuses(service, cls)).toEqual(["3", "3"]);
});

test("a bad condition is reported beside its field, and nothing is changed", async ({ page, service }, info) => {
  const cls = `bad-${info.project.name}`;
  await disks(service, cls, 90);
  await logIn(page, service, `/ui/parameters/classes?class=${cls}`);
  const first = "threshold 1 of indicator i1";
  await page.getByLabel(`When, ${first}`).fill(">= high");
  await page.getByLabel(`Until, ${first}`).fill("> 3");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("“high” is not a number")).toBeVisible();
  await expect(page.getByLabel(`When, ${first}`)).toBeFocused();
  await page.getByLabel(`When, ${first}`).fill(">= 50");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Must lie on the other side of >= 50")).toBeVisible();
  await accessible(page);
  expect(await statuses(service, cls)).toEqual(["1"]);

  // As text the service is asked, and says what is wrong in its own words, with the line.
  await page.getByRole("tab", { name: "YAML or JSON" }).click();
  const text = page.getByLabel(`Class ${cls}, as text`);
  await expect(text).toHaveValue(/when: ">= 50"/);
  await text.fill('indicators:\n  - {n: 1, name: Used, thresholds: [{when: "high", status: 1}]}\n');
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert")).toContainText("line 2: indicators[0].thresholds[0].when is wrong");
  await accessible(page);
  await text.fill('indicators:\n  - {n: 1, name: Used, thresholds: [{when: ">= 70", status: 2}]}\n');
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => statuses(service, cls)).toEqual(["2"]);
  await page.getByRole("tab", { name: "Form" }).click();
  await expect(page.getByLabel(`When, ${first}`)).toHaveValue(">= 70");
});

test("what the service says about a field stands beside it", async ({ page, service }, info) => {
  const cls = `told-${info.project.name}`;
  await disks(service, cls, 90);
  // Another indicator was there once: its type binds, which only the service knows for sure.
  await logIn(page, service, `/ui/parameters/classes?class=${cls}&tab=text`);
  const text = page.getByLabel(`Class ${cls}, as text`);
  await page.getByText("JSON", { exact: true }).click();
  await expect(text).toHaveValue(/^\{\n {2}"name"/);
  await text.fill(JSON.stringify({ indicators: [{ n: 1, name: "Used", type: "string" }] }));
  await page.getByRole("tab", { name: "Form" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("alert")).toContainText("is a number and cannot become a string");
  await expect(page.getByLabel("Type")).toHaveAttribute("aria-invalid", "true");
});

test("defines a class, reverts to what is built in, removes", async ({ page, service }, info) => {
  const cls = `new <b>${info.project.name}</b> 🔔/x`;
  await logIn(page, service, "/ui/parameters/classes");
  await page.getByRole("link", { name: "Define a class" }).click();
  await page.getByLabel("Name").first().fill(cls);
  await page.getByRole("group").getByLabel("Name").fill("Pressure");
  await page.getByLabel("Unit").fill("bar");
  await page.getByRole("button", { name: "Add a threshold to indicator i1" }).click();
  await page.getByLabel("When, threshold 1 of indicator i1").fill("< 2");
  await page.getByLabel("Until, threshold 1 of indicator i1").fill(">= 2.5");
  await page.getByLabel("After rows, threshold 1 of indicator i1").fill("2");
  await page.getByLabel("Log columns").fill("who\nwhat");
  await page.getByLabel("Expected interval").fill("5m");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: cls })).toBeVisible();
  const made = await service.call("GET", `/api/classes/${encodeURIComponent(cls)}`);
  expect(await made.json()).toMatchObject({
    source: "customer",
    interval: "5m",
    log: { separator: "\t", columns: ["who", "what"] },
    indicators: [{ n: 1, unit: "bar", thresholds: [{ when: "< 2", status: 1, recover: ">= 2.5", after: 2 }] }],
  });
  await page.getByRole("button", { name: "Revert or remove…" }).click();
  await accessible(page);
  await page.getByRole("button", { name: "Remove the definition" }).click();
  await expect(page.getByRole("heading", { name: "Classes" })).toBeVisible();
  await expect(page.getByRole("link", { name: cls })).toHaveCount(0);

  await page.getByRole("link", { name: "network-ping", exact: true }).click();
  await expect(page.getByText("Definition: built in.")).toBeVisible();
  await page.getByLabel("When, threshold 1 of indicator i4").fill(">= 11");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Definition: your own.")).toBeVisible();
  await page.getByRole("button", { name: "Revert or remove…" }).click();
  await page.getByRole("button", { name: "Remove the definition" }).click();
  await expect(page.getByText("Definition: built in.")).toBeVisible();
  await expect(page.getByLabel("When, threshold 1 of indicator i4")).toHaveValue(">= 20");
});
