import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { cases as apply } from "./cases/apply.mjs";
import { cases as fleet } from "./cases/fleet.mjs";
import { cases as plan } from "./cases/plan.mjs";
import { cases as pure } from "./cases/pure.mjs";
import { rateLimit } from "./cases/rate-limit.mjs";
import { rates } from "./cases/rates.mjs";
import { cases as render } from "./cases/render.mjs";
import { cases as start } from "./cases/start.mjs";
import { cases as validate } from "./cases/validate.mjs";

/**
 * Measures the packed program with the Node that runs this, and compares the medians with their targets; main.mjs starts
 * it. A case is { name, run(options) }, which returns figures: { title, target: { atMost or atLeast, unit }, noise,
 * values }, each value one whole measurement. A target that is missed by no more than the noise, a share of it, is
 * reported and does not fail.
 */
const CASES = [...plan, ...fleet, ...apply, ...start, ...validate, ...pure, ...render, rateLimit, rates];

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
// The targets are for Node 24; older versions may take this much more.
const easing = Number.parseInt(process.versions.node, 10) >= 24 ? 1 : 1.15;
let missed = 0;
for (const { name, run } of CASES.filter((each) => wanted.includes(each.name))) {
  for (const { title, target: given, noise = 0, values } of await run(options)) {
    const target = eased(given, noise);
    const value = median(values);
    const verdict = verdictOf(value, target, noise);
    if (verdict === "missed") missed += 1;
    const all = values.map(digits).join(" ");
    console.log(`| ${title} | ${shown(target)} | **${digits(value)}** | ${all} | ${verdict} | \`${name}\` |`);
  }
}
process.exitCode = missed > 0 ? 1 : 0;

/** Returns the target for the Node in use; a count, which has no noise, does not depend on it. */
function eased({ atMost, ...target }, noise) {
  return atMost === undefined ? target : { ...target, atMost: noise === 0 ? atMost : atMost * easing };
}

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
  return atMost === undefined ? `≥ ${atLeast} ${unit}` : `≤ ${Number(atMost.toPrecision(3))} ${unit}`;
}

function digits(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
