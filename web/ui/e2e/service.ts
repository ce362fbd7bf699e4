// A real service for the browser: the real binary on a free port of loopback, with real storage in a temporary folder.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test as base, expect, type Page } from "@playwright/test";
import { violations } from "./axe";

export const binary = resolve(process.env.BELFRY ?? join(import.meta.dirname, "../../../bin/belfry"));
export const password = "correct horse bell";

export class Service {
  private process?: ChildProcess;
  url = "";

  private constructor(
    readonly dir: string,
    readonly flags: string[],
  ) {}

  static async start(...flags: string[]): Promise<Service> {
    const s = new Service(mkdtempSync(join(tmpdir(), "belfry-ui-")), flags);
    await s.run();
    return s;
  }

  async run(): Promise<void> {
    const address = this.url ? new URL(this.url).host : "127.0.0.1:0"; // the same again: pages that are open shall find it
    const child = spawn(binary, ["serve", "--data", join(this.dir, "data"), "--listen", address, ...this.flags], {
      // Nothing leaves this machine: addresses in tests are those of documents.
      env: { ...process.env, BELFRY_ADMIN_PASSWORD: password, BELFRY_NO_COLLECT: "true" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = child;
    this.url = await new Promise<string>((found, failed) => {
      let said = "";
      const hear = (chunk: Buffer) => {
        said += chunk.toString();
        const at = /scheme=(https?) addr=(127\.0\.0\.1:\d+)/.exec(said);
        if (at) found(`${at[1]}://${at[2]}`);
      };
      child.stdout?.on("data", hear);
      child.stderr?.on("data", hear);
      child.on("exit", (code) => failed(new Error(`belfry ended with ${code}: ${said}`)));
    });
    await expect.poll(async () => (await fetch(`${this.url}/readyz`)).status).toBe(200);
  }

  async stop(how: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.process;
    if (!child) return;
    this.process = undefined;
    child.removeAllListeners("exit");
    await new Promise<void>((done) => {
      child.on("exit", () => done());
      child.kill(how);
    });
  }

  signal(name: NodeJS.Signals): void {
    this.process?.kill(name);
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** cli runs a command of the program on the data of the service. */
  cli(...args: string[]): string {
    return execFileSync(binary, [...args, "--data", join(this.dir, "data")], { encoding: "utf8" }).trim();
  }

  private made = 0;

  /** key makes an API key. */
  key(level = "readwritedelete", customer?: string): string {
    const where = customer ? ["--customer", customer] : [];
    return this.cli("key", "create", "--name", `test ${++this.made}`, "--level", level, ...where);
  }

  private own?: string;

  async call(method: string, path: string, body?: string, type = "text/csv", key?: string): Promise<Response> {
    this.own ??= this.key();
    return fetch(this.url + path, {
      method,
      body,
      headers: { "x-api-key": key ?? this.own, ...(body === undefined ? {} : { "Content-Type": type }) },
    });
  }

  /** csv posts rows and fails the test unless all of them are taken. */
  async csv(path: string, ...lines: string[]): Promise<void> {
    const answer = await this.call("POST", path, `${lines.join("\n")}\n`);
    expect(answer.status, await answer.text()).toBe(200);
  }

  async json(method: string, path: string, body: unknown): Promise<unknown> {
    const answer = await this.call(method, path, JSON.stringify(body), "application/json");
    const text = await answer.text();
    expect(answer.ok, text).toBe(true);
    return text ? JSON.parse(text) : undefined;
  }

  async sql<Row>(q: string, rows = 100): Promise<Row[]> {
    const answer = await this.call("GET", `/api/sql?rows=${rows}&q=${encodeURIComponent(q)}`);
    return ((await answer.json()) as { rows: Row[] }).rows;
  }
}

/** logIn opens a page as somebody. The form of the login page has its own tests, in login.spec.ts. */
export async function logIn(
  page: Page,
  service: Service,
  path = "/ui/",
  user = "admin",
  secret = password,
): Promise<void> {
  const answer = await page.request.post(`${service.url}/api/session`, { data: { user, password: secret } });
  expect(answer.status(), await answer.text()).toBe(200);
  await page.goto(service.url + path);
  await expect(page.getByLabel(/^You are /)).toBeVisible();
}

/** accessible fails the test when a page has a serious fault of accessibility. */
export async function accessible(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
}

// Most of what a test costs is a service that starts and a browser that reads the interface for the first time. So the tests
// of a worker share one service and one page. Each test begins without cookies, storage, permissions and routes, and works
// on items of its own. A test that needs an empty cache takes the page `fresh` instead.
//
// Every test also watches what the browser complains about: broken scripts and violations of the content-security policy.
interface Own {
  complaints: string[];
  fresh: Page;
}

interface Shared {
  service: Service;
  shared: Page;
}

export const test = base.extend<Own, Shared>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: the form is given
    async ({}, use) => {
      const service = await Service.start();
      await use(service);
      await service.remove();
    },
    { scope: "worker" },
  ],
  shared: [
    async ({ browser }, use, info) => {
      const { viewport, isMobile, hasTouch, colorScheme, reducedMotion, locale, timezoneId } = info.project.use;
      const context = await browser.newContext({
        ...{ viewport, isMobile, hasTouch, colorScheme, reducedMotion, locale, timezoneId },
      });
      const page = await context.newPage();
      await page.addInitScript(() => {
        const seen: string[] = [];
        (globalThis as { violated?: string[] }).violated = seen;
        document.addEventListener("securitypolicyviolation", (e) => {
          seen.push(`${e.violatedDirective}: ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`);
        });
      });
      await use(page);
      await context.close();
    },
    { scope: "worker" },
  ],
  context: async ({ shared }, use) => {
    await use(shared.context());
  },
  page: async ({ shared }, use) => {
    await use(shared);
    shared.removeAllListeners();
    await shared.unrouteAll({ behavior: "ignoreErrors" });
    for (const other of shared.context().pages()) if (other !== shared) await other.close(); // it would listen on
    await shared.evaluate(() => {
      if (origin === "null") return; // a page that was never opened has no storage
      localStorage.clear();
      sessionStorage.clear();
    });
    await shared.context().clearCookies();
    await shared.context().clearPermissions();
  },
  fresh: async ({ browser }, use) => {
    const context = await browser.newContext();
    await use(await context.newPage());
    await context.close();
  },
  complaints: [
    async ({ page }, use) => {
      const heard: string[] = [];
      page.on("pageerror", (e) => heard.push(String(e)));
      page.on("console", (m) => {
        if (m.type() === "error" && !/Failed to load resource/.test(m.text())) heard.push(m.text());
      });
      await use(heard);
      expect(heard).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };
