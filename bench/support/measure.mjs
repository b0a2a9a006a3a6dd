import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A case with one figure; `measure` gives its values. */
export function figure({ name, measure, ...rest }) {
  return { name, run: async ({ runs = "5" }) => [{ ...rest, values: await measure(Number(runs)) }] };
}

/** What some runs give, after one that does not count. */
export async function repeat(runs, run) {
  await run();
  const values = [];
  for (let at = 0; at < runs; at += 1) values.push(await run());
  return values;
}

/** The ratios of two things that are run in turn, so that a machine which gets slower does so for both. */
export async function ratios(runs, one, other) {
  return repeat(runs, async () => {
    const [above, below] = [await one(), await other()];
    return above / below;
  });
}

/** Works in a folder with these files (path → text), and removes it afterwards. */
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
