import { defineConfig } from "vitest/config";

/** Tests of the built program; they need dist/, the others run from the sources. */
const program = ["test/program/**/*.test.ts", "test/examples/**/*.test.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "sources",
          include: ["test/**/*.test.{ts,tsx}"],
          exclude: program,
          testTimeout: 20_000,
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
    ],
  },
});
