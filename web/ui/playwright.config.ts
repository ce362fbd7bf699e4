import { defineConfig } from "@playwright/test";

const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";

const wide = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

// Every page is looked at in all four; what people do is tried on a desk in the light and on a phone in the dark.
export default defineConfig({
  testDir: "e2e",
  outputDir: "e2e/.results",
  fullyParallel: false,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: !!process.env.CI,
  retries: 1, // a machine at its limits may be late; what needed a second try is named at the end
  reporter: [["list"]],
  use: {
    launchOptions: { executablePath: chromium, args: ["--no-sandbox"] },
    trace: "off",
    screenshot: "only-on-failure",
    locale: "en-GB",
    timezoneId: "Europe/Paris",
    reducedMotion: "reduce",
  },
  projects: [
    { name: "desk", use: { ...wide, colorScheme: "light" } },
    { name: "phone", use: { ...phone, colorScheme: "dark" }, testIgnore: /.*\.desk\.spec\.ts/ },
    { name: "desk dark", use: { ...wide, colorScheme: "dark" }, testMatch: /looks\.spec\.ts/ },
    { name: "phone light", use: { ...phone, colorScheme: "light" }, testMatch: /looks\.spec\.ts/ },
  ],
});
