import type {
  DesiredMember,
  DesiredRole,
  DesiredState,
  EnforcedRules,
  From,
  Grant,
  Leaver,
  ManagedUser,
  Origin,
  Suspension,
  Until,
} from "../../model/desired.ts";
import type { Breach, DeclaredAccess, Judging } from "../../model/diagnostic.ts";
import type { ManagedProperties, MemberProperties, RoleImage } from "../../model/field-values.ts";
import type { LocatedProblem } from "../problems/problem.ts";
import { isError } from "../problems/rule-table.ts";
import type { MerchantFile } from "../schema/merchant-schema.ts";
import { currentAddresses, type RawFile, renamedRoles } from "../schema/raw-file.ts";
import { adjustedPermissions } from "../validate/adjustments.ts";
import {
  enforcedRules,
  normaliseChecks,
  normaliseGuards,
  normalisePatterns,
  normalisePolicies,
  normaliseSync,
  sharedRuleNames,
  type ValidFile,
} from "../validate/desired-settings.ts";
import { breachProblems, readableContent } from "../validate/judging.ts";
import { checkMerchant } from "../validate/merchant-rules.ts";
import { createRuleContext, type RuleContext } from "../validate/rule-context.ts";
import { parseFrom, parseUntil } from "../values/dates.ts";
import { omitUndefined, unique } from "../values/values.ts";
import { checkEnforced, enforcedBreaches, enforcedFiles } from "./check-enforced.ts";
import type { Enforcement, RulesFile } from "./load-project.ts";
import type { ResolveInclude, SourceFile } from "./load-sources.ts";
import { type IncludeGraph, resolveIncludes } from "./resolve-includes.ts";

/** The result of combining a merchant's file with its includes. */
export interface BuiltMerchant {
  readonly main: SourceFile;
  /** `null` if any of the files has an error. */
  readonly state: DesiredState | null;
  /** Problems between the files, without those of each source. */
  readonly problems: readonly LocatedProblem[];
  readonly sources: readonly SourceFile[];
  /** The files of the rules that are enforced on it. */
  readonly bound: readonly string[];
}

/** Combines a merchant's file with its includes into the desired state, under the rules that apply to it. */
export function buildDesiredState(
  main: SourceFile,
  resolve: ResolveInclude,
  judging: Judging,
  enforcements: readonly Enforcement[] = [],
): BuiltMerchant {
  const joined = resolveIncludes(main, resolve);
  const { sources, complete } = joined;
  const rawFiles = sources.flatMap(({ raw }) => (raw === null ? [] : [raw]));
  const settings = enforcedFiles(enforcements.filter(({ by }) => by === undefined));
  const enforced = settings.flatMap((setting) => setting.rawFiles);
  const merchant = createRuleContext({ main: main.file, rawFiles, enforced, complete, now: judging.now });
  const unjudged = [
    ...missingMerchant(main),
    ...joined.problems,
    ...checkMerchant(merchant),
    ...checkEnforced(merchant, enforcements),
  ];
  const failed = [...unjudged, ...sources.flatMap((source) => source.problems)].some(isError);
  const isBroken = failed || !complete || enforcements.some((enforcement) => enforcement.broken);
  const state = isBroken ? null : stateOf(joined, enforcements);
  const broken = judged(state ?? readableState(main, rawFiles), merchant, enforcements, judging);
  const problems = [...unjudged, ...broken].map((problem) =>
    problem.location.file === main.file ? problem : { ...problem, via: main.file },
  );
  const bound = enforcedFiles(enforcements).flatMap(({ rules }) => rules.files);
  return { main, state: broken.some(isError) ? null : state, problems, sources, bound };
}

/** Judges declarations by their own policies and checks, and by each of the enforced rules. */
function judged(
  declared: DeclaredAccess | null,
  merchant: RuleContext,
  enforcements: readonly Enforcement[],
  { judge, now }: Judging,
): readonly LocatedProblem[] {
  if (declared === null) return [];
  const breaches = judge(declared, now);
  const rules = rulesFor(merchant.renamed, enforcements);
  const enforced = rules.map((rule) => ({
    file: rule.file,
    breaches: judge(
      {
        ...declared,
        policies: rule.rules.policies,
        checks: rule.rules.checks,
        enforcedBy: rule.rules.files[0],
      },
      now,
    ),
  }));
  if (breaches === null || enforced.some(({ breaches }) => breaches === null)) {
    return [{ code: "too-much-to-judge", location: { at: "first-key", file: merchant.main, path: [] } }];
  }
  // A file that includes the rules breaks them only once.
  const keyOf = ({ code, message }: Breach): string => JSON.stringify([code, message]);
  const enforcedKeys = new Set(enforced.flatMap(({ breaches }) => (breaches ?? []).map(keyOf)));
  return [
    ...breachProblems(
      breaches.filter((breach) => !enforcedKeys.has(keyOf(breach))),
      merchant,
    ),
    ...enforced.flatMap(({ breaches, file }) => enforcedBreaches(breaches ?? [], file, merchant)),
  ];
}

/** Returns the rules that are enforced on a merchant's file, with the current names of its roles by their previous ones. */
function rulesFor(
  renamed: ReadonlyMap<string, string>,
  enforcements: readonly Enforcement[],
): readonly { readonly file: RulesFile; readonly rules: EnforcedRules }[] {
  const currentName = (role: string): string => renamed.get(role) ?? role;
  return enforcedFiles(enforcements).map((file) => {
    const { contents, rules } = file;
    return {
      file,
      rules: renamed.size === 0 ? rules : enforcedRules(contents, rules.files, rules.by, currentName),
    };
  });
}

/**
 * Returns the readable part of files with errors, so that it can be judged, too: one mistake must not hide the others.
 */
function readableState({ file }: SourceFile, rawFiles: readonly RawFile[]): DeclaredAccess | null {
  const contents = rawFiles.map(readableContent);
  const ownContent = contents.find((content) => content.file === file);
  return ownContent === undefined ? null : normalise(ownContent, contents, []);
}

function stateOf({ main, sources }: IncludeGraph, enforcements: readonly Enforcement[]): DesiredState | null {
  const contents = sources.flatMap(({ file, content }) => (content === null ? [] : [{ file, content }]));
  const ownContent = contents.find(({ file }) => file === main.file);
  return ownContent === undefined || contents.length < sources.length
    ? null
    : normalise(ownContent, contents, enforcements);
}

/** Reports a missing merchant code, unless a misspelt key has been reported. */
function missingMerchant({ file, raw, problems }: SourceFile): readonly LocatedProblem[] {
  const missing = raw !== null && !Object.hasOwn(raw.fields, "merchant");
  const misspelt = problems.some(
    (problem) => problem.code === "unknown-key" && problem.path.length === 0 && problem.near === "merchant",
  );
  // A file that is not a mapping has no keys.
  const shapeless = problems.some((problem) => problem.code === "wrong-type" && problem.path.length === 0);
  return missing && !misspelt && !shapeless
    ? [{ code: "missing-key", key: "merchant", path: [], location: { at: "first-key", file, path: [] } }]
    : [];
}

/** Combines a merchant's file and its includes, all without errors, into the desired state. */
function normalise(
  main: ValidFile,
  validFiles: readonly ValidFile[],
  enforcements: readonly Enforcement[],
): DesiredState | null {
  const { version, merchant, environment: _environment, api = {}, include, ...sections } = main.content;
  if (merchant === undefined) {
    return null;
  }
  version satisfies 1;
  include satisfies readonly string[] | undefined;
  const {
    sync,
    ignore,
    guards,
    policies,
    checks,
    roles,
    members: _members,
    leavers: _leavers,
    ...rest
  } = sections;
  rest satisfies Record<string, never>;
  const { base_url: baseUrl, key_env: keyEnv, ...restOfApi } = api;
  restOfApi satisfies Record<string, never>;
  const included = joined(validFiles, ({ file, content }) =>
    content.roles?.flatMap((role, index) =>
      role.adjust === undefined ? [normaliseRole(role, { file, path: ["roles", index] })] : [],
    ),
  );
  const renamed = renamedRoles(included ?? []);
  const currentName = (role: string): string => renamed.get(role) ?? role;
  const enforced = rulesFor(renamed, enforcements).map(({ rules }) => rules);
  const ownEnforcements = enforcements.filter(({ by }) => by === undefined);
  // Files agree with the settings of enforced rules, and the leavers of those rules count.
  const settings = [...validFiles, ...enforcedFiles(ownEnforcements).flatMap(({ contents }) => contents)];
  const declared = included && adjustRoles(included, main, currentName);
  const members = normaliseMembers(validFiles);
  return omitUndefined({
    merchant,
    // Files agree on it.
    environment: validFiles.find(({ content }) => content.environment !== undefined)?.content.environment,
    baseUrl,
    keyEnv,
    sync: normaliseSync(settings),
    ignore: normalisePatterns(settings.map(({ content }) => content.ignore)),
    guards: normaliseGuards(validFiles, currentName),
    policies: normalisePolicies(validFiles, currentName),
    enforced: enforced.length === 0 ? undefined : enforced,
    projects: enforcements.length === 0 ? undefined : enforcements.map(({ settings }) => settings),
    allowed: allowedSections(ownEnforcements),
    sharedRuleNames: sharedRuleNames(main, validFiles)?.map(currentName),
    included:
      validFiles.length > 1 ? validFiles.flatMap(({ file }) => (file === main.file ? [] : file)) : undefined,
    checks: normaliseChecks(validFiles, currentName),
    roles: declared,
    members: renamed.size === 0 ? members : members?.map(withCurrentNames),
    leavers: normaliseLeavers(settings, members),
    origin: { file: main.file, path: [] },
  });

  function withCurrentNames(member: DesiredMember): DesiredMember {
    if (!member.roles?.some(({ role }) => renamed.has(role))) return member;
    return {
      ...member,
      roles: uniqueGrants(
        member.roles.map((grant) => ({ ...grant, role: currentName(grant.role) })),
        member.origin,
      ),
    };
  }
}

/** Returns the sections that every entry allows; undefined if none limits them. */
function allowedSections(enforcements: readonly Enforcement[]): readonly string[] | undefined {
  const [first, ...more] = enforcements.flatMap(({ entries }) =>
    entries.flatMap(({ allow }) => (allow === null ? [] : [allow.sections])),
  );
  return first?.filter((section) => more.every((sections) => sections.includes(section)));
}

type FileRole = NonNullable<MerchantFile["roles"]>[number];

/** Applies the adjustments of a merchant's own file to the roles that it includes. */
function adjustRoles(
  roles: readonly DesiredRole[],
  { file, content }: ValidFile,
  currentName: (role: string) => string,
): readonly DesiredRole[] {
  const adjustments = new Map(
    (content.roles ?? []).flatMap(({ name, adjust }, index) =>
      adjust === undefined ? [] : [[currentName(name), { adjust, path: ["roles", index] }] as const],
    ),
  );
  if (adjustments.size === 0) return roles;
  return roles.map((role) => {
    const adjustment = adjustments.get(role.name);
    if (adjustment === undefined || role.permissions === undefined || role.origin.file === file) return role;
    const permissions = adjustedPermissions(role.permissions, adjustment.adjust);
    return { ...role, permissions, adjusted: { file, path: adjustment.path } };
  });
}

/** All of these fields are in a table; any other key has to be handled. */
type Fields<Rest, Values> = {
  readonly [Key in keyof Rest]: Key extends keyof Values ? NonNullable<Values[Key]> | undefined : never;
};

function normaliseRole(role: FileRole, origin: Origin): DesiredRole {
  const { adjust, previously, permissions, id, ...fields } = role;
  adjust satisfies object | undefined;
  fields satisfies Fields<typeof fields, RoleImage>;
  return omitUndefined({
    ...fields,
    id,
    permissions: permissions && unique(permissions),
    previously: previousNames(previously),
    origin,
  });
}

function previousNames(previously: FileRole["previously"]): readonly string[] | undefined {
  const names = typeof previously === "string" ? [previously] : unique(previously ?? []);
  return names.length === 0 ? undefined : names;
}

type FileMember = NonNullable<MerchantFile["members"]>[number];

/** Combines members by address: roles add up across files, and all other fields agree. */
function normaliseMembers(validFiles: readonly ValidFile[]): readonly DesiredMember[] | undefined {
  const entries = joined(validFiles, ({ file, content }) =>
    content.members?.map((member, index) => normaliseMember(member, { file, path: ["members", index] })),
  );
  if (entries === undefined) {
    return undefined;
  }
  if (validFiles.length === 1) {
    // A single file has no duplicates: those are errors.
    return entries;
  }
  const members = new Map<string, DesiredMember>();
  const renamed = currentAddresses(
    entries.map(({ email, previously = [], origin }) => ({
      file: origin.file,
      address: email.toLowerCase(),
      previously: previously.map((address) => address.toLowerCase()),
    })),
  );
  for (const entry of entries) {
    const ownAddress = entry.email.toLowerCase();
    const key = renamed.get(ownAddress) ?? ownAddress;
    const earlier = members.get(key);
    members.set(key, earlier === undefined ? entry : joinMembers(earlier, entry, key));
  }
  return [...members.values()];
}

function joinMembers(first: DesiredMember, second: DesiredMember, address: string): DesiredMember {
  const { email } = first.email.toLowerCase() === address ? first : second;
  const roles =
    first.roles === undefined && second.roles === undefined
      ? {}
      : { roles: uniqueGrants([first, second].flatMap(locatedGrants), first.origin) };
  // An entry without roles takes its location from the merchant's own file, which comes last.
  const origin = first.roles === undefined ? { origin: second.origin } : {};
  const setAt = {
    ...fieldSetAt("until", first, second),
    ...fieldSetAt("suspended", first, second),
  };
  const located = Object.keys(setAt).length === 0 ? {} : { setAt };
  return { ...second, ...first, email, ...roles, ...origin, ...located };
}

/** Returns the location of a field in the first of two entries that sets it, if there is one. */
function fieldSetAt(
  field: "until" | "suspended",
  first: DesiredMember,
  second: DesiredMember,
): NonNullable<DesiredMember["setAt"]> {
  const setting = [first, second].find((entry) => entry[field] !== undefined);
  return setting === undefined ? {} : { [field]: setting.setAt?.[field] ?? setting.origin };
}

function normaliseMember(member: FileMember, origin: Origin): DesiredMember {
  const { email, id, previously, roles, from, until, suspended, reinvite, managed, ...fields } = member;
  fields satisfies Fields<typeof fields, MemberProperties>;
  return omitUndefined({
    email,
    origin,
    ...fields,
    id,
    previously: previousNames(previously),
    roles: roles && uniqueGrants(roles.map(normaliseGrant), origin),
    from: asFrom(from),
    until: asUntil(until),
    suspended: suspended ? normaliseSuspension(suspended === true ? {} : suspended) : undefined,
    reinvite,
    managed: managed && normaliseManaged(managed),
  });
}

function normaliseGrant(grant: NonNullable<FileMember["roles"]>[number]): Grant {
  if (typeof grant === "string") {
    return { role: grant };
  }
  const { role, from, until, ...rest } = grant;
  rest satisfies Record<string, never>;
  return omitUndefined({ role, from: asFrom(from), until: asUntil(until) });
}

function normaliseSuspension(suspended: {
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}): Suspension {
  const { from, until, ...rest } = suspended;
  rest satisfies Record<string, never>;
  return omitUndefined({ from: asFrom(from), until: asUntil(until) });
}

function normaliseManaged(managed: NonNullable<FileMember["managed"]>): ManagedUser {
  const { password_env: passwordEnv, ...fields } = managed;
  fields satisfies Fields<typeof fields, ManagedProperties>;
  return omitUndefined({ ...fields, passwordEnv });
}

/**
 * Combines the leavers of all files; of several entries for one address the earliest counts. A person leaves under all
 * addresses of the member's entry, current and previous.
 */
function normaliseLeavers(
  validFiles: readonly ValidFile[],
  members: readonly DesiredMember[] = [],
): readonly Leaver[] | undefined {
  const byAddress = new Map<string, Leaver>();
  for (const { file, content } of validFiles) {
    for (const [index, { email, from: text, ...rest }] of (content.leavers ?? []).entries()) {
      rest satisfies Record<string, never>;
      const from = asFrom(text);
      const earlier = byAddress.get(email.toLowerCase());
      if (from === undefined || (earlier !== undefined && earlier.from.starts <= from.starts)) continue;
      byAddress.set(email.toLowerCase(), { email, from, origin: { file, path: ["leavers", index] } });
    }
  }
  if (byAddress.size === 0) return undefined;
  for (const { email, previously = [] } of members) {
    if (previously.length === 0) continue;
    const addresses = [email, ...previously];
    const [first] = addresses
      .flatMap((address) => byAddress.get(address.toLowerCase()) ?? [])
      .sort((a, b) => a.from.starts - b.from.starts);
    if (first === undefined) continue;
    for (const address of addresses) byAddress.set(address.toLowerCase(), { ...first, email: address });
  }
  return [...byAddress.values()];
}

/** Parses a beginning that the schema has accepted. */
function asFrom(text: string | undefined): From | undefined {
  return text === undefined ? undefined : (parseFrom(text) ?? undefined);
}

/** Parses an end that the schema has accepted. */
function asUntil(text: string | undefined): Until | undefined {
  return text === undefined ? undefined : (parseUntil(text) ?? undefined);
}

/** Concatenates a list of all files; `undefined` if no file has it. */
function joined<T>(
  validFiles: readonly ValidFile[],
  pick: (content: ValidFile) => readonly T[] | undefined,
): readonly T[] | undefined {
  const lists = validFiles.flatMap((each) => {
    const list = pick(each);
    return list === undefined ? [] : [list];
  });
  return lists.length === 0 ? undefined : lists.flat();
}

/** Removes repeated grants of a role from an entry at `entry`; the first one has the locations of all. */
function uniqueGrants(grants: readonly Grant[], entry: Origin): readonly Grant[] {
  if (new Set(grants.map(({ role }) => role)).size === grants.length) {
    return grants;
  }
  const firsts = new Map<string, Grant & { readonly origins: Origin[] }>();
  for (const grant of locatedGrants({ roles: grants, origin: entry })) {
    const first = firsts.get(grant.role);
    const origins = grant.origins ?? [];
    if (first === undefined) firsts.set(grant.role, { ...grant, origins: [...origins] });
    else first.origins.push(...origins);
  }
  return [...firsts.values()];
}

/** Returns an entry's grants with their locations, which they need where they leave the entry. */
function locatedGrants({ roles = [], origin }: Pick<DesiredMember, "roles" | "origin">): readonly Grant[] {
  return roles.map((grant, index) =>
    grant.origins === undefined
      ? { ...grant, origins: [{ file: origin.file, path: [...origin.path, "roles", index] }] }
      : grant,
  );
}
