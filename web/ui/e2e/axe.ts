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

/** violations gives the serious and critical violations on a page, each in a line or two. */
export async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, so the policy of the page does not have to allow it.
  await page.evaluate(source);
  const found = await page.evaluate(
    async () =>
      (
        await (globalThis as unknown as { axe: { run: (o: object) => Promise<{ violations: unknown[] }> } }).axe.run({
          resultTypes: ["violations"],
        })
      ).violations,
  );
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
