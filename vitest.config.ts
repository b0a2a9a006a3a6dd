import { defineConfig } from "vitest/config";
// @ts-expect-error The scripts are plain JavaScript, without types.
import { pageAssets } from "./scripts/page-assets.mjs";

/** Tests of the built program; they need dist/, the others run from the sources. */
const program = [
  "test/program/**/*.test.ts",
  "test/examples/**/*.test.ts",
  "test/action/runner/**/*.test.ts",
];

/** Tests of the page in a real browser. */
const browser = ["test/browser/**/*.test.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [pageAssets()],
        test: {
          name: "sources",
          pool: "threads",
          isolate: false,
          include: ["test/**/*.test.{ts,tsx}"],
          exclude: [...program, ...browser],
          testTimeout: 60_000,
          // Its modules import JSON as bundlers allow it, and Node does not.
          server: { deps: { inline: [/@actions\/(workflow-parser|expressions)/] } },
          // Ink draws nothing where CI is set; the built program has that look taken out.
          env: { CI: "false", CONTINUOUS_INTEGRATION: "false" },
        },
      },
      {
        test: {
          name: "program",
          include: program,
          globalSetup: ["test/support/build-program.ts"],
          testTimeout: 60_000,
        },
      },
      {
        plugins: [pageAssets()],
        test: {
          name: "browser",
          include: browser,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
