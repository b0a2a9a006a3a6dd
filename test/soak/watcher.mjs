// A program that uses the library for as long as it runs: plans all merchants, over a connection that stays and over
// one that is closed each time, and applies its own. Arguments: the library, its own merchant's code.
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [library, own] = process.argv.slice(2);
// Messages are heard while this loads.
const loading = import(pathToFileURL(library).href);

const OPTIONS = { retryFor: 5000, concurrency: 4 };
const counts = { rounds: 0, planned: 0, changes: 0, applied: 0, failed: 0, bugs: [] };
let wanted = true;
let every = 5000;
let wake = new AbortController();

/** Counts what the service refused; anything else is a bug. */
async function attempt(task) {
  const { RolecallError } = await loading;
  try {
    return await task();
  } catch (error) {
    if (error instanceof RolecallError && error.code !== "bug") counts.failed += 1;
    else counts.bugs.push(String(error?.stack ?? error).slice(0, 2000));
    return null;
  }
}

async function planAll(service, merchants) {
  const { planMerchant } = await loading;
  const planned = await Promise.all(
    merchants.map((merchant) => attempt(() => planMerchant(service, merchant))),
  );
  for (const one of planned) {
    if (one === null) continue;
    counts.planned += 1;
    counts.changes += one.plan.changes.length;
  }
  return planned;
}

async function round(kept) {
  const { applyPlan, loadMerchants, openService } = await loading;
  const { merchants } = await loadMerchants();
  await planAll(kept, merchants);
  const fresh = openService(OPTIONS);
  const at = merchants.findIndex(({ merchant }) => merchant === own);
  const one = (await planAll(fresh, merchants))[at];
  if (one) {
    const result = await attempt(() => applyPlan(fresh, merchants[at], one.plan));
    if (result?.status === "applied") counts.applied += 1;
  }
  await fresh.close();
  counts.rounds += 1;
}

async function watch() {
  const { openService } = await loading;
  const kept = openService(OPTIONS);
  while (wanted) {
    await attempt(() => round(kept));
    wake = new AbortController();
    if (wanted) await sleep(every, undefined, { signal: wake.signal }).catch(() => undefined);
  }
  await kept.close();
}

// It waits for messages, also where it watches nothing.
process.channel.ref();
process.on("message", (message) => {
  if (message === "counts") process.send({ type: "counts", ...counts });
  if (message === "end") process.disconnect();
  if (message === "stop") {
    wanted = false;
    wake.abort();
  }
  if (typeof message === "object" && message.start) {
    every = message.every;
    void watch().then(() => process.send({ type: "stopped" }));
  }
});
console.log("ready");
