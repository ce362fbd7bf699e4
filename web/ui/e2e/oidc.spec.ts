// People whom an OpenID Connect provider knows, from the button to the page and back out.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fits } from "./fits";
import { Provider } from "./provider";
import { accessible, expect, Service, test } from "./service";

test("a provider lets people in, and who is refused is told why", async ({ page }) => {
  const provider = await Provider.start();
  const dir = mkdtempSync(join(tmpdir(), "belfry-oidc-"));
  const config = join(dir, "belfry.yaml");
  writeFileSync(
    config,
    `oidc: {issuer: "${provider.url}", name: "The House", client_id: belfry, client_secret: s, role_claim: groups, roles: {staff: viewer}}\n`,
  );
  const service = await Service.start("--config", config);
  try {
    await page.goto(`${service.url}/ui/events`);
    const button = page.getByRole("link", { name: "Log in with The House" });
    await expect(button).toBeVisible();
    await accessible(page);

    // Refused there.
    await button.click();
    await expect(page.getByRole("alert")).toContainText("the provider refused the login");
    await accessible(page);
    await page.reload();
    await expect(page.getByRole("alert")).toHaveCount(0); // it is said once

    // Known there, and nobody here.
    provider.claims = { sub: "1", preferred_username: "eve", groups: ["guests"] };
    await button.click();
    await expect(page.getByRole("alert")).toBeVisible();
    await expect(page).toHaveURL(/\/ui\//);

    provider.claims = { sub: "1", preferred_username: "eve", groups: ["staff"] };
    await button.click();
    await expect(page.getByText("Nothing is monitored yet")).toBeVisible();
    await fits(page);
    await page.getByLabel(/^You are eve/).click();
    await expect(page.getByText("viewer", { exact: false }).first()).toBeVisible();
    await page.getByRole("menuitem", { name: "Log out", exact: true }).click();
    await expect(button).toBeVisible();

    // A link that somebody else made says nothing of its own on our page.
    await page.goto(`${service.url}/ui/?denied=Call+this+number`);
    await expect(button).toBeVisible();
    await expect(page.getByText("Call this number")).toHaveCount(0);
  } finally {
    provider.stop();
    await service.remove();
    rmSync(dir, { recursive: true, force: true });
  }
});
