import type { RecordedMembers } from "../../edit/adopt/live-record.ts";
import type { Committed, Renewal } from "../../kernel/diff/plan-members.ts";
import { addressesOf } from "../../kernel/diff/scope.ts";
import { addressesOfPerson } from "../../kernel/values/person.ts";
import { oneLine } from "../../lib/escape.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";

/** Throws RolecallError for an address of `--reinvite` that no file lists. */
export function checkReinvited(emails: readonly string[], states: readonly DesiredState[]): void {
  const listed = new Set(
    states.flatMap(({ members = [] }) => members.map(({ email }) => email.toLowerCase())),
  );
  const stray = emails.find((email) => !listed.has(email.toLowerCase()));
  if (stray === undefined) return;
  throw new RolecallError("usage", `--reinvite ${stray}: no file lists this address.`, {
    hint: "It only invites a listed member again. To invite somebody new, add an entry.",
  });
}

/** Returns a warning for each address of `--reinvite` that is invited at none of the merchants. */
export function warningsOfReinvited(
  emails: readonly string[],
  planned: readonly { readonly live: Pick<LiveState, "members">; readonly plan: Pick<Plan, "changes"> }[],
): readonly string[] {
  const invited = new Set(
    planned.flatMap(({ live, plan }) => [
      ...expiredAddresses(live),
      ...plan.changes.flatMap(({ resource, kind, name }) =>
        resource === "member" && kind === "create" ? name.toLowerCase() : [],
      ),
    ]),
  );
  return emails
    .filter((email) => !invited.has(email.toLowerCase()))
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

/** The recorded live state of a merchant. */
export interface RecordedState {
  readonly commit: string;
  /** Time of the commit, in ms since the epoch. */
  readonly at: number;
  readonly members: RecordedMembers;
}

/** Decides whom a plan of a merchant invites again; git runs only if the age of an entry matters. */
export async function renewalOf(
  state: Pick<DesiredState, "sync" | "members">,
  live: Pick<LiveState, "members">,
  emails: readonly string[],
  entryTime: (origin: Origin) => Promise<number | null>,
  recorded: RecordedState | null = null,
): Promise<Renewal> {
  const asked = new Set(emails.map((email) => email.toLowerCase()));
  const renewal = await expiredRenewal(state, live, asked, entryTime);
  if (recorded === null) return renewal;
  const { commit, at } = recorded;
  const departed = await departedMembers(state, live, recorded, entryTime);
  return {
    ...renewal,
    recorded: {
      commit,
      at: new Date(at).toISOString(),
      departed: departed.filter((email) => !asked.has(email)),
    },
  };
}

/**
 * Returns the addresses, in lower case, of listed members who are in the record, or have left before it, and are not live;
 * without those whose entry has changed since.
 */
async function departedMembers(
  { members = [] }: Pick<DesiredState, "members">,
  live: Pick<LiveState, "members">,
  { at, members: recorded }: RecordedState,
  entryTime: (origin: Origin) => Promise<number | null>,
): Promise<readonly string[]> {
  const present = new Set(live.members.flatMap(addressesOf).map((address) => address.toLowerCase()));
  const departed: string[] = [];
  for (const member of members) {
    const own = addressesOfPerson(member);
    if (own.some((address) => present.has(address))) continue;
    const since = own.flatMap((address) => {
      const { noticed } = recorded.departed.get(address) ?? {};
      return noticed === undefined ? (recorded.present.has(address) ? at : []) : Date.parse(noticed);
    });
    if (since.length === 0) continue;
    const changed = await entryTime(member.origin);
    if (changed === null || changed <= Math.max(...since)) departed.push(member.email.toLowerCase());
  }
  return departed.sort();
}

/** Decides which expired invitations of a merchant are renewed. */
async function expiredRenewal(
  { sync, members = [] }: Pick<DesiredState, "sync" | "members">,
  live: Pick<LiveState, "members">,
  asked: ReadonlySet<string>,
  entryTime: (origin: Origin) => Promise<number | null>,
): Promise<Renewal> {
  if (typeof sync.reinvite === "boolean") return { asked };
  const expired = new Set(expiredAddresses(live));
  const committed = new Map<string, Committed>();
  for (const { email, origin } of members) {
    const key = email.toLowerCase();
    const entryChanged = expired.has(key) ? await entryTime(origin) : null;
    if (entryChanged !== null)
      committed.set(key, { at: entryChanged, day: new Date(entryChanged).toISOString().slice(0, 10) });
  }
  return { asked, committed };
}
