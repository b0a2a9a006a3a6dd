import { normalizeServiceUrl } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import { stillEmpty, type UnrestoredMember, withoutSettled } from "../../plan/undo/emptied-fields.ts";
import type { Io } from "../io/io.ts";
import { isDone, isOf, listRuns, mentions, readRun, type StoredRun } from "./read-journals.ts";

type World = Pick<Io, "cwd" | "now">;

/**
 * Finds members with unmanaged fields that past runs may have left empty and that are empty. Without readable journals
 * there are none.
 */
export async function findUnrestored(
  state: DesiredState,
  live: Pick<LiveState, "members">,
  service: string,
  io: World,
): Promise<readonly UnrestoredMember[]> {
  const stored = await listRuns(io.cwd).catch(() => []);
  const own = stored.filter((one) => isOf({ ...one, unreadable: "" }, [state.merchant]));
  const found = new Map<string, UnrestoredMember>();
  for (const [index, one] of own.entries()) {
    // A run that is done has restored everything.
    if (await isDone(one, io)) continue;
    const candidates = stillEmpty(await unrestoredBy(one, state.merchant, service, io), live, state);
    const left = await unsettled(candidates, own.slice(0, index), io);
    for (const member of left) if (!found.has(member.id)) found.set(member.id, member);
  }
  return [...found.values()];
}

async function unsettled(
  candidates: readonly UnrestoredMember[],
  later: readonly StoredRun[],
  io: World,
): Promise<readonly UnrestoredMember[]> {
  let left = candidates;
  for (const one of later) {
    if (left.length === 0) break;
    const named = await Promise.all(left.map(({ id }) => mentions(one, JSON.stringify(id), io)));
    const read = named.includes(true) ? await readRun(one, io) : null;
    if (read !== null && "past" in read) left = withoutSettled(left, read.past);
  }
  return left;
}

/** Returns what the run of a journal may have left empty; nothing if it is of another merchant or service. */
async function unrestoredBy(
  stored: StoredRun,
  merchant: string,
  service: string,
  io: World,
): Promise<readonly UnrestoredMember[]> {
  const read = await readRun(stored, io);
  if (!("past" in read)) return [];
  const { run } = read.past;
  const isSame = normalizeServiceUrl(run.service) === normalizeServiceUrl(service);
  return run.merchant === merchant && isSame ? read.unrestored : [];
}
