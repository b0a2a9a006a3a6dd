import { on } from "node:events";
import { open } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { type FileHead, glanceAt } from "../config/file-head.ts";
import type { Meanwhile } from "../config/library.ts";
import type { LoadedMerchants } from "../config/load-merchants.ts";
import type { DesiredMember, Grant } from "../model/desired.ts";
import { listSharer } from "../model/share-lists.ts";

/** Which files to read, by their absolute paths. */
export interface AsideTask {
  readonly files: readonly string[];
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * What the thread tells: whose a file is, some members of the merchant with a number as JSON, and in the end everything
 * but those. JSON is read in half the time that a copy takes, and in pieces it keeps nobody waiting.
 */
export type AsideTold =
  | { readonly head: FileHead }
  | { readonly index: number; readonly members: string }
  | { readonly loaded: LoadedMerchants };

/** How much of the first file is looked at before the thread has read anything, in bytes. */
const GLANCE_BYTES = 64 * 1024;

/**
 * Reads merchants' files in a thread of its own, whose program `script` is; everything else goes on meanwhile. Whose the
 * first one is does not wait for the thread, which takes a while to start.
 */
export async function loadAside(
  script: URL,
  task: AsideTask,
  { begun }: Pick<Meanwhile, "begun">,
): Promise<LoadedMerchants> {
  const worker = new Worker(script, { workerData: task });
  // It ends with the thread.
  const all = on(worker, "message", { close: ["exit"] }) as AsyncIterable<[AsideTold]>;
  try {
    const head = await firstHead(task.files);
    if (head !== null) begun(head);
    const members = new Map<number, DesiredMember[]>();
    const share = memberSharer();
    for await (const [told] of all) {
      if ("head" in told) begun(told.head);
      else if ("loaded" in told) return withMembers(told.loaded, members);
      else {
        const known = members.get(told.index) ?? [];
        for (const member of JSON.parse(told.members)) known.push(share(member));
        members.set(told.index, known);
      }
    }
    throw new Error("the thread that reads the files ended without a word");
  } finally {
    // Its end is not waited for.
    void worker.terminate();
  }
}

/** As JSON each member has a list of grants, and the name of its file, to itself. */
function memberSharer(): (member: DesiredMember) => DesiredMember {
  const shareGrants = listSharer(({ role }: Grant) => role);
  const shareFile = listSharer((file: string) => file);
  return (member) => {
    const { roles, origin } = member;
    const [file = origin.file] = shareFile([origin.file]);
    const shared = { ...member, origin: { file, path: origin.path } };
    const isShared = roles?.every(({ until }) => until === undefined) ?? false;
    return roles && isShared ? { ...shared, roles: shareGrants(roles) } : shared;
  };
}

function withMembers(
  { merchants, ...rest }: LoadedMerchants,
  members: ReadonlyMap<number, readonly DesiredMember[]>,
): LoadedMerchants {
  const whole = merchants.map(({ file, state }, index) => {
    const own = members.get(index);
    return { file, state: state && own ? { ...state, members: own } : state };
  });
  return { merchants: whole, ...rest };
}

/** Whose the first file is, as far as a look at its first bytes tells; what is wrong with it is for the thread to say. */
async function firstHead([path = ""]: readonly string[]): Promise<FileHead | null> {
  const file = await open(path).catch(() => null);
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(GLANCE_BYTES), position: 0 });
    return glanceAt(path, new TextDecoder().decode(buffer.subarray(0, bytesRead)), size);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}
