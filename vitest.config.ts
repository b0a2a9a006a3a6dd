import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
// @ts-expect-error The scripts are plain JavaScript, without types.
import { pageAssets } from "./scripts/page-assets.mjs";

/** Tests of the built program; they need dist/, the others run from the sources. */
const program = [
  "test/program/**/*.test.ts",
  "test/examples/demo.test.ts",
  "test/action/runner/**/*.test.ts",
  "examples/sandbox/*.test.mjs",
];

/** Tests of the page in a real browser. */
const browser = ["test/browser/**/*.test.ts"];

/** Loads the modules of GitHub's parsers without their source maps, whose sources are not published. */
const withoutSourceMaps = {
  name: "without-source-maps",
  load(id: string) {
    if (!GITHUB_PARSERS.test(id) || !id.endsWith(".js")) return null;
    return { code: readFileSync(id, "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, ""), map: null };
  },
};

const GITHUB_PARSERS = /@actions\/(workflow-parser|expressions)/;

/** Gives every property test its seed. */
const setupFiles = ["test/support/property-runs.ts"];

/** The limit of every test and hook, in ms: it ends a test that hangs. How fast something is, tests measure in processor time. */
const limit = 600_000 * Number(process.env["FUZZ_FACTOR"] ?? 1);

const limits = { testTimeout: limit, hookTimeout: limit };

/** Small files that take long: where they start last, the other cores wait for them. */
const LONGEST = /\/(histories|put-back|attacks|chains|paper)\.test\.ts$/;

/** Starts those first, and then the largest files, as usual. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

const cores = availableParallelism();

/** Tests that wait for processes and browsers come first, one more of them than there are cores. */
const processes = { maxWorkers: cores + 1, sequence: { groupOrder: 0 } };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        plugins: [pageAssets(), withoutSourceMaps],
        test: {
          name: "sources",
          isolate: false,
          maxWorkers: cores,
          sequence: { groupOrder: 1 },
          include: ["test/**/*.test.{ts,tsx}"],
          exclude: [...program, ...browser],
          setupFiles,
          ...limits,
          // Its modules import JSON as bundlers allow it, and Node does not.
          server: { deps: { inline: [GITHUB_PARSERS] } },
          // Ink draws nothing where CI is set; the built program has that look taken out.
          env: { CI: "false", CONTINUOUS_INTEGRATION: "false" },
        },
      },
      {
        test: {
          ...processes,
          name: "program",
          isolate: false,
          include: program,
          setupFiles,
          globalSetup: ["test/support/build-program.ts"],
          ...limits,
        },
      },
      {
        plugins: [pageAssets()],
        test: {
          ...processes,
          name: "browser",
          include: browser,
          setupFiles,
          ...limits,
        },
      },
    ],
  },
});
