import { chromium } from "@playwright/test";
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const url = "http://127.0.0.1:19999";
const pages = process.argv.slice(2);
for (const [name, viewport, scheme] of [["desk-light", { width: 1440, height: 900 }, "light"], ["phone-dark", { width: 390, height: 844 }, "dark"]]) {
  const c = await b.newContext({ viewport, colorScheme: scheme, locale: "en-GB" });
  const p = await c.newPage();
  p.on("console", (m) => m.type() === "error" && console.log(name, m.text()));
  await p.goto(url + "/ui/");
  await p.getByLabel("User").fill("admin");
  await p.getByLabel("Password", { exact: true }).fill("correct horse bell");
  await p.getByRole("button", { name: "Log in" }).click();
  await p.waitForTimeout(2500);
  for (const s of pages) {
    const [n, path] = s.split("=", 2);
    await p.goto(url + "/ui/" + s.slice(n.length + 1));
    await p.waitForTimeout(3500);
    await p.screenshot({ path: `/tmp/lead/shots/${n}-${name}.png` });
  }
  await c.close();
}
await b.close();
