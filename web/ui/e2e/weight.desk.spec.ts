// What a first visit costs: everything of the interface that comes over the wire for the login page and then the status page,
// where something is watched already and where there is nothing yet, which shows the first steps.
import type { Page, Request } from "@playwright/test";
import { expect, logIn, Service, test } from "./service";

const most = 250_000;

/** Scale weighs what a page loads. Data is another matter. */
class Scale {
  private readonly asked = new Set<Request>();
  private readonly arrived: Request[] = [];

  constructor(readonly page: Page) {
    page.on("request", (r) => ours(r) && this.asked.add(r));
    page.on("requestfinished", (r) => ours(r) && this.arrived.push(r));
  }

  /** settled waits until everything that was asked for is there, and nothing more is asked for. The stream never ends. */
  async settled() {
    let before = -1;
    const still = () => {
      const same = this.asked.size === before && this.arrived.length === before;
      before = this.asked.size;
      return same;
    };
    await expect.poll(still, { intervals: [500] }).toBe(true);
  }

  async sum(part: "responseBodySize" | "responseHeadersSize" = "responseBodySize"): Promise<number> {
    const sizes = await Promise.all(this.arrived.map((r) => r.sizes()));
    return sizes.reduce((total, s) => total + Math.max(0, s[part]), 0);
  }

  async list(): Promise<string> {
    const line = async (r: Request) =>
      `${String(Math.max(0, (await r.sizes()).responseBodySize)).padStart(8)} ${pathOf(r)}`;
    return (await Promise.all(this.arrived.map(line))).join("\n");
  }

  script(): string | undefined {
    return this.arrived.map(pathOf).find((p) => p.endsWith(".js") && p.startsWith("/ui/assets/"));
  }
}

const pathOf = (r: Request) => new URL(r.url()).pathname;
const ours = (r: Request) => pathOf(r).startsWith("/ui/");

/** visit opens the login page, logs in, and fails when that and the page after it weigh too much. */
async function visit(page: Page, service: Service, path: string, seen: () => Promise<void>): Promise<Scale> {
  const scale = new Scale(page);
  await page.goto(`${service.url}/ui/`);
  await expect(page.getByRole("button", { name: "Log in" })).toBeVisible();
  await scale.settled();
  const login = await scale.sum();
  await logIn(page, service, path);
  await expect(page.getByRole("heading", { level: 1, name: "Status" })).toBeVisible();
  await seen();
  await scale.settled();
  const all = await scale.sum();
  const headers = await scale.sum("responseHeadersSize");
  console.log(await scale.list());
  console.log(
    `login page ${login} bytes, with the status page ${all} bytes, of at most ${most}; and ${headers} of headers`,
  );
  expect(login).toBeGreaterThan(10_000); // else nothing was measured
  expect(all).toBeGreaterThan(login);
  expect(all).toBeLessThan(most);
  return scale;
}

test("the first load is light", async ({ fresh: page, service }) => {
  await service.csv("/api/provisioning/custom", "name", "feather");
  await service.csv("/api/send", "type,resname,object,class,view,i1", "data,feather,weight,feather,feather,1");
  const scale = await visit(page, service, "/ui/status?view=feather", () =>
    expect(page.getByText("feather").first()).toBeVisible(),
  );
  const answer = await page.request.get(`${service.url}${scale.script()}`);
  expect(answer.headers()["content-encoding"]).toBe("gzip");
});

test("the first load is light where there is nothing yet", async ({ fresh: page }) => {
  const service = await Service.start();
  try {
    await visit(page, service, "/ui/", async () => {
      const steps = page.getByRole("region", { name: "First steps" });
      await expect(steps.getByRole("button", { name: "Make a key" })).toBeVisible();
      await expect(steps.getByText("See it on a chart")).toBeVisible();
    });
  } finally {
    await service.remove();
  }
});
