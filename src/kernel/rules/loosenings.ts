import type {
  Check,
  DesiredState,
  From,
  ProjectSettings,
  Suspension,
  SyncOptions,
  Until,
} from "../../model/desired.ts";
import type { GlobMatch } from "../diff/scope.ts";
import { entriesByAddress } from "../values/person.ts";
import { pinnedIds } from "./access.ts";
import { withRulesOf } from "./base-rules.ts";
import { looserGuards, looserPolicies } from "./every-rule.ts";
import { matchedBy } from "./protect.ts";
import { currentNameIn } from "./renamed-roles.ts";
import type { LooserContext } from "./rule.ts";
import { looserProject } from "./run-limits.ts";
import { NO_POLICIES } from "./settings/every-setting.ts";

/** The subject of a loosening. */
export type LooseningTopic =
  | "guards"
  | "policies"
  | "checks"
  | "rules across merchants"
  | "enforced rules"
  | "sync"
  | "ignore"
  | "managed"
  | "end dates"
  | "service";

/** A rule that is looser in one state of a merchant's files than in another, in words. */
export interface Loosening {
  readonly topic: LooseningTopic;
  readonly text: string;
}

/** Returns the rules that are looser in the head branch's state of a merchant than in the base branch's. */
export function looseningsOf(
  base: DesiredState,
  head: DesiredState,
  matches: GlobMatch,
): readonly Loosening[] {
  const context = { matches, nameOf: currentNameIn(head, base) };
  const { guards, policies, checks } = withRulesOf(base, head);
  // The head branch's own rules may name a role by its previous name as well.
  const ownRules = withRulesOf(head, head);
  const about = (topic: LooseningTopic, texts: readonly string[]): readonly Loosening[] =>
    texts.map((text) => ({ topic, text }));
  return [
    ...about("guards", [
      ...looserGuards(guards, ownRules.guards, context),
      ...looserProject(projectOf(base), projectOf(head)),
    ]),
    ...about("policies", looserPolicies(policies, ownRules.policies, context)),
    ...about("checks", looserChecks(checks, ownRules.checks)),
    ...about("rules across merchants", looserAcross(projectOf(base), projectOf(head), context)),
    ...about("enforced rules", looserEnforced(base, head, context)),
    ...about("sync", looserSync(base.sync, head.sync)),
    ...about("ignore", newlyIgnored(base, head)),
    ...about("managed", noLongerManaged(base, head)),
    ...about("end dates", laterEnds(base, head, context)),
    ...about("service", otherService(base, head)),
  ];
}

function projectOf({ projects = [] }: DesiredState): ProjectSettings {
  return projects.find(({ by }) => by === undefined) ?? {};
}

function looserAcross(
  { across: base }: ProjectSettings,
  { across: head }: ProjectSettings,
  context: LooserContext,
): readonly string[] {
  if (base === undefined) return [];
  return [
    ...looserPolicies(base.policies, head?.policies ?? NO_POLICIES, context),
    ...looserChecks(base.checks, head?.checks ?? []),
  ].map((text) => `${text} (across merchants)`);
}

/** Returns what is looser in the rules that the project enforces, and the sections that it newly allows. */
function looserEnforced(base: DesiredState, head: DesiredState, context: LooserContext): readonly string[] {
  const ownSets = ({ enforced = [] }: DesiredState) => enforced.filter(({ by }) => by === undefined);
  const sections = (head.allowed ?? []).filter((section) => !(base.allowed ?? [section]).includes(section));
  const freed = base.allowed !== undefined && head.allowed === undefined;
  return [
    ...ownSets(base).flatMap((setBefore) => {
      const [file] = setBefore.files;
      const setAfter = ownSets(head).find((candidate) => candidate.files[0] === file);
      if (setAfter === undefined) return [`the rules of ${file} are no longer enforced`];
      const [before, after] = [setBefore, setAfter].map((rules) => withRulesOf(rules, head));
      return before === undefined || after === undefined
        ? []
        : [
            ...looserGuards(before.guards, after.guards, context),
            ...looserPolicies(before.policies, after.policies, context),
            ...looserChecks(before.checks, after.checks),
          ].map((text) => `${text} (${file})`);
    }),
    ...(freed ? ["the file may have any section"] : []),
    ...(sections.length === 0 ? [] : [`the file may also have ${sections.join(", ")}`]),
  ];
}

function looserChecks(base: readonly Check[], head: readonly Check[]): readonly string[] {
  return base.flatMap((check) => looserCheck(check, head));
}

function looserCheck(check: Check, head: readonly Check[]): readonly string[] {
  // A check of what people can reach is stricter than one of what they hold.
  const counts = ({ reach }: Check): boolean => reach === true || check.reach !== true;
  const reached = check.reach ? " reach" : "";
  switch (check.kind) {
    case "only": {
      const { can, only } = check;
      const added = head
        .flatMap((check) => (check.kind === "only" && check.can === can && counts(check) ? [check.only] : []))
        .map((now) => now.filter((who) => !hasEntry(only, who)))
        .sort((a, b) => a.length - b.length)[0];
      const what = `the check that only ${only.map(holderText).join(", ") || "nobody"} can${reached} ${can}`;
      if (added === undefined) return [`${what} is gone`];
      return added.length === 0 ? [] : [`${what} also allows ${added.map(holderText).join(", ")}`];
    }
    case "at-most": {
      const { can, atMost } = check;
      const limits = head.flatMap((check) =>
        check.kind === "at-most" && check.can === can && counts(check) ? [check.atMost] : [],
      );
      const now = Math.min(...limits);
      if (now <= atMost) return [];
      const what = `the check that at most ${atMost} can${reached} ${can}`;
      return [limits.length === 0 ? `${what} is gone` : `${what} allows ${now}`];
    }
    case "cannot": {
      const { member, cannot } = check;
      const still = new Set(
        head.flatMap((check) =>
          check.kind === "cannot" && check.member.toLowerCase() === member.toLowerCase() && counts(check)
            ? check.cannot
            : [],
        ),
      );
      const free = cannot.filter((permission) => !still.has(permission));
      return free.length === 0
        ? []
        : [`the check that ${member} cannot${reached} ${free.join(", ")} is gone`];
    }
    default:
      return check satisfies never;
  }
}

function hasEntry(entries: readonly string[], entry: string): boolean {
  const isRole = entry.startsWith("role:");
  return entries.some(
    (allowed) => allowed === entry || (!isRole && allowed.toLowerCase() === entry.toLowerCase()),
  );
}

function holderText(holder: string): string {
  return holder.startsWith("role:") ? `holders of "${holder.slice("role:".length)}"` : holder;
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

function newlyIgnored({ ignore: base }: DesiredState, { ignore: head }: DesiredState): readonly string[] {
  return (["roles", "members"] as const).flatMap((key) =>
    head[key]
      .filter((pattern) => !base[key].includes(pattern))
      .map((pattern) => `${matchedBy(key, pattern)} no longer managed (ignore)`),
  );
}

/** Returns the sections, entries and fields that the base branch's files manage, and the head branch's leave alone. */
function noLongerManaged(base: DesiredState, head: DesiredState): readonly string[] {
  const section = (key: "roles" | "members"): readonly string[] =>
    base[key] !== undefined && head[key] === undefined
      ? [`${key} are no longer managed (no section "${key}")`]
      : [];
  const roles = new Map(
    (head.roles ?? []).flatMap((role) => [role.name, role.previously ?? []].flat().map((key) => [key, role])),
  );
  const pinned = new Map(
    (head.roles ?? []).flatMap((role) => (role.id === undefined ? [] : [[role.id, role]])),
  );
  const members = entriesByAddress(head.members);
  return [
    ...section("roles"),
    ...section("members"),
    ...(head.roles === undefined ? [] : (base.roles ?? [])).flatMap(({ id, name, permissions }) => {
      const now = pinned.get(id ?? "") ?? roles.get(name);
      if (now === undefined) return unlisted(`the role "${name}"`, head.sync.roles);
      return permissions !== undefined && now.permissions === undefined
        ? [`the permissions of "${name}" are no longer managed`]
        : [];
    }),
    ...(head.members === undefined ? [] : (base.members ?? [])).flatMap(({ email, roles: held }) => {
      const now = members.get(email.toLowerCase());
      if (now === undefined) return unlisted(`the member ${email}`, head.sync.members);
      return held !== undefined && now.roles === undefined
        ? [`the roles of ${email} are no longer managed`]
        : [];
    }),
  ];
}

function unlisted(what: string, mode: SyncOptions["roles"]): readonly string[] {
  return mode === "additive" ? [`${what} is no longer managed (unlisted, sync: additive)`] : [];
}

/** Returns the dates that give access for longer: no plan shows these before their time. */
function laterEnds(base: DesiredState, head: DesiredState, { nameOf }: LooserContext): readonly string[] {
  const members = entriesByAddress(head.members);
  const leavers = new Map((head.leavers ?? []).map((leaver) => [leaver.email.toLowerCase(), leaver]));
  // One branch may name a role by its id, and the other by its name.
  const [idsBefore, ids] = [pinnedIds(base), pinnedIds(head)];
  const nowCalled = (role: string): string => ids.get(role) ?? nameOf(idsBefore.get(role) ?? role);
  const leaving = (base.leavers ?? []).flatMap(({ email, from }) => {
    const now = leavers.get(email.toLowerCase())?.from;
    if (now !== undefined && now.starts <= from.starts) return [];
    return [
      now === undefined
        ? `${email} no longer leaves (leavers, from ${from.text})`
        : `${email} leaves ${from.text} → ${now.text}`,
    ];
  });
  const ending = (base.members ?? []).flatMap(({ email, from, until, suspended, roles = [] }) => {
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
  return [...leaving, ...ending];
}

function later(what: string, before: Until | undefined, after: Until | undefined): readonly string[] {
  if (before === undefined || (after !== undefined && after.ends <= before.ends)) return [];
  return [`${what} until ${before.text} → ${after === undefined ? "without end" : after.text}`];
}

function earlier(what: string, before: From | undefined, after: From | undefined): readonly string[] {
  if (before === undefined || (after !== undefined && after.starts >= before.starts)) return [];
  return [`${what} from ${before.text} → ${after === undefined ? "now" : after.text}`];
}

/** Returns a suspension that is gone, or begins later or ends earlier. */
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

function otherService(base: DesiredState, head: DesiredState): readonly string[] {
  const changed = (what: string, before: string | undefined, after: string | undefined): readonly string[] =>
    before === after ? [] : [`${what} ${before ?? "not set"} → ${after ?? "not set"}`];
  return [
    ...(base.environment === undefined ? [] : changed("environment:", base.environment, head.environment)),
    ...changed("api.base_url:", base.baseUrl, head.baseUrl),
    ...changed("api.key_env:", base.keyEnv, head.keyEnv),
  ];
}
