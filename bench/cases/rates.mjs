import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolecall, startSandbox } from "../program.mjs";

const PAGE = 25;
const MOST_TIMES = 1.5;
/** Enough for 500 requests per second at 20 ms each. */
const CONCURRENCY = "16";
/** The `retry-after` of a refused request, in seconds. */
const OWN_WAIT = 1;

const early = { kind: "status", status: 429, wait: OWN_WAIT, nth: 2, times: 1 };
const strays = (probability) => ({ kind: "status", status: 429, wait: OWN_WAIT, probability });
const limited = (perSecond, kind) => ["--rate-limit", String(perSecond), "--rate-limit-kind", kind];

/** Measures plans at services that refuse some requests, relative to the time that the service imposes. */
export const rates = { name: "rates", run: measureAll };

async function measureAll({ runs = "3" }) {
  const repeat = async (one) => {
    const values = [];
    for (let run = 0; run < Number(runs); run += 1) values.push(await one());
    return values;
  };
  const figures = [];
  const add = (title, values) =>
    figures.push({ title: `rates, ${title}`, target: { atMost: MOST_TIMES, unit: "× the limit" }, values });
  for (const [title, rule] of [
    ["one early 429", early],
    ["1 % stray 429s", strays(0.01)],
    ["2 % stray 429s", strays(0.02)],
    ["5 % stray 429s", strays(0.05)],
  ]) {
    const values = await repeat(async () => {
      const plain = await plan({ pages: 600 });
      const refused = await plan({ pages: 600, rules: [rule] });
      return refused / (plain + OWN_WAIT);
    });
    add(title, values);
  }
  for (const kind of ["window", "bucket"]) {
    for (const perSecond of [5, 50, 500]) {
      const pages = perSecond * 12;
      const limit = (pages - perSecond) / perSecond;
      const values = await repeat(async () => {
        // This machine may not reach that rate.
        const plain = perSecond < 500 ? 0 : await plan({ pages });
        return (await plan({ pages, args: limited(perSecond, kind) })) / Math.max(limit, plain);
      });
      add(`${kind} of ${perSecond}/s`, values);
    }
  }
  const [perSecond, share, seconds] = [50, 0.6, 4];
  const pages = perSecond * 12;
  const limit = (pages - perSecond) / perSecond + share * seconds;
  add(
    `window of ${perSecond}/s, another client takes ${100 * share} % for ${seconds} s`,
    await repeat(async () => {
      const neighbour = { perSecond: share * perSecond, from: 2, seconds };
      return (await plan({ pages, args: limited(perSecond, "window"), neighbour })) / limit;
    }),
  );
  return figures;
}

/** Returns the duration of a plan that reads this many pages of members, in seconds. */
async function plan({ pages, args = [], rules = [], neighbour }) {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-bench-"));
  const sandbox = await startSandbox(["--generate", String(pages * PAGE), "--latency", "20", ...args]);
  let ended = false;
  try {
    if (rules.length > 0) await control(sandbox.url, "faults", { seed: 7, rules });
    const file = join(folder, "shop.yaml");
    await writeFile(file, "version: 1\nmerchant: MC0DEMO1\nsync: { members: additive }\nmembers: []\n");
    const beside = neighbour && disturb(sandbox, neighbour, () => ended);
    const began = performance.now();
    const { code, stderr } = await rolecall(["plan", "--concurrency", CONCURRENCY, file], sandbox.env);
    const seconds = (performance.now() - began) / 1000;
    ended = true;
    await beside;
    if (code !== 0) throw new Error(`plan ended with ${code}: ${stderr.slice(-2000)}`);
    return seconds;
  } finally {
    ended = true;
    await sandbox.stop();
    await rm(folder, { recursive: true });
  }
}

/** Sends requests with the same key at a constant rate during an interval. */
async function disturb({ url, env }, { perSecond, from, seconds }, isOver) {
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  await sleep(from * 1000);
  const until = performance.now() + seconds * 1000;
  const headers = { authorization: `Bearer ${env.ROLECALL_API_KEY}` };
  while (performance.now() < until && !isOver()) {
    const response = await fetch(`${url}/v0.1/merchants/MC0DEMO1/members?limit=1`, { headers });
    await response.arrayBuffer();
    await sleep(Math.max(0, 1000 / perSecond - 22));
  }
}

async function control(url, what, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/_sandbox/${what}`, {
    method: "PUT",
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok)
    throw new Error(`The sandbox does not take ${JSON.stringify(body)}: ${await response.text()}`);
}
