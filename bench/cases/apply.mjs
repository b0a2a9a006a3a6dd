import { figure, inFolder, repeat } from "../support/measure.mjs";
import { rolecall, startServer } from "../support/process.mjs";
import { fileOf } from "../support/shop.mjs";

const SHOP = { members: 5_000, latencyMs: 20, connections: 10 };
const CHANGED = SHOP.members / 100;
const isChanged = (at) => at % 100 === 50;

/** The minimum time: reads everything, rechecks and updates each changed member, and reads everything again to verify; in ms. */
function limitOf({ members, latencyMs, connections }) {
  const reading = (Math.ceil(members / 25) / connections) * latencyMs + latencyMs;
  return 2 * reading + Math.ceil((2 * CHANGED) / connections) * latencyMs;
}

/** Applies changes to one member in a hundred. */
export const cases = [
  figure({
    name: "apply-5k",
    title: "`apply` of 1 % of 5,000 members, 20 ms, 10 connections, recheck on",
    target: { atMost: 1.5, unit: "× limit" },
    noise: 0.08,
    measure: (runs) =>
      inFolder({ "access/shop.yaml": fileOf("MC0BENCH", SHOP.members, isChanged) }, (cwd) =>
        repeat(runs, async () => {
          const server = await startServer(SHOP);
          const args = ["apply", "--yes", "--concurrency", String(SHOP.connections)];
          try {
            return (await rolecall(args, { cwd, env: server.env })).ms / limitOf(SHOP);
          } finally {
            await server.stop();
          }
        }),
      ),
  }),
];
