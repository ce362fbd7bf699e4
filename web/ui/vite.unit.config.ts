// Unit tests need no browser: they are bundled as the interface is and run by node --test. See npm run unit.
import { readdirSync } from "node:fs";
import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  logLevel: "warn",
  build: {
    ssr: true,
    outDir: "node_modules/.unit",
    emptyOutDir: true,
    target: "node20",
    sourcemap: true,
    rollupOptions: {
      input: readdirSync("unit")
        .filter((name) => name.endsWith(".test.ts"))
        .map((name) => `unit/${name}`),
    },
  },
});
