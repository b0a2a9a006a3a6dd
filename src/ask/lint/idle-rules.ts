import { addressesOf, matchesAny } from "../../kernel/diff/scope.ts";
import { lintOfCheck } from "../../kernel/rules/checks.ts";
import { lintOfFile } from "../../kernel/rules/every-rule.ts";
import { unmatchedPattern } from "../../kernel/rules/protect.ts";
import type { LintFacts, LintOfRule } from "../../kernel/rules/rule.ts";
import { listOf, textOf, valueAt } from "../../kernel/values/values.ts";
import { memoized } from "../../lib/memoized.ts";
import { counted } from "../../lib/text.ts";
import type { Check } from "../../model/desired.ts";
import {
  codesOf,
  type LintContext,
  type LintFinding,
  type LintMerchant,
  type LintRule,
  merchantsOf,
} from "./lint-context.ts";
import { knownPermissions } from "./role-rules.ts";

/** Finds patterns under `ignore` and in rules that match nothing, live or declared; only if all live ones are known. */
export function unmatchedPatterns(context: LintContext): readonly LintFinding[] {
  const ofIgnore = context.files.flatMap(({ file, fields }) =>
    (["roles", "members"] as const).flatMap((key) => {
      const merchants = merchantsOf(context, file);
      const names = factsOf(merchants, context)[key];
      if (merchants.length === 0 || names === null) return [];
      return listOf(valueAt(fields, ["ignore", key])).flatMap((entry, index): readonly LintFinding[] => {
        const text = textOf(entry);
        if (text === null || matchesAny([text], names, context.matches)) return [];
        const origin = { file, path: ["ignore", key, index] };
        return [{ ...unmatchedPattern(text, key), origin, merchants: codesOf(merchants) }];
      });
    }),
  );
  return [...ofIgnore, ...lintOfRules("unmatched-pattern")(context)];
}

/** Returns a rule of `lint` that reports what guards and policies find in their own settings. */
export function lintOfRules(code: LintOfRule["code"]): LintRule {
  return (context) =>
    context.files.flatMap(({ file, fields }) => {
      const merchants = merchantsOf(context, file);
      if (merchants.length === 0) return [];
      return lintOfFile(fields, factsOf(merchants, context)).flatMap(({ path, ...finding }) =>
        finding.code === code
          ? [
              {
                message: finding.message,
                hint: finding.hint,
                origin: { file, path },
                merchants: codesOf(merchants),
              },
            ]
          : [],
      );
    });
}

function factsOf(merchants: readonly LintMerchant[], { matches }: LintContext): LintFacts {
  const isLive = isAllLive(merchants);
  const most = mostMembers(merchants);
  return {
    roles: isLive ? merchants.flatMap(rolesOf) : null,
    members: isLive ? merchants.flatMap(membersOf) : null,
    // An ignored member may have an address that no file lists.
    addresses: merchants.every(isComplete)
      ? merchants.flatMap((merchant) => [...membersOf(merchant), ...merchant.state.ignore.members])
      : null,
    isLive,
    most: most === null ? null : { members: most, text: onlyMembers(most, merchants) },
    matches,
  };
}

function rolesOf({ state, live }: LintMerchant): readonly string[] {
  return [
    ...(live?.state.roles ?? []).flatMap(({ name, id }) => [name, id]),
    ...(state.roles ?? []).flatMap(({ name, id, previously = [] }) => [
      name,
      ...(id === undefined ? [] : [id]),
      ...previously,
    ]),
  ];
}

function membersOf({ state, live }: LintMerchant): readonly string[] {
  return [
    ...(live?.state.members ?? []).flatMap((member) => [member.id, ...addressesOf(member)]),
    ...(state.members ?? []).flatMap(({ email, id }) => [email, ...(id === undefined ? [] : [id])]),
  ];
}

/** Returns the greatest number of members of a merchant; `null` if the files do not list all. */
function mostMembers(merchants: readonly LintMerchant[]): number | null {
  const isKnown = merchants.every(
    (merchant) => isComplete(merchant) && (merchant.live || merchant.state.ignore.members.length === 0),
  );
  if (merchants.length === 0 || !isKnown) return null;
  return Math.max(...merchants.map(({ declared, live }) => (live?.access ?? declared).members.length));
}

function onlyMembers(count: number, merchants: readonly LintMerchant[]): string {
  return `${isAllLive(merchants) ? `there ${count === 1 ? "is" : "are"}` : "the files list"} only ${counted(count, "member")}`;
}

function isAllLive(merchants: readonly LintMerchant[]): boolean {
  return merchants.every(({ live }) => live !== null);
}

function isComplete({ declared, live }: LintMerchant): boolean {
  return live !== null || declared.complete;
}

/** Finds checks that cannot fail. */
export function idleChecks(context: LintContext): readonly LintFinding[] {
  const [universal, granted] = [memoized(universalRoles), memoized(grantedPermissions)];
  const factsOfFile = memoized((file: string) => {
    const merchants = merchantsOf(context, file);
    return { merchants, facts: factsOf(merchants, context) };
  });
  const checks = new Map<string, Check>();
  for (const { state } of context.merchants) {
    for (const check of [...state.checks, ...(state.enforced ?? []).flatMap((rules) => rules.checks)]) {
      checks.set(JSON.stringify(check.origin), check);
    }
  }
  return [...checks.values()].flatMap((check): readonly LintFinding[] => {
    const { origin } = check;
    const { merchants, facts } = factsOfFile(origin.file);
    if (merchants.length === 0) return [];
    const idle = lintOfCheck(check, {
      ...facts,
      isUngranted: (permission) =>
        merchants.every((merchant) => granted(merchant)?.has(permission) === false),
      isHeldByAll: (role) => merchants.every((merchant) => universal(merchant).has(role)),
    });
    if (idle === null) return [];
    const { path, ...said } = idle;
    return [
      { ...said, origin: { ...origin, path: [...origin.path, ...path] }, merchants: codesOf(merchants) },
    ];
  });
}

const FEWEST = 2;

function universalRoles(merchant: LintMerchant): ReadonlySet<string> {
  const { roles, members } = merchant.live?.access ?? merchant.declared;
  if (!isComplete(merchant) || members.length < FEWEST) return new Set();
  const holders = new Map<string, number>();
  for (const { held } of members)
    for (const { role } of held) holders.set(role, (holders.get(role) ?? 0) + 1);
  return new Set(
    roles.flatMap(({ key, name, id, previousNames }) =>
      holders.get(key) === members.length ? [name, ...(id === null ? [] : [id]), ...previousNames] : [],
    ),
  );
}

function grantedPermissions(merchant: LintMerchant): ReadonlySet<string> | null {
  const { declared, live, state } = merchant;
  const permissionsByRole = knownPermissions(merchant);
  const areAllDeclared =
    state.roles !== undefined && state.sync.roles === "authoritative" && state.ignore.roles.length === 0;
  const isKnown =
    (live !== null || (areAllDeclared && declared.members.every((member) => member.rolesKnown))) &&
    declared.roles.every(({ key }) => permissionsByRole.has(key));
  if (!isKnown) return null;
  const liveLists = (live?.access.roles ?? []).map(({ permissions }) => permissions ?? []);
  return new Set([...permissionsByRole.values(), ...liveLists].flatMap((permissions) => [...permissions]));
}
