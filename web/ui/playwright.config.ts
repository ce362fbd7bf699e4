// Two tiers. npm run e2e runs the projects whose names begin with "quick": the main flows on a desk, tagged @quick in the
// tests, a look at every page, and at some on a phone, tagged @phone. npm run e2e:soak runs the rest: all other tests, everything on a phone, and the looks in
// the other two colours and sizes.
//
// No test is repeated when it fails, and none is decided by time: tests wait for what they need, and the time limits below
// only end what hangs.
import { defineConfig } from "@playwright/test";

const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";

const desk = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const light = { colorScheme: "light" } as const;
const dark = { colorScheme: "dark" } as const;

const looks = /looks\.spec\.ts/;
const deskOnly = /\.desk\.spec\.ts/;

export default defineConfig({
  testDir: "e2e",
  outputDir: "e2e/.results",
  fullyParallel: false,
  workers: 2,
  timeout: 600_000,
  expect: { timeout: 120_000 },
  forbidOnly: !!process.env.CI,
  retries: 0,
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
    { name: "quick desk", use: { ...desk, ...light }, grep: /@quick/ },
    { name: "quick phone", use: { ...phone, ...dark }, grep: /@phone/ },

    { name: "soak desk", use: { ...desk, ...light }, grepInvert: /@quick/ },
    { name: "soak phone", use: { ...phone, ...dark }, grepInvert: /@phone/, testIgnore: deskOnly },
    { name: "soak desk dark", use: { ...desk, ...dark }, testMatch: looks },
    { name: "soak phone light", use: { ...phone, ...light }, testMatch: looks },
  ],
});
