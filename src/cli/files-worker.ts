import { parentPort, workerData } from "node:worker_threads";
import { loadMerchants } from "../config/load-merchants.ts";
import { sourceReader } from "./files.ts";
import type { AsideTask, AsideTold } from "./load-aside.ts";

/** Reads files in a thread of its own, for `loadAside`. */
async function work({ files, cwd, now }: AsideTask): Promise<void> {
  const tell = (told: AsideTold): void => parentPort?.postMessage(told);
  const loaded = await loadMerchants(files, sourceReader(cwd), { now, begun: (head) => tell({ head }) });
  tell({ loaded });
}

await work(workerData);
