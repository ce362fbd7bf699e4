import { expect, type Page } from "@playwright/test";

/** fits fails the test when a page is wider than the screen. */
export async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate(() => {
    const root = document.documentElement;
    // On a phone the window grows with what does not fit; the screen does not.
    const most = Math.min(root.clientWidth, screen.width);
    const over = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > most + 1);
    return { by: root.scrollWidth - most, what: over.slice(-1).map((e) => e.outerHTML.slice(0, 200)) };
  });
  expect(wide.by, `the page scrolls sideways: ${wide.what}`).toBeLessThanOrEqual(0);
}
