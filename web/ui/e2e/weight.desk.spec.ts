// What a first visit costs: everything that comes over the wire for the login page and then the status page. Where there
// is nothing yet, the first steps come on top of it, after the page can be seen.
import type { Request } from "@playwright/test";
import { expect, logIn, test } from "./service";

const most = 250_000;

test("the first load is light", async ({ page, service }) => {
  await service.csv("/api/provisioning/custom", "name", "feather");
  await service.csv("/api/send", "type,resname,object,class,view,i1", "data,feather,weight,feather,feather,1");
  const arrived: { path: string; sizes: ReturnType<Request["sizes"]> }[] = [];
  page.on("requestfinished", (r) => {
    const path = new URL(r.url()).pathname;
    if (path.startsWith("/ui/")) arrived.push({ path, sizes: r.sizes() }); // data is another matter
  });
  const sum = async (part: "responseBodySize" | "responseHeadersSize") => {
    const all = await Promise.all(arrived.map((a) => a.sizes));
    return all.reduce((total, s) => total + Math.max(0, s[part]), 0);
  };
  await page.goto(`${service.url}/ui/`);
  await expect(page.getByRole("button", { name: "Log in" })).toBeVisible();
  await page.waitForLoadState("load");
  const login = await sum("responseBodySize");
  await logIn(page, service, "/ui/status?view=feather");
  await expect(page.getByRole("heading", { level: 1, name: "Status" })).toBeVisible();
  await expect(page.getByText("feather").first()).toBeVisible();
  await page.waitForLoadState("networkidle");
  const all = await sum("responseBodySize");
  for (const a of arrived)
    console.log(`${String(Math.max(0, (await a.sizes).responseBodySize)).padStart(8)} ${a.path}`);
  console.log(
    `login page ${login} bytes, with the status page ${all} bytes, of at most ${most}; and ${await sum("responseHeadersSize")} of headers`,
  );
  expect(login).toBeGreaterThan(10_000); // else nothing was measured
  expect(all).toBeLessThan(most);
  const script = arrived.find((a) => a.path.endsWith(".js") && a.path.startsWith("/ui/assets/"));
  const answer = await page.request.get(`${service.url}${script?.path}`);
  expect(answer.headers()["content-encoding"]).toBe("gzip");
});
