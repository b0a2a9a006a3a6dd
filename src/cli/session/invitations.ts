import { oneLine } from "../../lib/escape.ts";
import { normalizeServiceUrl } from "../../lib/text.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import type { Committed, Renewal } from "../../plan/changes/plan-members.ts";
import { invitationsAfter, type LostInvitation } from "../../plan/undo/lost-state.ts";
import type { Io } from "../io/io.ts";
import { mentions, type RunsOf, readRun } from "../journal/read-journals.ts";

/**
 * Finds the invitations that past runs removed and did not renew, by address in lower case. Journals are read only for
 * declared members who are not live and have roles or metadata that the file does not manage.
 */
export async function findLostInvitations(
  state: DesiredState,
  live: Pick<LiveState, "members">,
  service: string,
  runsOf: RunsOf,
  io: Pick<Io, "cwd" | "now">,
): Promise<ReadonlyMap<string, LostInvitation>> {
  const lost = new Map<string, LostInvitation>();
  const sought = soughtAddresses(state, live);
  const here = normalizeServiceUrl(service);
  const isSame = (other: string): boolean => normalizeServiceUrl(other) === here;
  if (sought.size === 0) return lost;
  // Without journals the plan comes from the file alone.
  for (const stored of await runsOf(state.merchant)) {
    if (sought.size === 0) break;
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

/** Throws RolecallError for an address of `--reinvite` that no file lists. */
export function checkReinvited(emails: readonly string[], states: readonly DesiredState[]): void {
  const listed = new Set(
    states.flatMap(({ members = [] }) => members.map(({ email }) => email.toLowerCase())),
  );
  const stray = emails.find((email) => !listed.has(email.toLowerCase()));
  if (stray === undefined) return;
  throw new RolecallError("usage", `--reinvite ${stray}: no file lists this address.`, {
    hint: "It renews the expired invitation of a listed member; to invite somebody new, add an entry.",
  });
}

/** Returns a warning for each address of `--reinvite` whose invitation has not expired at any of the merchants. */
export function warningsOfReinvited(
  emails: readonly string[],
  lives: readonly Pick<LiveState, "members">[],
): readonly string[] {
  const expired = new Set(lives.flatMap(expiredAddresses));
  return emails
    .filter((email) => !expired.has(email.toLowerCase()))
    .map(
      (email) =>
        `warning: --reinvite ${oneLine(email)} has no effect: this address has no expired invitation.`,
    );
}

function expiredAddresses({ members }: Pick<LiveState, "members">): readonly string[] {
  return members.flatMap(({ status, invite }) =>
    status === "expired" && invite ? invite.email.toLowerCase() : [],
  );
}

/** Decides which expired invitations of a merchant are renewed; git runs only if the age of one matters. */
export async function renewalOf(
  { sync, members = [] }: Pick<DesiredState, "sync" | "members">,
  live: Pick<LiveState, "members">,
  emails: readonly string[],
  entryTime: (origin: Origin) => Promise<number | null>,
): Promise<Renewal> {
  const asked = new Set(emails.map((email) => email.toLowerCase()));
  if (typeof sync.reinvite === "boolean") return { asked };
  const expired = new Set(expiredAddresses(live));
  const committed = new Map<string, Committed>();
  for (const { email, origin } of members) {
    const key = email.toLowerCase();
    const at = expired.has(key) ? await entryTime(origin) : null;
    if (at !== null) committed.set(key, { at, day: new Date(at).toISOString().slice(0, 10) });
  }
  return { asked, committed };
}
