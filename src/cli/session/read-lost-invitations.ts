import type { DesiredState } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import { invitationsAfter, type LostInvitation } from "../../plan/changes/invitations-after.ts";
import { normalizeServiceUrl } from "../../plan/service-url.ts";
import type { Io } from "../io/io.ts";
import { isOf, listRuns, mentions, readRun } from "../journal/read-journals.ts";

/**
 * The invitations that past runs at a service have removed and not renewed, by address in lower case. Journals are read
 * only for declared members who are not live and have roles or metadata that the file does not manage.
 */
export async function lostInvitations(
  state: DesiredState,
  live: Pick<LiveState, "members">,
  service: string,
  io: Pick<Io, "cwd" | "now">,
): Promise<ReadonlyMap<string, LostInvitation>> {
  const lost = new Map<string, LostInvitation>();
  const sought = soughtAddresses(state, live);
  const here = normalizeServiceUrl(service);
  const isSame = (other: string): boolean => normalizeServiceUrl(other) === here;
  if (sought.size === 0) return lost;
  // Without journals everything is planned from the file alone.
  const runs = await listRuns(io.cwd).catch(() => []);
  for (const stored of runs) {
    if (sought.size === 0) break;
    if (!isOf({ ...stored, unreadable: "" }, [state.merchant])) continue;
    if (!(await mentions(stored, '"resource":"member"', io))) continue;
    const found = await readRun(stored, io);
    if (!("past" in found)) continue;
    const { run } = found.past;
    if (run.merchant !== state.merchant || !isSame(run.service)) continue;
    for (const [address, invitation] of invitationsAfter(found.past)) {
      if (sought.delete(address) && invitation !== null) lost.set(address, invitation);
    }
  }
  return lost;
}

function soughtAddresses(
  { members = [], ignore }: DesiredState,
  live: Pick<LiveState, "members">,
): Set<string> {
  const declared = members.filter(
    ({ roles, metadata, id }) =>
      roles === undefined || metadata === undefined || id !== undefined || ignore.roles.length > 0,
  );
  const sought = new Set(declared.map(({ email }) => email.toLowerCase()));
  for (const { user, invite } of live.members) {
    for (const email of [user?.email, invite?.email]) sought.delete(email?.toLowerCase() ?? "");
  }
  return sought;
}
