import { counted, groupByKey } from "../../lib/text.ts";
import type { Amount, DesiredState, ProjectSettings, RunLimits } from "../../model/desired.ts";
import type { Plan, Refusal } from "../../model/plan.ts";
import { isPast } from "../diff/active-member.ts";
import { guardRefusal, refusalOfBase, sortRefusals } from "../findings/refusals.ts";
import { splitByResource } from "./access.ts";
import { lossByNewAddress } from "./changed-addresses.ts";
import { gainsOf } from "./gains.ts";
import { gainOverride, gainText, looserGains } from "./max-gains.ts";
import { joinLosses, type Losses, laterText, losing, lossesOf, lossHint } from "./removals.ts";
import { allowedOf, amountText, isMore } from "./settings/amount.ts";
import { DEFAULT_SENSITIVE, SENSITIVE, sensitiveIn } from "./settings/sensitive.ts";

type Limits = Required<Omit<RunLimits, "origin">>;

/** The limits of a project that sets none. */
const DEFAULT_LIMITS: Limits = {
  maxRemovals: { percent: 5 },
  maxGains: { [SENSITIVE]: { percent: 5 } },
};

/** Number of people that a share of a run always allows. */
const LEAST = 20;

/** The part of a merchant's files that the limits of a run depend on. */
export type RunFiles = Pick<DesiredState, "projects" | "members" | "leavers" | "reviewedEnds">;

/** The part of a plan that the limits of a run depend on. */
export type RunPlan = Pick<
  Plan,
  "merchant" | "changes" | "refusals" | "overridden" | "impact" | "summary"
> & {
  readonly reviewed: Pick<Plan["reviewed"], "at">;
};

/** A plan of a run, with the state that it is made from. */
interface LimitedPlan<P extends RunPlan = RunPlan> {
  readonly plan: P;
  readonly files: RunFiles;
}

/**
 * Refuses plans that together remove or give too much; a run of one merchant has the limits of the merchant. What only the
 * project of the base branch limits, the pull request loosens.
 */
export function limitRun<P extends RunPlan>(run: readonly LimitedPlan<P>[]): readonly P[] {
  const parts = run.map(({ plan, files }) => ({ plan: unlimited(plan), files }));
  const plans = parts.map(({ plan }) => plan);
  if (plans.length < 2) return plans;
  const projects = run.flatMap(({ files }) => files.projects ?? []);
  const refused = refusedBy(parts, projects);
  const own = projects.filter(({ by }) => by === undefined);
  const byOwn =
    own.length === projects.length
      ? refused
      : refusedBy(
          parts.map((part) => asSeenBy(own, part)),
          own,
        );
  return plans.map((plan) => {
    const refusals = [...refused].flatMap(([limit, { refusal, of }]) =>
      of.has(plan.merchant) ? (byOwn.has(limit) ? refusal : refusalOfBase(refusal)) : [],
    );
    return refusals.length === 0
      ? plan
      : { ...plan, refusals: sortRefusals([...plan.refusals, ...refusals]) };
  });
}

/** Returns a plan with what is sensitive to some projects. */
function asSeenBy(projects: readonly ProjectSettings[], { plan, files }: LimitedPlan): LimitedPlan {
  const { impact } = plan;
  const sensitive = impact.sensitive?.filter(sensitiveIn(projects)) ?? [];
  return { plan: { ...plan, impact: { ...impact, sensitive } }, files };
}

/** A refusal, with the merchants that it is of. */
interface RefusedRun {
  readonly refusal: Refusal;
  readonly of: ReadonlySet<string>;
}

/** Returns the refusals by the strictest limits of some projects, by what they limit. */
function refusedBy(
  parts: readonly LimitedPlan[],
  projects: readonly ProjectSettings[],
): ReadonlyMap<string, RefusedRun> {
  const all = (projects.length === 0 ? [{}] : projects).map(({ run }: ProjectSettings) => ({
    ...DEFAULT_LIMITS,
    ...run,
  }));
  const members = parts.reduce((sum, { plan }) => sum + liveMembers(plan.summary.members), 0);
  // Which of a count and a share is stricter depends on the number of members.
  const allowedBy = (limits: readonly Amount[]): number =>
    Math.min(...limits.map((limit) => allowedOf(limit, members, LEAST)));
  const gains = groupByKey(
    all.flatMap(({ maxGains }) => Object.entries(maxGains)),
    ([what]) => what,
  );
  const refused = [
    ["removals", refusedRemovals(parts, allowedBy(all.map(({ maxRemovals }) => maxRemovals)))] as const,
    ...gains.map((entries) => {
      const limits = entries.map(([, limit]) => limit);
      const [[what]] = entries;
      const reach = limits.some((limit) => limit.reach === true);
      return [`gains ${what}`, refusedGains(parts, what, reach, allowedBy(limits))] as const;
    }),
  ];
  return new Map(refused.flatMap(([limit, one]) => (one === null ? [] : [[limit, one] as const])));
}

function isOfRun({ code }: Refusal): boolean {
  return code === "run-removals" || code === "run-gains";
}

/** Returns what is looser in the settings of a project, in words. */
export function looserProject(former: ProjectSettings, current: ProjectSettings): readonly string[] {
  const [before, now] = [former, current].map(({ run }) => ({ ...DEFAULT_LIMITS, ...run })) as [
    Limits,
    Limits,
  ];
  const [sensitive, still] = [former, current].map((project) => project.sensitive ?? DEFAULT_SENSITIVE) as [
    readonly string[],
    readonly string[],
  ];
  const ordinary = [
    ...sensitive.filter((glob) => !glob.startsWith("!") && !still.includes(glob)),
    ...still.flatMap((glob) => (glob.startsWith("!") && !sensitive.includes(glob) ? [glob.slice(1)] : [])),
  ];
  return [
    ...(isMore(before.maxRemovals, now.maxRemovals, LEAST)
      ? [`at most ${amountText(before.maxRemovals)} → ${amountText(now.maxRemovals)} may be removed in a run`]
      : []),
    ...looserGains(before.maxGains, now.maxGains, LEAST).map((text) => `${text} in a run`),
    ...ordinary.map((glob) => `permissions that match ${glob} are no longer sensitive`),
  ];
}

/** Returns a plan without the refusals of another run. */
function unlimited<P extends RunPlan>(plan: P): P {
  const others = (refusals: readonly Refusal[]): readonly Refusal[] =>
    refusals.filter((refusal) => !isOfRun(refusal));
  const { refusals, overridden } = plan;
  if (![...refusals, ...(overridden ?? [])].some(isOfRun)) return plan;
  return { ...plan, refusals: others(refusals), ...(overridden && { overridden: others(overridden) }) };
}

function liveMembers({ create: _, unmanaged = 0, ...live }: Plan["summary"]["members"]): number {
  return live.update + live.replace + live.delete + live.unchanged + unmanaged;
}

/** People of a run, by name in lower case; the same name at two merchants is one person. */
interface Affected {
  /** The losses or gains of each, with their merchants. */
  readonly people: ReadonlyMap<string, readonly string[]>;
  /** The distinct losses or gains, sorted. */
  readonly items: readonly string[];
  readonly merchants: number;
}

function refusedRemovals(parts: readonly LimitedPlan[], allowed: number): RefusedRun | null {
  const removedBy = (part: LimitedPlan) => [...losing(lossesIn(part))].map((name) => [name, []] as const);
  return refusedIfMore(parts, allowed, removedBy, ({ people, merchants }) => {
    const losses = joinLosses(parts.map(lossesIn));
    return guardRefusal(
      "run-removals",
      "member",
      null,
      `This run would remove ${counted(people.size, "member")}, or take roles from them, at ${counted(merchants, "merchant")}${laterText(losses)}; the limit for the run is ${allowed}.`,
      lossHint(
        losses,
        'Check the file that they share: the usual cause is a line that was left out. The limit is max_removals under "run" in rolecall.yaml.',
      ),
      `run-removals=${people.size}`,
    );
  });
}

/** Returns the people who lose access by a plan; expired invitations, and old addresses with the same roles, are none. */
function lossesIn({ plan: { changes, reviewed }, files }: LimitedPlan): Losses {
  const { roles, members } = splitByResource(changes);
  const isLoss = lossByNewAddress(files.members ?? [], ({ roles: grants = [] }) =>
    grants.flatMap(({ role, until }) => (isPast(until, reviewed.at) ? [] : role)),
  );
  const access = members.filter((change) => {
    const { kind, reason } = change;
    if (kind !== "delete") return true;
    return reason === "address-changed" ? isLoss(change) : reason !== "invitation-expired";
  });
  return lossesOf({ roles, members: access }, files, reviewed.at);
}

function refusedGains(
  parts: readonly LimitedPlan[],
  what: string,
  reach: boolean,
  allowed: number,
): RefusedRun | null {
  const gainedBy = ({ plan: { impact, changes }, files: { members: entries } }: LimitedPlan) =>
    entries === undefined ? [] : gainsOf(what, { impact, ...splitByResource(changes), entries }, reach);
  return refusedIfMore(parts, allowed, gainedBy, ({ people, items, merchants }) =>
    guardRefusal(
      "run-gains",
      "member",
      null,
      `This run would give ${counted(people.size, "person", "people")} new access${reach ? ", or a way to it," : ""} to ${gainText(what, items)} at ${counted(merchants, "merchant")}; the limit for the run is ${allowed}.`,
      'Check the role or the file that they share. The limit is max_gains under "run" in rolecall.yaml.',
      gainOverride("run-gains", what, people),
    ),
  );
}

/** Returns the refusal of the plans that affect somebody, if all of them together affect more people than allowed. */
function refusedIfMore(
  parts: readonly LimitedPlan[],
  allowed: number,
  affectedBy: (part: LimitedPlan) => Iterable<readonly [name: string, items: readonly string[]]>,
  refusalOf: (affected: Affected) => Refusal,
): RefusedRun | null {
  const people = new Map<string, readonly string[]>();
  const items = new Set<string>();
  const of = parts.flatMap((part) => {
    const { merchant } = part.plan;
    const names = [...affectedBy(part)];
    for (const [name, own] of names) {
      const key = name.toLowerCase();
      people.set(key, [...(people.get(key) ?? []), ...own.map((item) => `${merchant} ${item}`)]);
      for (const item of own) items.add(item);
    }
    return names.length === 0 ? [] : [merchant];
  });
  if (people.size <= allowed) return null;
  return { refusal: refusalOf({ people, items: [...items].sort(), merchants: of.length }), of: new Set(of) };
}
