// A fault of the service is in sight of those who can do something about it, on every page, until it is over.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fits } from "./fits";
import { accessible, expect, logIn, Service, test } from "./service";

test("a disk with too little space shows on every page until there is room", { tag: "@quick" }, async ({ page }) => {
  const dir = mkdtempSync(join(tmpdir(), "belfry-faults-"));
  const config = join(dir, "belfry.yaml");
  const limit = (min: string) => writeFileSync(config, `storage: {min_free: ${min}}\n`);
  limit("1MB");
  const service = await Service.start("--config", config);
  try {
    const viewer = service.cli("user", "create", "--name", "vera", "--role", "viewer");
    const sign = page.getByRole("link", { name: /^1 fault: cannot store rows: .* below storage.min_free/ });
    await logIn(page, service, "/ui/status");
    await expect(sign).toHaveCount(0);

    limit("1000TiB");
    service.signal("SIGHUP");
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(503);
    for (const path of ["/ui/events", "/ui/map"]) {
      await page.goto(service.url + path);
      await expect(sign).toBeVisible();
      await fits(page);
      await accessible(page);
    }
    await sign.click();
    const faults = page.getByRole("region", { name: "Faults" });
    await expect(faults.getByRole("article", { name: "disk" })).toContainText("free space or lower the limit");
    await expect(faults).toContainText(/Since .*\d, for \d+ (s|min)/);
    await expect(faults).toContainText("data is refused");
    await expect(page.getByText("The service is not ready.", { exact: false })).toBeVisible();
    await fits(page);
    await accessible(page);

    // It goes by itself: the end of a fault is an event.
    limit("1MB");
    service.signal("SIGHUP");
    await expect(sign).toHaveCount(0);
    await expect(faults).toHaveCount(0);
    await expect(page.getByText("The service accepts data and answers queries.")).toBeVisible();

    // Who may not read the health of the service does not ask for it.
    await page.context().clearCookies();
    const other = await page.context().newPage(); // the administrator's asks all the time
    const asked: string[] = [];
    other.on("request", (r) => asked.push(new URL(r.url()).pathname));
    await logIn(other, service, "/ui/events", "vera", viewer.split("\n").at(-1));
    await expect(other.getByRole("feed", { name: "Events" })).toBeVisible();
    expect(asked).not.toContain("/api/health");
  } finally {
    await service.remove();
    rmSync(dir, { recursive: true, force: true });
  }
});

test("a loss in the journal is confirmed on the health page", async ({ page }) => {
  const service = await Service.start();
  try {
    await service.stop();
    const lost = {
      position: "1·1",
      from: "2026-11-16T08:00:00Z",
      to: "2026-11-16T08:05:00Z",
      why: "a segment is damaged",
      confirmed: false,
    };
    writeFileSync(join(service.dir, "data", "journal_loss"), JSON.stringify([lost]));
    await service.run();
    await logIn(page, service, "/ui/parameters/health");
    const fault = page.getByRole("article", { name: "journal_loss" });
    await expect(fault).toContainText("a segment is damaged");
    const disks = page.getByRole("table", { name: "File systems" });
    await expect(disks).toContainText("data, rows, metadata, journal, spool");
    await expect(disks).toContainText(join(service.dir, "data"));
    await fits(page);
    await accessible(page);

    await fault.getByRole("button", { name: "Confirm the loss" }).click();
    const question = page.getByRole("dialog", { name: "Confirm that these rows are lost?" });
    await expect(question).toContainText("Queries over that time are answered again");
    await accessible(page);
    await question.getByRole("button", { name: "Cancel" }).click();
    await expect(fault).toBeVisible();
    await fault.getByRole("button", { name: "Confirm the loss" }).click();
    await question.getByRole("button", { name: "Confirm the loss" }).click();
    await expect(fault).toHaveCount(0);
    await expect(page.getByText("The loss is confirmed.")).toBeVisible();

    await service.stop();
    await service.run();
    await logIn(page, service, "/ui/parameters/health");
    await expect(page.getByText("The service accepts data and answers queries.")).toBeVisible();
    await expect(page.getByRole("article", { name: "journal_loss" })).toHaveCount(0);
  } finally {
    await service.remove();
  }
});
