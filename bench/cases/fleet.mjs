import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure, inFolder, repeat } from "../support/measure.mjs";
import { peakOf, rolecall, startServer } from "../support/process.mjs";
import { fileOf } from "../support/shop.mjs";

const [MEMBERS, LATENCY_MS, CONNECTIONS] = [40, 20, 32];
const PAGE = 25;
const ABOUT = `merchants of ${MEMBERS} members, ${LATENCY_MS} ms, ${CONNECTIONS} connections`;
const CHANGED = 7;

const codeOf = (at) => `MC${String(at).padStart(6, "0")}`;
const pathOf = (at) => `access/${codeOf(at)}.yaml`;
const shopOf = (at, isChanged) => fileOf(codeOf(at), MEMBERS, isChanged);
const files = (merchants) =>
  Object.fromEntries(
    Array.from({ length: merchants }, (_, at) => [pathOf(at), shopOf(at, (member) => member === CHANGED)]),
  );

/** Returns the minimum time: the pages and the roles of each merchant, and the predefined role once; in ms. */
const limitOf = (merchants) =>
  ((merchants * (Math.ceil(MEMBERS / PAGE) + 1)) / CONNECTIONS) * LATENCY_MS + 2 * LATENCY_MS;

/** Plans with the files of a fleet in a repository, of which one merchant differs from its only commit. */
async function atFleet(merchants, args, measure) {
  const server = await startServer({ members: MEMBERS, latencyMs: LATENCY_MS });
  try {
    return await inFolder(files(merchants), async (cwd) => {
      const git = (...words) =>
        execFileSync("git", ["-c", "user.name=B", "-c", "user.email=b@example.com", ...words], { cwd });
      git("init", "--quiet");
      git("add", ".");
      git("commit", "--quiet", "-m", "all");
      writeFileSync(
        join(cwd, pathOf(CHANGED)),
        shopOf(CHANGED, () => false),
      );
      return await measure(["plan", "--concurrency", String(CONNECTIONS), ...args], { cwd, env: server.env });
    });
  } finally {
    await server.stop();
  }
}

const timed = (args, options, runs) => repeat(runs, async () => (await rolecall(args, options)).ms);

/** The targets by number of merchants; the fewer they are, the more the start of the program counts. */
const TIMES = { 100: 4, 1000: 1.5, 5000: 1.25 };

const rowsOf = (merchants) => [
  figure({
    name: `plan-fleet-${merchants}`,
    title: `\`plan\`, ${merchants} ${ABOUT}`,
    target: { atMost: TIMES[merchants], unit: "× limit" },
    noise: 0.05,
    measure: (runs) =>
      atFleet(merchants, [], async (args, options) =>
        (await timed(args, options, runs)).map((ms) => ms / limitOf(merchants)),
      ),
  }),
  figure({
    name: `plan-fleet-${merchants}-memory`,
    title: `\`plan\`, ${merchants} merchants, memory`,
    target: { atMost: 400, unit: "MiB" },
    noise: 0.08,
    measure: (runs) => atFleet(merchants, [], (args, options) => repeat(runs, () => peakOf(args, options))),
  }),
  ...[
    ["one", ["-m", codeOf(CHANGED)], 2],
    ["changed", ["--changed-since", "HEAD"], 0.8],
  ].map(([name, words, atMost]) =>
    figure({
      name: `plan-fleet-${merchants}-${name}`,
      title: `\`plan ${words.join(" ")}\`, 1 of ${merchants} merchants`,
      target: { atMost, unit: "s" },
      noise: 0.08,
      measure: (runs) =>
        atFleet(merchants, words, async (args, options) =>
          (await timed(args, options, runs)).map((ms) => ms / 1000),
        ),
    }),
  ),
];

/** Plans fleets of small merchants, whole and one changed merchant of them. */
export const cases = [100, 1_000, 5_000].flatMap(rowsOf);
