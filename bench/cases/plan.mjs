import { figure, inFolder, repeat } from "../support/measure.mjs";
import { peakOf, rolecall, startServer } from "../support/process.mjs";
import { fileOf } from "../support/shop.mjs";

const PAGE = 25;
/** Selects one member in a hundred for a change. */
const isChanged = (at) => at % 100 === 50;

/** Returns the minimum time to list the members: all pages on all connections, and one round trip; in ms. */
const limitOf = ({ members, latencyMs, connections }) =>
  (Math.ceil(members / PAGE) / connections) * latencyMs + latencyMs;

async function atWork({ members, latencyMs, connections }, work) {
  const server = await startServer({ members, latencyMs });
  try {
    return await inFolder({ "access/shop.yaml": fileOf("MC0BENCH", members, isChanged) }, (cwd) =>
      work({
        server,
        // One change in a hundred exceeds no guard.
        args: ["plan", "--concurrency", String(connections)],
        options: { cwd, env: server.env },
      }),
    );
  } finally {
    await server.stop();
  }
}

const planMs = (shop, runs) =>
  atWork(shop, ({ args, options }) => repeat(runs, async () => (await rolecall(args, options)).ms));
const planPeak = (shop, runs) =>
  atWork(shop, ({ args, options }) => repeat(runs, () => peakOf(args, options)));
const byLimit = async (shop, runs) => (await planMs(shop, runs)).map((ms) => ms / limitOf(shop));
const planRequests = (shop) =>
  atWork(shop, async ({ args, options, server }) => {
    await rolecall(args, options);
    const counts = await server.counts();
    return counts["list members"] + counts["list roles"];
  });

const TEN = { members: 10_000, latencyMs: 50, connections: 16 };
const HUNDRED = { members: 100_000, latencyMs: 50, connections: 32 };
const FIVE = { members: 5_000, latencyMs: 20, connections: 10 };

const MERCHANTS = { merchants: 500, members: 40, latencyMs: 50, connections: 16 };

/** Reads the live state and plans. */
export const cases = [
  figure({
    name: "plan-10k-16",
    title: "`plan`, 10,000 members, 50 ms, 16 connections",
    target: { atMost: 1.45, unit: "× limit" },
    noise: 0.05,
    measure: (runs) => byLimit(TEN, runs),
  }),
  figure({
    name: "plan-100k",
    title: "`plan`, 100,000 members, 50 ms, 32 connections",
    target: { atMost: 1.4, unit: "× limit" },
    noise: 0.05,
    measure: (runs) => byLimit(HUNDRED, runs),
  }),
  figure({
    name: "plan-100k-memory",
    title: "`plan`, 100,000 members, memory",
    target: { atMost: 400, unit: "MiB" },
    noise: 0.08,
    measure: (runs) => planPeak(HUNDRED, runs),
  }),
  figure({
    name: "plan-5k",
    title: "`plan`, 5,000 members, 20 ms, 10 connections",
    target: { atMost: 1, unit: "s" },
    noise: 0.08,
    measure: async (runs) => (await planMs(FIVE, runs)).map((ms) => ms / 1000),
  }),
  figure({
    name: "plan-5k-memory",
    title: "`plan`, 5,000 members, memory",
    target: { atMost: 150, unit: "MiB" },
    noise: 0.08,
    measure: (runs) => planPeak(FIVE, runs),
  }),
  figure({
    name: "plan-5k-requests",
    title: "`plan`, 5,000 members, list requests",
    target: { atMost: 201, unit: "requests" },
    noise: 0,
    measure: async () => [await planRequests(FIVE)],
  }),
  figure({
    name: "plan-merchants",
    title: "`plan`, 500 merchants of 40 members, 50 ms, 16 connections",
    target: { atMost: 1.3, unit: "× limit" },
    noise: 0.05,
    measure: (runs) => planMerchants(MERCHANTS, runs),
  }),
];

async function planMerchants({ merchants, members, latencyMs, connections }, runs) {
  const server = await startServer({ members, latencyMs });
  const codes = Array.from({ length: merchants }, (_, at) => `MC${String(at).padStart(6, "0")}`);
  const files = codes.map((code) => [`access/${code}.yaml`, fileOf(code, members, (at) => at === 7)]);
  // For each merchant: the pages of members and the list of roles; the predefined role of all members once.
  const requests = merchants * (Math.ceil(members / PAGE) + 1) + 1;
  const limit = (requests / connections) * latencyMs + latencyMs;
  try {
    return await inFolder(Object.fromEntries(files), (cwd) =>
      repeat(runs, async () => {
        const { ms } = await rolecall(["plan", "--concurrency", String(connections)], {
          cwd,
          env: server.env,
        });
        return ms / limit;
      }),
    );
  } finally {
    await server.stop();
  }
}
