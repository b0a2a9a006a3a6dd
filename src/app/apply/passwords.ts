import type { PlanInput } from "../../kernel/plan/build-plan.ts";
import {
  isLeftToName,
  passwordChange,
  planRotation,
  type RotatedMember,
  type RotationTargets,
  rotatedMembers,
} from "../../kernel/plan/plan-rotation.ts";
import { oneLine } from "../../lib/escape.ts";
import { isLiteralGlob } from "../../lib/glob.ts";
import type { PasswordChange } from "../../model/apply.ts";
import type { DesiredMember, DesiredState } from "../../model/desired.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import type { Io } from "../io/io.ts";
import { isSigningKey } from "../records/signing-key.ts";
import { isKey } from "../session/connection.ts";
import { globMatcher, type PlanResult, type Session, type UnplannedMerchant } from "../session/session.ts";

/** A plan with its live state and its merchant's file. */
export type RotationInput = { readonly session: Pick<Session, "state"> } & PlanResult;

/** Returns which managed users `--rotate-password` chooses; `wanted` are addresses and globs over them. */
export function rotationTargets(addresses: readonly string[]): RotationTargets {
  const lowerCased = new Set(addresses.map((email) => email.toLowerCase()));
  return { includes: addressMatcher(addresses), names: (email) => lowerCased.has(email.toLowerCase()) };
}

/** Returns a planner of new passwords, for `makePlan`. */
export function rotationPlanner(addresses: readonly string[]): (input: PlanInput) => Plan {
  const targets = rotationTargets(addresses);
  return (input) => planRotation(input, targets);
}

/**
 * Returns the passwords that `--rotate-password` asks for, by merchant. Throws RolecallError for an address or a glob that
 * matches no managed member of the files, and for a named member that cannot have a password. One that a glob alone
 * matches is left out if it is not live, or is disabled.
 */
export function rotationsFor(
  addresses: readonly string[],
  planned: readonly RotationInput[],
  now: number,
  isComplete = true,
): ReadonlyMap<string, readonly PasswordChange[]> {
  if (addresses.length === 0) return new Map();
  const targets = rotationTargets(addresses);
  requireMatches(
    addresses,
    planned.flatMap(({ session }) => managedMembers(session.state).map(({ email }) => email)),
    isComplete,
  );
  const rotations = new Map<string, readonly PasswordChange[]>();
  for (const { session, live, plan } of planned) {
    const rotated = rotatedMembers(session.state, live, targets, now);
    requireActive(session.state, rotated, targets, plan.merchant);
    const passwords = rotated.flatMap((member) => rotationOf(member, targets, live) ?? []);
    if (passwords.length > 0) rotations.set(plan.merchant, passwords);
  }
  return rotations;
}

/** Returns the members that a file lists as managed. */
function managedMembers({ members = [] }: Pick<DesiredState, "members">): readonly DesiredMember[] {
  return members.filter(({ managed }) => managed !== undefined);
}

/** Returns a test whether one of some addresses, or globs over them, matches an address. */
function addressMatcher(addresses: readonly string[]): (email: string) => boolean {
  const lowerCased = addresses.map((text) => text.toLowerCase());
  const exactly = new Set(lowerCased);
  const globs = lowerCased.filter((text) => !isLiteralGlob(text));
  const matches = globMatcher();
  return (email) => {
    const address = email.toLowerCase();
    return exactly.has(address) || globs.some((glob) => matches(glob, address));
  };
}

/** Throws RolecallError for an address or a glob that matches none of the managed members. */
function requireMatches(addresses: readonly string[], emails: readonly string[], isComplete = true): void {
  const stray = addresses.find((text) => !emails.some(addressMatcher([text])));
  if (stray === undefined) return;
  const what = isLiteralGlob(stray) ? "this address" : "an address that it matches";
  const who = isComplete ? "no file lists" : "no file of a merchant that could be planned lists";
  throw new RolecallError("usage", `--rotate-password ${oneLine(stray)}: ${who} ${what} as managed.`, {
    hint: !isComplete
      ? "First correct what prevents the other merchants from being planned."
      : isLiteralGlob(stray)
        ? 'Add "managed" with a "password_env" to the member in the file.'
        : "Check the pattern: it must match the whole address.",
  });
}

/** Throws RolecallError for a named member whose membership has ended, or has not begun, by the files. */
function requireActive(
  state: DesiredState,
  rotated: readonly RotatedMember[],
  { names }: RotationTargets,
  merchant: string,
): void {
  const active = new Set(rotated.map(({ member }) => member.email));
  const absent = managedMembers(state).find(({ email }) => names(email) && !active.has(email));
  if (absent) refuse(absent.email, `according to the files, it is not a member of ${merchant} now.`);
}

function rotationOf(
  rotated: RotatedMember,
  targets: RotationTargets,
  live: LiveState,
): PasswordChange | null {
  const { member } = rotated;
  const isNamed = targets.names(member.email);
  if (isLeftToName(rotated, targets) || (rotated.live === null && !isNamed)) return null;
  if (rotated.live === null) return refuse(member.email, `${live.merchant} has no such member: apply first.`);
  if (rotated.live.user?.type !== "managed_user")
    return refuse(member.email, `it is not a managed user at ${live.merchant}.`);
  return passwordChange({ ...rotated, live: rotated.live }, live);
}

function refuse(email: string, why: string): never {
  throw new RolecallError("usage", `--rotate-password ${oneLine(email)}: ${why}`, {
    hint: "Nothing was changed. Remove the option, or correct the file.",
  });
}

/** The shortest password in characters: Unicode code points, as a schema's `minLength` counts them. */
const SHORTEST_PASSWORD = 8;

/** A password that an apply needs, by the name of its environment variable. */
type NeededPassword = Pick<PasswordChange, "passwordEnv">;

/** Finds the password of a managed user by the name of its environment variable. */
export type Passwords = (variable: string) => string;

/** Looks up every needed password before the user is asked, so that none is missing part-way. */
export function passwordsFor(
  plans: readonly Plan[],
  rotations: readonly NeededPassword[],
  env: Io["env"],
): Passwords {
  const lengthOf = (variable: string): number => [...(env[variable] ?? "")].length;
  const created = plans.flatMap(passwordVariables);
  const rotated = rotations.map(({ passwordEnv }) => passwordEnv);
  const needed = [...new Set([...created, ...rotated])].sort();
  const secrets = needed.filter((name) => isSigningKey(name, env));
  if (secrets.length > 0) {
    throw new RolecallError(
      "password-missing",
      `${secrets.join(", ")} cannot be a password: ${secrets.length === 1 ? "it holds" : "these hold"} the key that signs records.`,
      { hint: "Specify another variable under password_env. Nothing was changed." },
    );
  }
  const keys = needed.filter((name) => isKey(env[name] ?? "") || name.startsWith("ROLECALL_API_KEY"));
  if (keys.length > 0) {
    // A file decides the variable, and the password goes to the service.
    throw new RolecallError(
      "password-missing",
      `${keys.join(", ")} cannot be a password: ${keys.length === 1 ? "it is" : "these are"} for an API key.`,
      { hint: "Specify another variable under password_env. Nothing was changed." },
    );
  }
  const unset = needed.filter((name) => lengthOf(name) === 0);
  const short = needed.filter((name) => lengthOf(name) > 0 && lengthOf(name) < SHORTEST_PASSWORD);
  // Nobody can type these at a login. A line break comes from a file that was not read with "$(< file)", U+FFFD from
  // bytes that are not UTF-8.
  const broken = needed.filter((name) => /[\p{Cc}\uFFFD]/u.test(env[name] ?? ""));
  const wrong = [
    ...(unset.length > 0 ? [`${firstOf(unset)} ${unset.length === 1 ? "is" : "are"} not set`] : []),
    ...(short.length > 0
      ? [
          `${firstOf(short)} ${short.length === 1 ? "has" : "have"} fewer than ${SHORTEST_PASSWORD} characters`,
        ]
      : []),
    ...(broken.length > 0
      ? [
          `${firstOf(broken)} ${broken.length === 1 ? "has" : "have"} a line break, a control character or invalid UTF-8`,
        ]
      : []),
  ];
  if (wrong.length > 0) {
    throw new RolecallError(
      "password-missing",
      `${purpose(created.length > 0, rotated.length > 0)} from the environment: ${wrong.join("; ")}.`,
      {
        hint: `Give each variable at least ${SHORTEST_PASSWORD} characters, on one line. Nothing was changed.`,
      },
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
  due: readonly { readonly plan: Plan; readonly passwords: readonly NeededPassword[] }[],
  io: Pick<Io, "env">,
): readonly UnplannedMerchant[] {
  return due.flatMap(({ plan, passwords }): readonly UnplannedMerchant[] => {
    try {
      passwordsFor([plan], passwords, io.env);
      return [];
    } catch (error) {
      return [{ status: "failed", merchant: plan.merchant, error: rolecallErrorOf(error) }];
    }
  });
}

/** Returns the codes of the merchants whose apply lacks a password; `addresses` are those of `--rotate-password`. */
export function lackingPasswords(
  planned: readonly RotationInput[],
  addresses: readonly string[],
  { env, now }: { readonly env: Io["env"]; readonly now: number },
): ReadonlySet<string> {
  const rotated = ({ session, live }: RotationInput): readonly RotatedMember[] =>
    addresses.length === 0 ? [] : rotatedMembers(session.state, live, rotationTargets(addresses), now);
  const due = planned.map((outcome) => ({
    plan: outcome.plan,
    passwords: rotated(outcome).map(({ member }) => member.managed),
  }));
  return new Set(withoutPasswords(due, { env }).map(({ merchant }) => merchant));
}
