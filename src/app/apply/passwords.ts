import { withFingerprint } from "../../kernel/diff/fingerprint.ts";
import { oneLine } from "../../lib/escape.ts";
import { isLiteralGlob } from "../../lib/glob.ts";
import type { PasswordChange } from "../../model/apply.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveMember, LiveState } from "../../model/live.ts";
import type { MemberChange, MemberImage, Plan } from "../../model/plan.ts";
import type { Io } from "../io/io.ts";
import { isKey } from "../session/connection.ts";
import { globMatcher, type PlanResult, type Session, type UnplannedMerchant } from "../session/session.ts";

/** A plan with its live state and its merchant's file. */
export type RotationInput = { readonly session: Pick<Session, "state"> } & PlanResult;

/**
 * Returns the passwords that `--rotate-password` asks for, by merchant; `wanted` are addresses and globs over them. Throws
 * RolecallError for one that matches no managed member of the files, and for a member that cannot have a password. A
 * member that the plan creates gets the password with that; one that a glob alone matches is left out if it is not there,
 * or if the plan removes it.
 */
export function rotationsFor(
  wanted: readonly string[],
  planned: readonly RotationInput[],
  isComplete = true,
): ReadonlyMap<string, readonly PasswordChange[]> {
  const isWanted = addressMatcher(wanted);
  const named = new Set(wanted.map((email) => email.toLowerCase()));
  const listed = planned.flatMap((one) =>
    managedMembers(one.session.state)
      .filter(({ email }) => isWanted(email))
      .map((member) => ({ one, member })),
  );
  requireMatches(
    wanted,
    listed.map(({ member }) => member.email),
    isComplete,
  );
  const rotations = new Map<string, readonly PasswordChange[]>();
  for (const { one, member } of listed) {
    const rotation = rotationOf(member, one, named.has(member.email.toLowerCase()));
    const merchant = one.plan.merchant;
    if (rotation) rotations.set(merchant, [...(rotations.get(merchant) ?? []), rotation]);
  }
  return rotations;
}

/** Returns the members that a file lists as managed. */
export function managedMembers({ members = [] }: Pick<DesiredState, "members">): readonly DesiredMember[] {
  return members.filter(({ managed }) => managed !== undefined);
}

/** Returns a test whether one of some addresses, or globs over them, matches an address. */
export function addressMatcher(wanted: readonly string[]): (email: string) => boolean {
  const all = wanted.map((text) => text.toLowerCase());
  const named = new Set(all);
  const globs = all.filter((text) => !isLiteralGlob(text));
  const matches = globMatcher();
  return (email) => {
    const address = email.toLowerCase();
    return named.has(address) || globs.some((glob) => matches(glob, address));
  };
}

/** Throws RolecallError for an address or a glob that matches none of the managed members. */
export function requireMatches(
  wanted: readonly string[],
  emails: readonly string[],
  isComplete = true,
): void {
  const stray = wanted.find((text) => !emails.some(addressMatcher([text])));
  if (stray === undefined) return;
  const what = isLiteralGlob(stray) ? "this address" : "an address that it matches";
  const who = isComplete ? "no file lists" : "no file of a merchant that could be planned lists";
  throw new RolecallError("usage", `--rotate-password ${oneLine(stray)}: ${who} ${what} as managed.`, {
    hint: isLiteralGlob(stray)
      ? 'Add "managed" with a "password_env" to the member in the file.'
      : "Check the pattern: it is compared with whole addresses.",
  });
}

function rotationOf(
  member: DesiredMember,
  { plan, live }: RotationInput,
  isNamed: boolean,
): PasswordChange | null {
  const { email, managed } = member;
  const found = live.members.find((one) => isMeant(member, one));
  const change = changeOf(plan, email, found);
  if (change?.kind === "create" || change?.kind === "replace" || managed === undefined) return null;
  if (!isNamed && (change?.kind === "delete" || found === undefined)) return null;
  const refuse = (why: string): never => {
    throw new RolecallError("usage", `--rotate-password ${email}: ${why}`, {
      hint: "Nothing was changed. Remove the option, or correct the file.",
    });
  };
  if (change?.kind === "delete") refuse(`the plan removes this member from ${plan.merchant}.`);
  if (found === undefined) return refuse(`${plan.merchant} has no such member.`);
  if (found.user?.type !== "managed_user") refuse(`it is not a managed user at ${plan.merchant}.`);
  const image: MemberImage = change?.kind === "update" ? change.after : imageOf(found, email, live);
  const update = withFingerprint<MemberChange>({
    resource: "member",
    name: email,
    kind: "update",
    id: found.id,
    before: image,
    after: image,
    fields: [],
    reason: "declared",
  }) as MemberChange & { readonly kind: "update" };
  return { ...update, passwordEnv: managed.passwordEnv };
}

function isMeant({ id, email }: DesiredMember, live: LiveMember): boolean {
  if (id !== undefined) return live.id === id;
  // An expired invitation of the same address may stand beside the membership.
  return live.status !== "expired" && live.user?.email?.toLowerCase() === email.toLowerCase();
}

function changeOf(plan: Plan, email: string, found: LiveMember | undefined): MemberChange | undefined {
  return plan.changes.find(
    (change): change is MemberChange =>
      change.resource === "member" &&
      (found ? change.id === found.id : change.name.toLowerCase() === email.toLowerCase()),
  );
}

/** Returns the member's live fields, which stay as they are. */
function imageOf(member: LiveMember, email: string, { roles }: LiveState): MemberImage {
  const names = new Map(roles.map(({ id, name }) => [id, name]));
  return {
    email: member.user?.email ?? email,
    roles: [...new Set(member.roles)].sort().map((id) => ({ id, name: names.get(id) ?? id })),
    metadata: member.metadata,
    managed: { nickname: member.user?.nickname ?? null, passwordEnv: null },
    status: member.status,
  };
}

const SHORTEST_PASSWORD = 8;

/** Finds the password of a managed user by the name of its environment variable. */
export type Passwords = (variable: string) => string;

/** Looks up every needed password before the user is asked, so that none is missing half-way. */
export function passwordsFor(
  plans: readonly Plan[],
  rotations: readonly PasswordChange[],
  env: Io["env"],
): Passwords {
  const lengthOf = (variable: string): number => env[variable]?.length ?? 0;
  const created = plans.flatMap(passwordVariables);
  const rotated = rotations.map(({ passwordEnv }) => passwordEnv);
  const needed = [...new Set([...created, ...rotated])].sort();
  const keys = needed.filter((name) => isKey(env[name] ?? "") || name.startsWith("ROLECALL_API_KEY"));
  if (keys.length > 0) {
    // A file decides the variable, and the password goes to the service.
    throw new RolecallError(
      "password-missing",
      `${keys.join(", ")} cannot be a password: ${keys.length === 1 ? "it is" : "these are"} for an API key.`,
      { hint: "Name another variable under password_env. Nothing was changed." },
    );
  }
  const unset = needed.filter((name) => lengthOf(name) === 0);
  const short = needed.filter((name) => lengthOf(name) > 0 && lengthOf(name) < SHORTEST_PASSWORD);
  if (unset.length + short.length > 0) {
    const wrong = [
      ...(unset.length > 0 ? [`${firstOf(unset)} ${unset.length === 1 ? "is" : "are"} not set`] : []),
      ...(short.length > 0
        ? [
            `${firstOf(short)} ${short.length === 1 ? "has" : "have"} fewer than ${SHORTEST_PASSWORD} characters`,
          ]
        : []),
    ];
    throw new RolecallError(
      "password-missing",
      `${purpose(created.length > 0, rotated.length > 0)} from the environment: ${wrong.join("; ")}.`,
      { hint: `Give each variable at least ${SHORTEST_PASSWORD} characters. Nothing was changed.` },
    );
  }
  return (variable) => env[variable] ?? "";
}

const MAX_NAMED = 10;

function firstOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function purpose(creates: boolean, rotates: boolean): string {
  if (!rotates) return "First passwords of managed users come";
  if (!creates) return "Passwords of --rotate-password come";
  return "First passwords of managed users, and those of --rotate-password, come";
}

function passwordVariables({ changes }: Plan): readonly string[] {
  return changes.flatMap((change) =>
    change.resource === "member" ? (change.after?.managed?.passwordEnv ?? []) : [],
  );
}

/** Returns the merchants whose apply needs a password that is missing. */
export function withoutPasswords(
  due: readonly { readonly plan: Plan; readonly passwords: readonly PasswordChange[] }[],
  io: Pick<Io, "env">,
): readonly UnplannedMerchant[] {
  return due.flatMap(({ plan, passwords }): readonly UnplannedMerchant[] => {
    try {
      passwordsFor([plan], passwords, io.env);
      return [];
    } catch (error) {
      if (!(error instanceof RolecallError)) throw error;
      return [{ status: "failed", merchant: plan.merchant, error }];
    }
  });
}
