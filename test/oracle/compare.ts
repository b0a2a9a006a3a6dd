import type { LiveState } from "../../src/model/live.ts";
import type { Change, Plan } from "../../src/model/plan.ts";
import type { Case, Data, World, WorldMember } from "./case.ts";
import { type Expected, expectedOf } from "./expected.ts";
import { refusedBy, shortages } from "./rules.ts";
import type { Made } from "./run-program.ts";
import { canonical, declaresIgnored, type Wanted, wantedOf } from "./wanted.ts";

/** Lists in what the program and the documents disagree. */
export function disagreements(one: Case, made: Made): readonly string[] {
  const wanted = wantedOf(one);
  if (wanted !== null && declaresIgnored(one)) {
    const isReported = made.plan === null && made.errors.every((code) => code === "ignored-entry");
    return isReported ? [] : [`files: expected ignored-entry, found ${made.errors.join(", ") || "no error"}`];
  }
  if (wanted === null || made.plan === null) {
    return (wanted === null) === (made.plan === null)
      ? []
      : [wanted === null ? "files: no error" : `files: ${made.errors.join(", ")}`];
  }
  const expected = expectedOf(wanted, one);
  const codes = [
    ...made.plan.findings.filter(({ severity }) => severity === "error").map(({ code }) => code),
    ...made.plan.refusals.map(({ code }) => code).filter((code) => /^(?:role|member)-/.test(code)),
  ];
  const isHeld = [...codes, ...expected.errors].every((code) => code === "role-still-held");
  // What still waits may hold a role that is to go.
  if (made.plan.deferred.length > 0 && isHeld) return [];
  if (expected.errors.size > 0 || codes.length > 0) {
    // Who still holds a role that goes is not known where something else is wrong.
    const known = (all: Iterable<string>): readonly string[] =>
      [...new Set(all)].filter((code) => isHeld || code !== "role-still-held").sort();
    return difference("errors", known(expected.errors), known(codes));
  }
  return [
    ...compareRefusals(wanted, expected, made.plan, made),
    ...compareChanges(expected, made.plan),
    ...(leavesNoOwner(expected) ? [] : [...compareResult(expected, made), ...compareDates(one, made)]),
  ];
}

/** The first day to come on which the files want something else of what is live is announced. */
function compareDates(one: Case, { after, plan, failures, dates }: Made): readonly string[] {
  if (after === null || plan === null || plan.deferred.length + failures.length > 0) return [];
  const world = worldOf(after);
  const changesAt = (now: number): number => {
    const wanted = wantedOf({ ...one, now });
    return wanted === null ? 0 : expectedOf(wanted, { world }).changes.size;
  };
  // Values that the service does not take from files differ for good.
  if (changesAt(one.now) > 0) return [];
  const first = momentsIn(one).find((moment) => moment > one.now && changesAt(moment) > 0);
  return first === undefined || dates.includes(first)
    ? []
    : [`dates: ${new Date(first).toISOString()} is missing`];
}

/** All moments that a date in the files may mean, the earliest first. */
function momentsIn({ files }: Case): readonly number[] {
  const texts = JSON.stringify(files).match(/\d{4}-\d\d-\d\d(?:T[^"]*)?/g) ?? [];
  const moments = texts.flatMap((text) => [Date.parse(text), Date.parse(text) + 24 * 3_600_000]);
  return [...new Set(moments)].sort((a, b) => a - b);
}

function worldOf({ roles, members }: LiveState): World {
  return {
    roles: roles
      .filter(({ predefined }) => !predefined)
      .map(({ id, name, description = "", permissions, metadata }) => ({
        id,
        name,
        description,
        permissions,
        metadata: metadata as Data,
      })),
    members: members.map(({ id, user, invite, roles: held, status, metadata }) => ({
      id,
      email: user?.email ?? invite?.email ?? null,
      roles: held,
      status: status as WorldMember["status"],
      type: (user?.type ?? "user") as WorldMember["type"],
      nickname: user?.nickname ?? null,
      mfa: user?.mfaOnLogin ?? false,
      disabledAt: null,
      metadata: metadata as Data,
    })),
  };
}

/** The service keeps the last owner whatever the file says. */
function leavesNoOwner({ members }: Expected): boolean {
  return !members.some(({ status, roles }) => status === "accepted" && roles.includes("role_owner"));
}

function compareResult(expected: Expected, made: Made): readonly string[] {
  return [
    ...(made.failures.length > 0 ? [`failed: ${made.failures.join("; ")}`] : []),
    ...(made.after === null || made.plan === null || made.plan.deferred.length > 0
      ? []
      : [...compareStates(expected, made.after), ...compareDue(made)]),
  ];
}

/**
 * Once everything is as the files say, only time brings more: all of it is due, but for passwords, old addresses and
 * invitations, and for what an expired invitation says, which gives nobody access. A managed user is not created, since
 * that needs a password, and a role may keep its last holder until then.
 */
function compareDue({ plan, failures, next }: Made): readonly string[] {
  const isSettled = failures.length === 0 && plan?.deferred.length === 0;
  if (next === null || !isSettled || next.whole.refusals.length + next.whole.deferred.length > 0) return [];
  if (next.whole.changes.some(createsManagedUser)) return [];
  const namesOf = ({ changes }: Plan): readonly string[] =>
    changes.flatMap((change) =>
      change.reason === "address-changed" ||
      (change.kind === "delete" && change.reason === "invitation-expired") ||
      (change.resource === "member" && change.kind === "update" && change.before.status === "expired")
        ? []
        : keyOf(change),
    );
  return difference("due", namesOf(next.whole), namesOf(next.due));
}

function createsManagedUser(change: Change): boolean {
  return change.resource === "member" && change.kind === "create" && change.after.managed !== null;
}

function difference(what: string, expected: unknown, found: unknown): readonly string[] {
  return canonical(expected) === canonical(found)
    ? []
    : [`${what}: expected ${canonical(expected)}, found ${canonical(found)}`];
}

function compareChanges(expected: Expected, plan: Plan): readonly string[] {
  const found = new Map(
    [...plan.changes, ...plan.deferred.map(({ change }) => change)].map((change) => [
      keyOf(change),
      shown(change, expected),
    ]),
  );
  return [...new Set([...expected.changes.keys(), ...found.keys()])].flatMap((key) =>
    difference(key, expected.changes.get(key), found.get(key)),
  );
}

/** A policy is `separate` in a plan, and `policy-separate` in a file. */
function compareRefusals(
  wanted: Wanted,
  expected: Expected,
  plan: Plan,
  { before, broken }: Made,
): readonly string[] {
  const predefined = new Map(
    before.roles.flatMap(({ id, predefined: own, permissions }) => (own ? [[id, permissions] as const] : [])),
  );
  const found = new Set([
    ...plan.refusals.map(({ code }) => code),
    ...broken.map((code) => NAMES[code] ?? code.replace("policy-", "")),
  ]);
  const expectedCodes = refusedBy(wanted, expected, predefined);
  if (plan.deferred.length > 0) {
    // While changes wait, more rules may be broken; all that the final state breaks refuse.
    const missing = [...expectedCodes].filter((code) => !COUNTS_CHANGES.has(code) && !found.has(code));
    const short = shortages(wanted, expected);
    const isExpected = plan.deferred.some(({ role }) => role === null)
      ? expected.outlook.some(({ isMoved }) => isMoved)
      : short.some(({ expects }) => expects);
    // Only what somebody else gets with a change that waits may be missing until then.
    const isFewer =
      (found.has("min-holders") || found.has("min-holders-wait")) &&
      short.every(({ expects }) => expects) &&
      !plan.deferred.some(({ change }) => givesRoles(change));
    return [
      ...(isFewer ? ["rule min-holders: found refused besides what waits"] : []),
      ...missing.map((code) => `rule ${code}: expected refused of what waits`),
      ...(isExpected ? [] : ["rule min-holders or previously: found deferred"]),
    ];
  }
  return [...new Set([...expectedCodes, ...found])].flatMap((code) =>
    expectedCodes.has(code) === found.has(code)
      ? []
      : [`rule ${code}: ${found.has(code) ? "found" : "expected"} refused`],
  );
}

function givesRoles({ kind, fields }: Change): boolean {
  return kind !== "delete" && fields.some((diff) => diff.field === "roles" && diff.added.length > 0);
}

/** Guards about the changes that are made now. */
const COUNTS_CHANGES: ReadonlySet<string> = new Set(["max-removals", "min-holders"]);

/** Policies whose diagnostic has another name. */
const NAMES: Readonly<Record<string, string>> = {
  "policy-email-domain": "email-domains",
  "policy-forbidden-permission": "forbid-permissions",
};

function keyOf({ kind, resource, id, name }: Change): string {
  return `${kind} ${resource} ${id ?? (resource === "member" ? name.toLowerCase() : name)}`;
}

function shown(change: Change, { finalNames }: Expected): object | null {
  if (change.after === null) return null;
  if (change.resource === "role") {
    const { name, description, permissions, metadata } = change.after;
    return { name, description: description ?? "", permissions: [...permissions].sort(), metadata };
  }
  const { roles, metadata, managed } = change.after;
  return {
    roles: roles
      .map(({ id, name }) => (id !== null && PREDEFINED.test(id) ? id : labelOf(id, name, finalNames)))
      .sort(),
    metadata,
    nickname: managed?.nickname ?? null,
  };
}

/** Tells roles with one name apart. */
function labelOf(id: string | null, name: string, labels: ReadonlyMap<string, string>): string {
  const label = labels.get(id ?? "");
  return label === `${name} #${id}` ? label : name;
}

const PREDEFINED = /^role_(?:owner|admin|manager|employee|accountant|cashier)$/;

function compareStates({ roles, members, live, finalNames }: Expected, after: LiveState): readonly string[] {
  const known = new Set([...live.roles, ...live.members].map(({ id }) => id));
  const idOf = (id: string): string | null => (known.has(id) ? id : null);
  const names = new Map(
    after.roles.map(({ id, name }) => [id, PREDEFINED.test(id) ? id : labelOf(id, name, finalNames)]),
  );
  const sorted = (list: readonly object[]): readonly string[] => list.map(canonical).sort();
  const foundRoles = after.roles
    .filter(({ predefined }) => !predefined)
    .map(({ id, name, description = "", permissions, metadata }) => ({
      id: idOf(id),
      name,
      description,
      permissions: [...permissions].sort(),
      metadata,
    }));
  const foundMembers = after.members.map(({ id, user, invite, roles: held, metadata, status }) => ({
    id: idOf(id),
    email: (user?.email ?? invite?.email)?.toLowerCase() ?? null,
    roles: held.map((role) => names.get(role) ?? role).sort(),
    metadata,
    status,
    nickname: user?.nickname ?? null,
  }));
  return [
    ...difference("live roles", sorted(roles), sorted(foundRoles)),
    ...difference("live members", sorted(members), sorted(foundMembers)),
  ];
}
