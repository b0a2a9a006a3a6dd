import type { Committed, Renewal } from "../../kernel/diff/plan-members.ts";
import { oneLine } from "../../lib/escape.ts";
import type { DesiredState, Origin } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";

/** Throws RolecallError for an address of `--reinvite` that no file lists. */
export function checkReinvited(emails: readonly string[], states: readonly DesiredState[]): void {
  const listed = new Set(
    states.flatMap(({ members = [] }) => members.map(({ email }) => email.toLowerCase())),
  );
  const stray = emails.find((email) => !listed.has(email.toLowerCase()));
  if (stray === undefined) return;
  throw new RolecallError("usage", `--reinvite ${stray}: no file lists this address.`, {
    hint: "It only renews the expired invitation of a listed member. To invite somebody new, add an entry.",
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
    const entryChanged = expired.has(key) ? await entryTime(origin) : null;
    if (entryChanged !== null)
      committed.set(key, { at: entryChanged, day: new Date(entryChanged).toISOString().slice(0, 10) });
  }
  return { asked, committed };
}
