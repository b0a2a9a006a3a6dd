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
