import type {
  DesiredState,
  From,
  IgnorePatterns,
  ProjectSettings,
  RulesAcross,
  RunLimits,
  Suspension,
  SyncOptions,
  Until,
} from "../../model/desired.ts";
import type { GlobMatch } from "../diff/scope.ts";
import { entriesByAddress } from "../values/person.ts";
import { pinnedIds } from "./access.ts";
import { withRulesOf } from "./base-rules.ts";
import { looserChecks } from "./checks.ts";
import { guardsOfRun, looserGuards, looserPolicies } from "./every-rule.ts";
import { matchedBy } from "./protect.ts";
import { currentNameIn } from "./renamed-roles.ts";
import type { LooserContext } from "./rule.ts";
import { NO_POLICIES } from "./settings/every-setting.ts";
import { DEFAULT_SENSITIVE } from "./settings/sensitive.ts";

/** The subjects of loosenings, in the order of reports. */
const TOPICS = [
  "guards",
  "policies",
  "checks",
  "rules across merchants",
  "enforced rules",
  "sync",
  "ignore",
  "managed",
  "end dates",
  "service",
] as const;

export type LooseningTopic = (typeof TOPICS)[number];

/** A rule that is looser in one state of a merchant's files than in another, as a text. */
export interface Loosening {
  readonly topic: LooseningTopic;
  readonly text: string;
}

/** Both states that are compared. */
interface Compared extends LooserContext {
  readonly base: DesiredState;
  readonly head: DesiredState;
}

/** Describes how one value is looser than another. */
type Looser<Value> = (before: Value, after: Value, compared: Compared) => readonly string[];

/** For each value of a record, how it can be looser, by topic; most values cannot be. */
type LooserIn<Values> = {
  readonly [Key in keyof Required<Values>]: { readonly [Topic in LooseningTopic]?: Looser<Values[Key]> };
};

const IN_STATE: LooserIn<DesiredState> = {
  guards: { guards: looserGuards },
  policies: { policies: looserPolicies },
  checks: { checks: looserChecks },
  enforced: { "enforced rules": looserEnforced },
  allowed: { "enforced rules": newlyAllowed },
  sync: { sync: looserSync },
  ignore: { ignore: newlyIgnored },
  roles: { managed: unmanagedRoles },
  leavers: { "end dates": laterLeavers },
  members: { managed: unmanagedMembers, "end dates": laterEnds },
  environment: {
    service: (before, after) => (before === undefined ? [] : other("environment:", before, after)),
  },
  baseUrl: { service: (before, after) => other("api.base_url:", before, after) },
  keyEnv: { service: (before, after) => other("api.key_env:", before, after) },
  // The head branch's projects are compared separately.
  projects: {},
  merchant: {},
  origin: {},
  included: {},
  sharedRuleNames: {},
  rolesElsewhere: {},
  reviewedEnds: {},
};

const IN_PROJECT: LooserIn<ProjectSettings> = {
  run: { guards: looserRun },
  sensitive: {
    guards: (before, after) => lessSensitive(before ?? DEFAULT_SENSITIVE, after ?? DEFAULT_SENSITIVE),
  },
  across: { "rules across merchants": looserAcross },
  liveBranch: {
    sync: (before, after) =>
      before !== undefined && after === undefined
        ? ["members who have left by themselves are invited again (no live_branch)"]
        : [],
  },
  // A plan shows the role that gets such a permission.
  permissions: {},
  by: {},
};

/** Returns the rules that are looser in a merchant's files on the head branch than on the base branch. */
export function looseningsOf(
  base: DesiredState,
  head: DesiredState,
  matches: GlobMatch,
): readonly Loosening[] {
  const compared = { matches, nameOf: currentNameIn(head, base), base, head };
  const { guards, policies, checks } = withRulesOf(base, head);
  return TOPICS.flatMap((topic) =>
    [
      // The head branch's own rules may also name a role by its previous name.
      ...looserIn(IN_STATE, topic, { ...base, guards, policies, checks }, withRulesOf(head, head), compared),
      ...looserIn(IN_PROJECT, topic, projectOf(base), projectOf(head), compared),
    ].map((text) => ({ topic, text })),
  );
}

function looserIn<Values>(
  table: LooserIn<Values>,
  topic: LooseningTopic,
  before: Values,
  after: Values,
  compared: Compared,
): readonly string[] {
  const keys = Object.keys(table) as unknown as readonly (keyof Values)[];
  return keys.flatMap((key) => table[key][topic]?.(before[key], after[key], compared) ?? []);
}

function projectOf({ projects = [] }: DesiredState): ProjectSettings {
  return projects.find(({ by }) => by === undefined) ?? {};
}

/** Describes how the limits of a run are looser. */
function looserRun(before: RunLimits | undefined, after: RunLimits | undefined): readonly string[] {
  return guardsOfRun().flatMap(({ name, ofRun }) =>
    ofRun
      .looser(before?.[name] ?? ofRun.default, after?.[name] ?? ofRun.default)
      .map((text) => `${text} in a run`),
  );
}

function lessSensitive(before: readonly string[], after: readonly string[]): readonly string[] {
  return [
    ...before.filter((glob) => !glob.startsWith("!") && !after.includes(glob)),
    ...after.flatMap((glob) => (glob.startsWith("!") && !before.includes(glob) ? [glob.slice(1)] : [])),
  ].map((glob) => `permissions that match ${glob} are no longer sensitive`);
}

function looserAcross(
  before: RulesAcross | undefined,
  after: RulesAcross | undefined,
  context: LooserContext,
): readonly string[] {
  if (before === undefined) return [];
  return [
    ...looserPolicies(before.policies, after?.policies ?? NO_POLICIES, context),
    ...looserChecks(before.checks, after?.checks ?? []),
  ].map((text) => `${text} (across merchants)`);
}

/** Describes how the rules that the project enforces are looser. */
function looserEnforced(
  before: DesiredState["enforced"],
  after: DesiredState["enforced"],
  { head, ...context }: Compared,
): readonly string[] {
  const [ownBefore, ownAfter] = [before, after].map((sets = []) => sets.filter(({ by }) => by === undefined));
  return (ownBefore ?? []).flatMap((former) => {
    const [file] = former.files;
    const current = ownAfter?.find((candidate) => candidate.files[0] === file);
    if (current === undefined) return [`the rules of ${file} are no longer enforced`];
    const [was, is] = [withRulesOf(former, head), withRulesOf(current, head)];
    return [
      ...looserGuards(was.guards, is.guards, context),
      ...looserPolicies(was.policies, is.policies, context),
      ...looserChecks(was.checks, is.checks),
    ].map((text) => `${text} (${file})`);
  });
}

/** Returns the sections that a project newly allows. */
function newlyAllowed(before: DesiredState["allowed"], after: DesiredState["allowed"]): readonly string[] {
  if (before === undefined) return [];
  if (after === undefined) return ["the file may have any section"];
  const sections = after.filter((section) => !before.includes(section));
  return sections.length === 0 ? [] : [`the file may also have ${sections.join(", ")}`];
}

function looserSync(base: SyncOptions, head: SyncOptions): readonly string[] {
  const { roles, members, reinvite, replaceRoles, ...rest } = base;
  rest satisfies Record<string, never>;
  const additive = (key: "roles" | "members", modeBefore: SyncOptions["roles"]): readonly string[] =>
    modeBefore === "authoritative" && head[key] === "additive"
      ? [`${key} are no longer removed when unlisted (sync: additive)`]
      : [];
  const [periodBefore, periodAfter] = [periodOf(reinvite), periodOf(head.reinvite)];
  return [
    ...additive("roles", roles),
    ...additive("members", members),
    ...(periodAfter.ms > periodBefore.ms
      ? [`expired invitations are renewed ${periodBefore.text} → ${periodAfter.text}`]
      : []),
    ...(head.replaceRoles && !replaceRoles
      ? ["roles whose metadata changes may be replaced (sync.replace_roles)"]
      : []),
  ];
}

function periodOf(reinvite: SyncOptions["reinvite"]): { readonly text: string; readonly ms: number } {
  if (typeof reinvite !== "boolean") return { text: `for ${reinvite.text}`, ms: reinvite.ms };
  return reinvite ? { text: "always", ms: Number.POSITIVE_INFINITY } : { text: "never", ms: 0 };
}

function newlyIgnored(before: IgnorePatterns, after: IgnorePatterns): readonly string[] {
  return (["roles", "members"] as const).flatMap((key) =>
    after[key]
      .filter((pattern) => !before[key].includes(pattern))
      .map((pattern) => `${matchedBy(key, pattern)} no longer managed (ignore)`),
  );
}

/** Returns the roles and their permissions that the base branch's files manage, and the head branch's files do not. */
function unmanagedRoles(
  before: DesiredState["roles"],
  after: DesiredState["roles"],
  { head }: Compared,
): readonly string[] {
  if (before === undefined) return [];
  if (after === undefined) return [withoutSection("roles")];
  const byName = new Map(
    after.flatMap((role) => [role.name, role.previously ?? []].flat().map((key) => [key, role])),
  );
  const pinned = new Map(after.flatMap((role) => (role.id === undefined ? [] : [[role.id, role]])));
  return before.flatMap(({ id, name, permissions }) => {
    const now = pinned.get(id ?? "") ?? byName.get(name);
    if (now === undefined) return unlisted(`the role "${name}"`, head.sync.roles);
    return permissions !== undefined && now.permissions === undefined
      ? [`the permissions of "${name}" are no longer managed`]
      : [];
  });
}

/** Returns the members and their roles that the base branch's files manage, and the head branch's files do not. */
function unmanagedMembers(
  before: DesiredState["members"],
  after: DesiredState["members"],
  { head }: Compared,
): readonly string[] {
  if (before === undefined) return [];
  if (after === undefined) return [withoutSection("members")];
  const entries = entriesByAddress(after);
  return before.flatMap(({ email, roles }) => {
    const now = entries.get(email.toLowerCase());
    if (now === undefined) return unlisted(`the member ${email}`, head.sync.members);
    return roles !== undefined && now.roles === undefined
      ? [`the roles of ${email} are no longer managed`]
      : [];
  });
}

function withoutSection(key: "roles" | "members"): string {
  return `${key} are no longer managed (no section "${key}")`;
}

function unlisted(what: string, mode: SyncOptions["roles"]): readonly string[] {
  return mode === "additive" ? [`${what} is no longer managed (unlisted, sync: additive)`] : [];
}

/** Returns the people who leave later, or no longer leave. */
function laterLeavers(before: DesiredState["leavers"], after: DesiredState["leavers"]): readonly string[] {
  const leavers = new Map((after ?? []).map((leaver) => [leaver.email.toLowerCase(), leaver]));
  return (before ?? []).flatMap(({ email, from }) => {
    const now = leavers.get(email.toLowerCase())?.from;
    if (now !== undefined && now.starts <= from.starts) return [];
    return [
      now === undefined
        ? `${email} no longer leaves (leavers, from ${from.text})`
        : `${email} leaves ${from.text} → ${now.text}`,
    ];
  });
}

/** Returns changed dates that give members access for longer, which no plan shows before they take effect. */
function laterEnds(
  before: DesiredState["members"],
  after: DesiredState["members"],
  { base, head, nameOf }: Compared,
): readonly string[] {
  const members = entriesByAddress(after);
  // One branch may name a role by its id, and the other by its name.
  const [idsBefore, ids] = [pinnedIds(base), pinnedIds(head)];
  const nowCalled = (role: string): string => ids.get(role) ?? nameOf(idsBefore.get(role) ?? role);
  return (before ?? []).flatMap(({ email, from, until, suspended, roles = [] }) => {
    const now = members.get(email.toLowerCase());
    if (now === undefined) return [];
    const grants = new Map((now.roles ?? []).map((grant) => [ids.get(grant.role) ?? grant.role, grant]));
    return [
      ...earlier(`${email} is a member`, from, now.from),
      ...later(`${email} is a member`, until, now.until),
      ...shorter(email, suspended, now.suspended),
      ...roles.flatMap(({ role, from: start, until: end }) => {
        const grant = grants.get(nowCalled(role));
        const what = `${email} holds "${role}"`;
        return grant === undefined
          ? []
          : [...earlier(what, start, grant.from), ...later(what, end, grant.until)];
      }),
    ];
  });
}

function later(what: string, before: Until | undefined, after: Until | undefined): readonly string[] {
  if (before === undefined || (after !== undefined && after.ends <= before.ends)) return [];
  return [`${what} until ${before.text} → ${after === undefined ? "without end" : after.text}`];
}

function earlier(what: string, before: From | undefined, after: From | undefined): readonly string[] {
  if (before === undefined || (after !== undefined && after.starts >= before.starts)) return [];
  return [`${what} from ${before.text} → ${after === undefined ? "now" : after.text}`];
}

/** Describes a suspension that was removed, begins later or ends earlier. */
function shorter(
  email: string,
  before: Suspension | undefined,
  after: Suspension | undefined,
): readonly string[] {
  if (before === undefined) return [];
  const startOf = ({ from }: Suspension): number => from?.starts ?? Number.NEGATIVE_INFINITY;
  const endOf = ({ until }: Suspension): number => until?.ends ?? Number.POSITIVE_INFINITY;
  if (after !== undefined && startOf(after) <= startOf(before) && endOf(after) >= endOf(before)) return [];
  return [
    `${email} is suspended ${timeText(before)} → ${after === undefined ? "not at all" : timeText(after)}`,
  ];
}

function timeText({ from, until }: Suspension): string {
  const start = from === undefined ? [] : [`from ${from.text}`];
  const end = until === undefined ? "until further notice" : `until ${until.text}`;
  return [...start, end].join(" ");
}

function other(what: string, before: string | undefined, after: string | undefined): readonly string[] {
  return before === after ? [] : [`${what} ${before ?? "not set"} → ${after ?? "not set"}`];
}
