// An upgrade of the interface as a browser sees it: the files that a page was made of are gone, and others are there.
import type { Page, Route } from "@playwright/test";

const digest = /(-[\w-]{8})\.(js|css)\b/g;
const missing = {
  error: { code: "unknown_path", message: "this build has no such part of the interface; load the page again" },
};

/**
 * upgrade lets the page have the interface under other names from now on; those it knows answer as the service does for files
 * of another build. What `lost` matches is missing under its new name, too.
 */
export async function upgrade(page: Page, lost?: RegExp): Promise<void> {
  const serve = async (route: Route) => {
    const url = new URL(route.request().url());
    const part = url.pathname.startsWith("/ui/assets/");
    if (part && (!/\.new\.(js|css)$/.test(url.pathname) || lost?.test(url.pathname))) {
      await route.fulfill({ status: 404, json: missing, headers: { "Cache-Control": "no-store" } });
      return;
    }
    url.pathname = url.pathname.replace(/\.new\.(js|css)$/, ".$1");
    const answer = await route.fetch({ url: url.href });
    const type = answer.headers()["content-type"] ?? "";
    if (!/html|javascript|css/.test(type)) await route.fulfill({ response: answer });
    else await route.fulfill({ response: answer, body: (await answer.text()).replaceAll(digest, "$1.new.$2") });
  };
  await page.route(/\/ui\//, (route) => serve(route).catch(() => undefined)); // a page that goes away waits for nothing
}

/** madeOf is the file that a page was made of. */
export const madeOf = (page: Page) =>
  page.evaluate(() => `${location.pathname}: ${document.querySelector("script[type=module]")?.getAttribute("src")}`);

/** again matches the files that are there after the upgrade. */
export const again = /\.new\.js$/;
