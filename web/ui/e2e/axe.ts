import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  impact: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

// Rules whose violations are minor or moderate, which no test fails for. Without them a page is looked at in less time.
const skipped = [
  "aria-allowed-role",
  "focus-order-semantics",
  "heading-order",
  "hidden-content",
  "landmark-banner-is-top-level",
  "landmark-contentinfo-is-top-level",
  "landmark-main-is-top-level",
  "landmark-no-duplicate-banner",
  "landmark-no-duplicate-contentinfo",
  "landmark-no-duplicate-main",
  "landmark-one-main",
  "landmark-unique",
  "presentation-role-conflict",
  "region",
  "skip-link",
];

/** violations gives the serious and critical violations on a page, each in a line or two. */
export async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, so the policy of the page does not have to allow it.
  await page.evaluate(source);
  const found = await page.evaluate(async (skipped) => {
    const { axe } = globalThis as unknown as { axe: { run: (o: object) => Promise<{ violations: unknown[] }> } };
    const rules = Object.fromEntries(skipped.map((id) => [id, { enabled: false }]));
    return (await axe.run({ resultTypes: ["violations"], rules, preload: false })).violations;
  }, skipped);
  return (found as Violation[])
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .map(
      (v) =>
        `${v.id}: ${v.help}\n${v.nodes
          .slice(0, 5)
          .map((n) => `  ${n.html.slice(0, 300)}\n  ${n.failureSummary}`)
          .join("\n")}`,
    );
}
