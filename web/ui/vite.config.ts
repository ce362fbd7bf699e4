import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// A running service to develop against: BELFRY_URL=http://127.0.0.1:8080 npm run dev
const service = process.env.BELFRY_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  base: "/ui/",
  plugins: [react({ jsxImportSource: "#shown" })], // src/shown/jsx-runtime.ts says why
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    // The content-security policy lets nothing in that is written into the page, so nothing is made into a data address.
    assetsInlineLimit: 0,
    // All styles come with the page: a stylesheet that did not come while the service was away would not be asked for again.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  // The service compares the host asked for with the one a page came from, so the host stays as it is.
  server: { proxy: { "/api": { target: service, changeOrigin: false } } },
});
