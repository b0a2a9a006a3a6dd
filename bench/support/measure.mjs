import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Creates a case with one figure; `measure` returns its values. */
export function figure({ name, measure, ...rest }) {
  return { name, run: async ({ runs = "5" }) => [{ ...rest, values: await measure(Number(runs)) }] };
}

/** Returns the results of some runs, after a warm-up. */
export async function repeat(runs, run) {
  await run();
  const values = [];
  for (let at = 0; at < runs; at += 1) values.push(await run());
  return values;
}

/** Returns the ratios of two measurements that run in turn, so that a slower machine affects both. */
export async function ratios(runs, one, other) {
  return repeat(runs, async () => {
    const [above, below] = [await one(), await other()];
    return above / below;
  });
}

/** Creates a temporary folder with these files (path → text) for a function. */
export async function inFolder(files, work) {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
