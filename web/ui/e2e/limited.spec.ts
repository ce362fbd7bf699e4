// Somebody who is limited to a part of the customer: the rest does not exist, on no page and in no answer.
import { accessible, expect, logIn, Service, test } from "./service";

test("a user limited to a view sees that view and nothing else", async ({ page }) => {
  const service = await Service.start();
  try {
    await service.csv("/api/provisioning/view", "name,view,bg", "Ours,MAIN,our plan", "Theirs,MAIN,their plan");
    await service.csv("/api/provisioning/custom", "name,view", "our box,Ours", "their secret box,Theirs");
    await service.csv(
      "/api/send",
      "type,resname,object,class,view,i1",
      "data,our box,our load,load,our box,1",
      "data,their secret box,their secret load,load,their secret box,2",
    );
    for (const box of ["our box", "their secret box"])
      await service.json("POST", "/api/ackmanagenote/resources", {
        ...{ items: [box], window: `${box} backup`, fromdatetime: "2098-01-01T00:00" },
        ...{ isunmanaged: true, unmanageifred: false, collectunmanage: true, collectorunmanage: true },
      });
    // Made on the page by an administrator.
    await logIn(page, service, "/ui/parameters/users");
    const made = await page.request.post(`${service.url}/api/users`, {
      data: { name: "lena", role: "operator", password: "a long enough one", views: ["Ours"] },
    });
    expect(made.status(), await made.text()).toBe(201);
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="#8ab"/></svg>';
    for (const name of ["our plan", "their plan"])
      await page.request.put(`${service.url}/api/pictures/${encodeURIComponent(name)}`, {
        data: svg,
        headers: { "Content-Type": "image/svg+xml" },
      });
    await page.reload();
    await expect(page.getByText("lena")).toBeVisible();
    await page.context().clearCookies();

    const answers: string[] = [];
    page.on("response", async (r) => {
      if (r.url().includes("/api/") && !r.url().includes("/api/stream")) answers.push(await r.text().catch(() => ""));
    });
    await logIn(page, service, "/ui/status", "lena", "a long enough one");
    await expect(page.getByText("our load").first()).toBeVisible();
    await accessible(page);
    await page.goto(`${service.url}/ui/maintenance`);
    await expect(page.getByRole("row", { name: /our box backup/ })).toBeVisible();
    for (const path of [
      "map",
      "treemap",
      "events",
      "item?kind=view&name=Ours",
      "item?kind=view&name=Theirs",
      "provisioning?package=custom&do=export",
    ]) {
      await page.goto(`${service.url}/ui/${path}`);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await expect(page.getByText("Loading…")).toHaveCount(0);
    }
    expect(answers.length).toBeGreaterThan(10);
    expect(answers.filter((a) => a.includes("their secret"))).toEqual([]);
    await expect(page.getByText("their secret")).toHaveCount(0);
    // Nor by calling the API with the session of the browser.
    const asked = await page.request.get(`${service.url}/api/explain/resources/their%20secret%20box`);
    expect(asked.status()).toBe(404);
    // Of pictures those that are drawn where they may look.
    expect((await page.request.get(`${service.url}/api/pictures/our%20plan`)).status()).toBe(200);
    expect((await page.request.get(`${service.url}/api/pictures/their%20plan`)).status()).toBe(404);
    // What is provisioned shows within seconds, although no event tells a limited user of it.
    await page.goto(`${service.url}/ui/map?view=Ours&as=list`);
    await expect(page.getByRole("link", { name: "our box", exact: true })).toBeVisible();
    await service.csv("/api/provisioning/custom", "name,view", "our new box,Ours");
    await expect(page.getByRole("link", { name: "our new box", exact: true })).toBeVisible({ timeout: 30_000 });
    // So do the events of what is moved in, and those of what is moved out go.
    await service.json("POST", "/api/ackmanagenote/resources", { items: ["our new box"], note: "a new box" });
    await page.goto(`${service.url}/ui/events`);
    const event = page.getByRole("article").filter({ hasText: "a new box" });
    await expect(event).toHaveCount(1);
    await service.csv("/api/provisioning/custom", "name,view", "our new box,Theirs");
    await expect(event).toHaveCount(0, { timeout: 30_000 });
    await service.csv("/api/provisioning/custom", "name,view", "our new box,Ours");
    await expect(event).toHaveCount(1, { timeout: 30_000 });
    await service.csv("/api/provisioning/custom", "name,view", "our new box,Theirs");
    await expect(event).toHaveCount(0, { timeout: 30_000 });
    // Also of what is there only for a moment, between two looks at what can be seen.
    await service.csv("/api/provisioning/custom", "name,view", "our new box,Ours");
    await service.json("POST", "/api/ackmanagenote/resources", { items: ["our new box"], note: "in and out" });
    const passing = page.getByRole("article").filter({ hasText: "in and out" });
    await expect(passing).toHaveCount(1);
    await service.csv("/api/provisioning/custom", "name,view", "our new box,Theirs");
    await expect(passing).toHaveCount(0, { timeout: 30_000 });
    const keys = await page.request.get(`${service.url}/api/keys`);
    expect(keys.status()).toBe(403);
  } finally {
    await service.remove();
  }
});

test("a viewer can change nothing, also not by calling the API", async ({ page, service }, info) => {
  const name = `looker ${info.project.name}`;
  await service.csv("/api/provisioning/custom", "name", `${name} box`);
  const secret = service.cli("user", "create", "--name", name, "--role", "viewer");
  await logIn(page, service, `/ui/status?kind=all&text=${encodeURIComponent(name)}`, name, secret);
  await expect(page.getByText(`${name} box`).first()).toBeVisible();
  await expect(page.getByRole("checkbox")).toHaveCount(0);
  const refused = async (method: string, path: string, data: unknown) => {
    const answer = await page.request.fetch(service.url + path, { method, data: data as object });
    expect([401, 403, 405], `${method} ${path}: ${await answer.text()}`).toContain(answer.status());
  };
  await refused("POST", "/api/ackmanagenote/resources", { items: [`${name} box`], note: "mine" });
  await refused("POST", "/api/users", { name: "x", role: "viewer" });
  await refused("PUT", "/api/classes/load", {});
  await refused("PUT", "/api/settings", {});
  await refused("POST", "/api/keys", { name: "x", level: "read" });
  await refused("POST", "/api/session/customer", { customer: "default" });
  expect(
    (await service.sql<{ note?: string }>(`SELECT note FROM objectstatus WHERE name='${name} box'`))[0]?.note,
  ).toBeUndefined();
});
