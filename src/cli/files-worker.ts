import { parentPort, workerData } from "node:worker_threads";
import { loadMerchants } from "../config/load-merchants.ts";
import type { DesiredMember } from "../model/desired.ts";
import { sourceReader } from "./files.ts";
import type { AsideTask, AsideTold } from "./load-aside.ts";

/** How many members go at a time: reading so many takes about a millisecond, in which nothing else is done. */
const PIECE = 1000;

/** Reads files in a thread of its own, for `loadAside`. */
async function work({ files, cwd, now }: AsideTask): Promise<void> {
  const { merchants, ...rest } = await loadMerchants(files, sourceReader(cwd), {
    now,
    begun: (head) => tell({ head }),
  });
  for (const [index, { state }] of merchants.entries()) tellMembers(index, state?.members ?? []);
  const without = merchants.map(({ file, state }) => ({
    file,
    state: state?.members ? { ...state, members: [] } : state,
  }));
  tell({ loaded: { merchants: without, ...rest } });
}

function tellMembers(index: number, members: readonly DesiredMember[]): void {
  for (let from = 0; from < members.length; from += PIECE) {
    tell({ index, members: JSON.stringify(members.slice(from, from + PIECE)) });
  }
}

function tell(told: AsideTold): void {
  parentPort?.postMessage(told);
}

void work(workerData);
