import { parseArgs } from "node:util";
import { formats } from "./cases/formats.mjs";
import { rateLimit } from "./cases/rate-limit.mjs";

/**
 * Measures the built program as a whole, and compares with what it is to reach.
 * A case is a list of figures: { name, target, unit, isMet(value), values }; each value is one whole measurement,
 * and the median of them counts.
 */
const CASES = { "rate-limit": rateLimit, formats };

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: Object.keys(CASES) },
    runs: { type: "string" },
    seconds: { type: "string" },
  },
});

const unknown = options.only.filter((name) => !(name in CASES));
if (unknown.length > 0) {
  console.error(`There is no case ${unknown.join(", ")}; there are: ${Object.keys(CASES).join(", ")}.`);
  process.exit(1);
}

const rows = [];
for (const name of options.only) {
  for (const figure of await CASES[name](options)) {
    const value = median(figure.values);
    const met = figure.isMet(value);
    rows.push([figure.name, figure.target, shown(value, figure), spread(figure), met ? "met" : "MISSED"]);
  }
}

const head = ["figure", "target", "median", "all", "verdict"];
const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)));
for (const row of [head, ...rows]) {
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join("  ")
      .trimEnd(),
  );
}
process.exitCode = rows.some((row) => row.at(-1) === "MISSED") ? 1 : 0;

function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function shown(value, { unit, digits = 1 }) {
  return `${value.toFixed(digits)} ${unit}`;
}

function spread({ values, digits = 1 }) {
  return values.map((value) => value.toFixed(digits)).join(" ");
}
