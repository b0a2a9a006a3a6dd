import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolecall, startSandbox } from "../program.mjs";

const PAGE = 25;
const LEAST_SHARE = 90;
const MOST_REFUSED = 3;

/** The rate limits to measure, with the sandbox's settings. */
const LIMITS = [
  { name: "fixed window, 50/s", perSecond: 50, settings: {} },
  { name: "fixed window, 200/s", perSecond: 200, settings: {} },
  { name: "token bucket, 50/s", perSecond: 50, settings: { rate_limit_kind: "bucket" } },
  { name: "token bucket, 200/s", perSecond: 200, settings: { rate_limit_kind: "bucket" } },
];

/** Measures how much of a rate limit a long plan uses, and how many of its requests are refused. */
export const rateLimit = { name: "rate-limit", run: measureAll };

async function measureAll({ runs = "5", seconds = "25" }) {
  const figures = [];
  for (const limit of LIMITS) {
    const measured = [];
    for (let run = 0; run < Number(runs); run += 1) measured.push(await measure(limit, Number(seconds)));
    figures.push(
      {
        title: `rate limit, ${limit.name}: used`,
        target: { atLeast: LEAST_SHARE, unit: "%" },
        values: measured.map(({ used }) => used),
      },
      {
        title: `rate limit, ${limit.name}: answered 429`,
        target: { atMost: MOST_REFUSED, unit: "%" },
        values: measured.map(({ refused }) => refused),
      },
    );
  }
  return figures;
}

async function measure({ perSecond, settings }, seconds) {
  const folder = await mkdtemp(join(tmpdir(), "rolecall-bench-"));
  const members = perSecond * seconds * PAGE;
  const sandbox = await startSandbox(["--generate", String(members), "--rate-limit", String(perSecond)]);
  try {
    await set(sandbox.url, settings);
    const file = join(folder, "shop.yaml");
    await writeFile(file, "version: 1\nmerchant: MC0DEMO1\nsync: { members: additive }\nmembers: []\n");
    const { code, stderr } = await rolecall(["plan", file], sandbox.env);
    if (code !== 0) throw new Error(`plan ended with ${code}: ${stderr.slice(-2000)}`);
    return figuresOf(sandbox.log, perSecond);
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true });
  }
}

function figuresOf(log, perSecond) {
  const requests = log.filter(({ text }) => text.includes(" /v0.1/"));
  const seconds = (requests.at(-1).at - requests[0].at) / 1000;
  const statuses = requests.flatMap(({ text }) =>
    [...text.matchAll(/ \/v0\.1\/\S* (\d{3}) /g)].map(([, status]) => status),
  );
  const refused = statuses.filter((status) => status === "429").length;
  const passed = statuses.filter((status) => status.startsWith("2")).length;
  return { used: (100 * passed) / seconds / perSecond, refused: (100 * refused) / statuses.length };
}

async function set(url, settings) {
  if (Object.keys(settings).length === 0) return;
  const response = await fetch(`${url}/_sandbox/settings`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(settings),
  });
  if (!response.ok) throw new Error(`The sandbox does not take ${JSON.stringify(settings)}.`);
}
