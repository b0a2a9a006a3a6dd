import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { cases as apply } from "./cases/apply.mjs";
import { cases as plan } from "./cases/plan.mjs";
import { cases as pure } from "./cases/pure.mjs";
import { rateLimit } from "./cases/rate-limit.mjs";
import { rates } from "./cases/rates.mjs";
import { cases as render } from "./cases/render.mjs";
import { cases as start } from "./cases/start.mjs";
import { cases as validate } from "./cases/validate.mjs";

/**
 * Measures the built program as a whole, and compares with what it is to reach: `npm run bench`, or a part of it with
 * `npm run bench -- --only NAME`. A case is { name, run(options) }, which gives figures: { title, target: { atMost or
 * atLeast, unit }, noise, values }. Each value is one whole measurement, and the median of them counts; a target that is
 * missed by no more than the noise, a share of it, is said and fails nothing.
 */
const CASES = [...plan, ...apply, ...start, ...validate, ...pure, ...render, rateLimit, rates];

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    runs: { type: "string" },
    seconds: { type: "string" },
  },
});

const names = CASES.map(({ name }) => name);
const wanted = options.only ?? names;
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`There is no case ${unknown.join(", ")}; there are: ${names.join(", ")}.`);
  process.exit(1);
}

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}\n`);
console.log("| Case | Target | Median | All | Verdict | Name |\n|---|---|---|---|---|---|");
let missed = 0;
for (const { name, run } of CASES.filter((each) => wanted.includes(each.name))) {
  for (const { title, target, noise = 0, values } of await run(options)) {
    const value = median(values);
    const verdict = verdictOf(value, target, noise);
    if (verdict === "missed") missed += 1;
    const all = values.map(digits).join(" ");
    console.log(`| ${title} | ${shown(target)} | **${digits(value)}** | ${all} | ${verdict} | \`${name}\` |`);
  }
}
process.exitCode = missed > 0 ? 1 : 0;

function verdictOf(value, { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY }, noise) {
  if (value <= atMost && value >= atLeast) return "met";
  return value <= atMost * (1 + noise) && value >= atLeast * (1 - noise) ? "within noise" : "missed";
}

function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function shown({ atMost, atLeast, unit }) {
  return atMost === undefined ? `≥ ${atLeast} ${unit}` : `≤ ${atMost} ${unit}`;
}

function digits(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
