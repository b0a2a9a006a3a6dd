import { addressesOf, matchesAny } from "../../kernel/diff/scope.ts";
import { counted, quoted } from "../../lib/text.ts";
import type { Check, Origin } from "../../model/desired.ts";
import type { LintSetting } from "../../model/questions.ts";
import {
  codesOf,
  type LintContext,
  type LintFinding,
  type LintMerchant,
  merchantsOf,
} from "./lint-context.ts";
import { knownPermissions } from "./role-rules.ts";

/** Finds patterns under `ignore` and `guards.protect` that match nothing, live or declared; only where all is live. */
export function unmatchedPatterns(context: LintContext): readonly LintFinding[] {
  return eachSetting(context, ({ kind, text }, merchants) => {
    if (!isAllLive(merchants)) return null;
    const isRole = kind === "ignored-role" || kind === "protected-role";
    if (!isRole && kind !== "ignored-member" && kind !== "protected-member") return null;
    const names = merchants.flatMap((merchant) => (isRole ? rolesOf(merchant) : membersOf(merchant)));
    if (matchesAny([text], names, context.matches)) return null;
    const what = isRole ? "role" : "member";
    return {
      message: `${quoted(text)} matches no ${what}, live or declared.`,
      hint: "Check the spelling, or remove it if nothing of this kind will come.",
    };
  });
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

/** Finds allowed domains of which nobody has an address. */
export function unusedDomains(context: LintContext): readonly LintFinding[] {
  return eachSetting(context, ({ kind, text }, merchants) => {
    if (kind !== "email-domain" || !merchants.every(isComplete)) return null;
    const domain = text.toLowerCase();
    const isUsed = merchants
      // An ignored member may have an address that no file lists.
      .flatMap((merchant) => [...membersOf(merchant), ...merchant.state.ignore.members])
      .map((address) => address.toLowerCase().replace(/^.*@/s, ""))
      .some((used) => (domain.startsWith("*.") ? used.endsWith(domain.slice(1)) : used === domain));
    if (isUsed) return null;
    return {
      message: `No member${isAllLive(merchants) ? "" : " of the files"} has an address of ${quoted(text)}, which is allowed.`,
      hint: "Remove it from the list, so that nobody can be invited there by mistake.",
    };
  });
}

/** Finds guards that refuse no plan. */
export function idleGuards(context: LintContext): readonly LintFinding[] {
  return eachSetting(context, ({ kind, text, count }) => {
    if (kind === "max-removals") {
      const [, percent] = /^(\d+)\s*%$/.exec(text) ?? [];
      if (percent === undefined || Number(percent) < 100) return null;
      return {
        message: `A limit of ${text} lets a plan remove everything.`,
        hint: "Set a share such as 25%, and override a single plan that has to remove more.",
      };
    }
    if (kind !== "min-holders" || count !== 0) return null;
    return {
      message: `A minimum of 0 holders never keeps anybody in ${quoted(text)}.`,
      hint: "Set 1 or more, or remove the line.",
    };
  });
}

/** Finds limits of holders that nobody can exceed, as there are not so many members. */
export function idlePolicies(context: LintContext): readonly LintFinding[] {
  return eachSetting(context, ({ kind, text, count }, merchants) => {
    const most = mostMembers(merchants);
    if (kind !== "max-holders" || count === null || most === null || count < most) return null;
    return {
      message: `At most ${count} may hold ${quoted(text)}, and ${onlyMembers(most, merchants)}.`,
      hint: "Set a limit that says how many should hold it.",
    };
  });
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
  const checks = new Map<string, Check>();
  for (const { state } of context.merchants) {
    for (const check of [...state.checks, ...(state.enforced ?? []).flatMap((rules) => rules.checks)]) {
      checks.set(JSON.stringify(check.origin), check);
    }
  }
  return [...checks.values()].flatMap((check): readonly LintFinding[] => {
    const merchants = merchantsOf(context, check.origin.file);
    const idle = merchants.length === 0 ? null : idleCheck(check, merchants);
    return idle === null ? [] : [{ ...idle, merchants: codesOf(merchants) }];
  });
}

function idleCheck(
  check: Check,
  merchants: readonly LintMerchant[],
): (Pick<LintFinding, "message" | "hint"> & { readonly origin: Origin }) | null {
  const { origin } = check;
  const place = (...keys: readonly (string | number)[]): Origin => ({
    ...origin,
    path: [...origin.path, ...keys],
  });
  switch (check.kind) {
    case "at-most": {
      const most = mostMembers(merchants);
      if (most === null || check.atMost < most) return null;
      return {
        message: `At most ${check.atMost} may use ${check.can}, and ${onlyMembers(most, merchants)}.`,
        hint: "Set a limit that says how many should have it.",
        origin: place("at_most"),
      };
    }
    case "only": {
      // Permissions of predefined roles are not in the files, and nobody has to hold these roles.
      if (isAllLive(merchants) && isUngranted(check.can, merchants)) {
        return { message: ungranted(check.can), hint: "Check the spelling.", origin: place("can") };
      }
      const index = check.only.findIndex((entry) => isHeldByAll(entry, merchants));
      if (index < 0) return null;
      return {
        message: `Everybody holds ${quoted(check.only[index]?.slice(ROLE_PREFIX.length) ?? "")}, so that anybody may use ${check.can}.`,
        hint: "List the roles or people who should have it.",
        origin: place("only", index),
      };
    }
    case "cannot": {
      const index = check.cannot.findIndex((permission) => isUngranted(permission, merchants));
      if (index < 0) return null;
      return {
        message: ungranted(check.cannot[index] ?? ""),
        hint: "Check the spelling.",
        origin: place("cannot", index),
      };
    }
    default:
      return check satisfies never;
  }
}

function ungranted(permission: string): string {
  return `No role grants ${permission}, so that nobody has it.`;
}

const ROLE_PREFIX = "role:";
const FEWEST = 2;

function isHeldByAll(entry: string, merchants: readonly LintMerchant[]): boolean {
  if (!entry.startsWith(ROLE_PREFIX)) return false;
  const name = entry.slice(ROLE_PREFIX.length);
  return merchants.every((merchant) => {
    const { roles, members } = merchant.live?.access ?? merchant.declared;
    const role = roles.find(
      (candidate) =>
        candidate.name === name || candidate.id === name || candidate.previousNames.includes(name),
    );
    return (
      role !== undefined &&
      isComplete(merchant) &&
      members.length >= FEWEST &&
      members.every(({ held }) => held.some((heldRole) => heldRole.role === role.key))
    );
  });
}

/** Returns whether no role grants a permission, at merchants whose roles are all known. */
function isUngranted(permission: string, merchants: readonly LintMerchant[]): boolean {
  return merchants.every((merchant) => {
    const { declared, live, state } = merchant;
    const permissionsByRole = knownPermissions(merchant);
    const lists = [
      ...permissionsByRole.values(),
      ...(live?.access.roles ?? []).map((role) => new Set(role.permissions)),
    ];
    const areAllDeclared =
      state.roles !== undefined && state.sync.roles === "authoritative" && state.ignore.roles.length === 0;
    return (
      (live !== null || (areAllDeclared && declared.members.every((member) => member.rolesKnown))) &&
      declared.roles.every(({ key }) => permissionsByRole.has(key)) &&
      lists.every((permissions) => !permissions.has(permission))
    );
  });
}

/** Returns what a test finds of the settings, at the merchants that each holds for. */
function eachSetting(
  context: LintContext,
  find: (
    setting: LintSetting,
    merchants: readonly LintMerchant[],
  ) => Pick<LintFinding, "message" | "hint"> | null,
): readonly LintFinding[] {
  return context.settings.flatMap((setting) => {
    const merchants = merchantsOf(context, setting.origin.file);
    const finding = merchants.length === 0 ? null : find(setting, merchants);
    return finding === null ? [] : [{ ...finding, origin: setting.origin, merchants: codesOf(merchants) }];
  });
}
