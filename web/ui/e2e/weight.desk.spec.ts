// What a first visit costs: everything that comes over the wire for the login page and then the status page.
import { expect, logIn, test } from "./service";

const most = 250_000;

test("the first load is light", async ({ page, service }) => {
  const arrived: { path: string; bytes: Promise<number> }[] = [];
  page.on("requestfinished", (r) => {
    const path = new URL(r.url()).pathname;
    if (!path.startsWith("/ui/")) return; // data is another matter
    arrived.push({ path, bytes: r.sizes().then((s) => s.responseBodySize + s.responseHeadersSize) });
  });
  const sum = async () => (await Promise.all(arrived.map((a) => a.bytes))).reduce((a, b) => a + b, 0);
  await page.goto(`${service.url}/ui/`);
  await expect(page.getByRole("button", { name: "Log in" })).toBeVisible();
  await page.waitForLoadState("load");
  const login = await sum();
  await logIn(page, service, "/ui/status");
  await expect(page.getByRole("heading", { level: 1, name: "Status" })).toBeVisible();
  const all = await sum();
  for (const a of arrived) console.log(`${String(await a.bytes).padStart(8)} ${a.path}`);
  console.log(`login page ${login} bytes, with the status page ${all} bytes, of at most ${most}`);
  expect(login).toBeGreaterThan(10_000); // else nothing was measured
  expect(all).toBeLessThan(most);
  const script = arrived.find((a) => a.path.endsWith(".js") && a.path.startsWith("/ui/assets/"));
  const answer = await page.request.get(`${service.url}${script?.path}`);
  expect(answer.headers()["content-encoding"]).toBe("gzip");
});
