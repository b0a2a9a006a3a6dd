import { canonicalJson } from "../../lib/json-text.ts";
import { isSlip, openSuggester } from "../../lib/suggest.ts";
import { sortedSet } from "../../lib/text.ts";
import type { DesiredState, Origin, Policies, ProjectSettings, RulesAcross } from "../../model/desired.ts";
import { isLikeRoleId, PREDEFINED_ROLES, predefinedRole } from "../../model/live.ts";
import type { Finding, Refusal } from "../../model/plan.ts";
import { type FindingData, toFinding } from "../findings/findings.ts";
import { list, refusalOfBase, sortRefusals, type Tense, toExistingViolation } from "../findings/refusals.ts";
import type { FileLocation, LocatedProblem } from "../problems/problem.ts";
import type { Access } from "./access.ts";
import { checkText } from "./checks.ts";
import { listPolicies, pathOfCode } from "./every-rule.ts";
import { byKey, isNoWorse, violationsIn } from "./judge-rules.ts";
import type { Rules, Violation } from "./judged.ts";
import {
  type AccessPhase,
  type Counted,
  type CountedMerchant,
  type CountedPart,
  type CountedPlan,
  openMerchants,
  type PlanInRun,
  withoutLosses,
} from "./people-across.ts";
import { NO_POLICIES, namesInRunLimits } from "./settings/every-setting.ts";

/** A rule across merchants, as a rule on a single access that combines everything that the rule counts. */
interface RuleAcross {
  readonly text: string;
  readonly counted: readonly Counted[];
  readonly rules: Rules;
  readonly origin: Origin;
  /** Where it is, from the origin. */
  readonly at: "key" | "value";
}

/** A role or permission that a rule across merchants or a limit of a run names. */
interface NameAcross {
  readonly what: "role" | "permission";
  readonly name: string;
  readonly location: FileLocation;
}

/** Returns whether a project has rules that concern all its merchants. */
export function concernsAll(project: ProjectSettings): boolean {
  return project.across !== undefined || namesInRun(project).length > 0;
}

function namesInRun({ run = {} }: ProjectSettings): readonly NameAcross[] {
  const { origin } = run;
  if (origin === undefined) return [];
  return namesInRunLimits(run).flatMap(({ what, text, path, at }) =>
    what === "role" || what === "permission"
      ? [{ what, name: text, location: { at, file: origin.file, path: [...origin.path, ...path] } }]
      : [],
  );
}

/** The rules of a project. */
interface RuleSet {
  readonly by: ProjectSettings["by"];
  readonly file: string;
  readonly rules: readonly RuleAcross[];
  readonly names: readonly NameAcross[];
  readonly holdsFor: (state: DesiredState) => boolean;
}

/** Returns the rules of the projects of merchants; those of a base branch only if they differ. */
function ruleSetsOf(states: readonly DesiredState[]): readonly RuleSet[] {
  const meaningOf = ({ policies, checks }: RulesAcross): string =>
    canonicalJson([policies, checks.map(checkText)]);
  const keyOf = ({ by, across, run }: ProjectSettings): string => canonicalJson([by, across, run]);
  const projects = new Map(
    states.flatMap((state) => (state.projects ?? []).map((project) => [keyOf(project), project] as const)),
  );
  const isOwn = new Set(
    [...projects.values()].flatMap(({ by, across }) => (by || !across ? [] : meaningOf(across))),
  );
  return [...projects].flatMap(([key, project]): readonly RuleSet[] => {
    const { by, across, run } = project;
    if (by && (across === undefined || isOwn.has(meaningOf(across)))) return [];
    const rules = across === undefined ? [] : rulesOf(across);
    const inRules = rules.flatMap((rule) =>
      rule.counted.map(({ what, name }) => ({
        what: what === "role" ? what : ("permission" as const),
        name,
        location: locationOfAcross(rule),
      })),
    );
    const names = by ? [] : [...inRules, ...namesInRun(project)];
    const holdsFor = (state: DesiredState): boolean =>
      (state.projects ?? []).some((project) => keyOf(project) === key);
    const { file = "" } = across?.origin ?? run?.origin ?? {};
    return rules.length + names.length === 0 ? [] : [{ by, file, rules, names, holdsFor }];
  });
}

function rulesOf({ policies, checks, origin: { file, path } }: RulesAcross): readonly RuleAcross[] {
  // Each merchant determines what its people can reach.
  const alone = (rule: Policies): Rules => ({
    policies: { ...rule, escalation: { assign: [], edit: [], create: [] } },
    checks: [],
    members: [],
  });
  return [
    ...listPolicies(policies).map(({ entry, names, alone: policy, path: below }) => ({
      text: entry.text,
      counted: [...new Set(names.map(({ text }) => text))].map((name) => ({ what: "role", name }) as const),
      rules: alone(policy),
      origin: { file, path: [...path, ...below] },
      at: entry.keys.length > 0 ? ("key" as const) : ("value" as const),
    })),
    ...checks.map((check) => ({
      text: checkText(check),
      counted: [{ what: check.reach ? "reach" : "permission", name: check.can } as const],
      rules: { ...alone(NO_POLICIES), checks: [check] },
      origin: { file, path: [...check.origin.path, "at_most"] },
      at: "value" as const,
    })),
  ];
}

/** Combines, over all merchants, what people hold that a rule counts. */
function joined({ counted }: RuleAcross, merchants: readonly CountedMerchant[], phase: AccessPhase): Access {
  const held = new Map<string, string[]>();
  for (const one of counted) {
    for (const person of new Set(merchants.flatMap(({ people }) => [...people(phase, one)])))
      held.set(person, [...(held.get(person) ?? []), one.name]);
  }
  const same = { status: "accepted", serviceAccount: false, mfa: null } as const;
  return {
    roles: new Map(
      counted.map(({ what, name }) => [
        name,
        { id: null, name, permissions: what === "role" ? [] : [name], custom: false },
      ]),
    ),
    removed: new Set(),
    people: [...held].map(([name, roles]) => ({ ...same, id: name, name, email: name, roles })),
  };
}

/** Returns the violations of a rule over all merchants together. */
function violationsOf(
  { rules }: RuleAcross,
  [access, settled]: readonly [access: Access, settled: Access],
): readonly Violation[] {
  return violationsIn(rules, { access, settled, find: (role) => role });
}

/** A merchant where people hold what a rule counts. */
interface Holding {
  readonly merchant: CountedMerchant;
  readonly counted: Counted;
  readonly people: readonly string[];
}

function holdingsOf(
  { subject, extent }: Violation,
  { counted }: RuleAcross,
  merchants: readonly CountedMerchant[],
  phases: readonly AccessPhase[],
): readonly Holding[] {
  const broken = subject === null ? extent : [subject.id ?? ""];
  return counted.flatMap((one) =>
    merchants.flatMap((merchant) => {
      const people = broken.filter((person) =>
        phases.some((phase) => merchant.people(phase, one).has(person)),
      );
      return people.length === 0 ? [] : { merchant, counted: one, people };
    }),
  );
}

function codesOf(merchants: readonly CountedMerchant[]): ReadonlySet<string> {
  return new Set(merchants.map(({ files }) => files.merchant));
}

/** Describes a violation: who holds what at which merchants, and who can change the rule. */
function refusalOf(
  violation: Violation,
  tense: Tense,
  holdings: readonly Holding[],
  { counted }: RuleAcross,
  { file }: RuleSet,
): Refusal {
  const refusal = violation.refusal(tense);
  const places = counted.flatMap(({ name }) => {
    const codes = holdings.flatMap((one) => (one.counted.name === name ? one.merchant.files.merchant : []));
    return codes.length === 0 ? [] : `${name} at ${list(sortedSet(codes))}`;
  });
  return {
    ...refusal,
    code: `${ACROSS}${refusal.code.replace("check-", "")}`,
    message: `${refusal.message} Counted across merchants: ${places.join("; ")}. Enforced by ${file}.`,
    hint: `Change it at one of these merchants, or ask those who own ${file} to change across_merchants.`,
    rules: file,
  };
}

/** Opens the merchants that a set of rules applies to. */
function merchantsUnder(
  { holdsFor }: RuleSet,
  run: readonly CountedPart[],
  declared: readonly DesiredState[],
  now: number,
): readonly CountedMerchant[] {
  return openMerchants(
    run.filter(({ files }) => holdsFor(files)),
    declared.filter(holdsFor),
    now,
  );
}

/** A rule across merchants, with what breaks it. */
export interface ResultAcross extends Pick<RuleAcross, "text" | "origin" | "at"> {
  readonly broken: readonly {
    readonly refusal: Refusal;
    /** The merchants where the people hold what the rule counts. */
    readonly of: ReadonlySet<string>;
  }[];
}

/**
 * Judges the current access by the rules across merchants; for a merchant without a plan, the declared access counts.
 */
export function resultsAcross(
  run: readonly PlanInRun[],
  declared: readonly DesiredState[],
  now: number,
  tense: Tense = "live",
): readonly ResultAcross[] {
  const sets = ruleSetsOf([...run.map(({ files }) => files), ...declared]).filter(({ by }) => !by);
  return sets.flatMap((set) => {
    const merchants = merchantsUnder(set, run, declared, now);
    return set.rules.map((rule) => {
      const access = joined(rule, merchants, "before");
      const broken = violationsOf(rule, [access, access]).map((violation) => {
        const holdings = holdingsOf(violation, rule, merchants, ["before"]);
        const of = codesOf(holdings.map(({ merchant }) => merchant));
        return { refusal: refusalOf(violation, tense, holdings, rule, set), of };
      });
      return { text: rule.text, origin: rule.origin, at: rule.at, broken };
    });
  });
}

/** A refusal or finding about the plans of some merchants. */
interface Said {
  readonly refusal?: Refusal;
  readonly finding?: Finding;
  readonly of: ReadonlySet<string>;
}

/** A set of rules with the merchants that it applies to. */
interface OpenRuleSet {
  readonly set: RuleSet;
  readonly merchants: readonly CountedMerchant[];
}

/**
 * Judges the plans of a run by the rules across merchants; for the project's other merchants, the declared access
 * counts.
 */
export function judgeAcross<P extends CountedPlan>(
  run: readonly CountedPart<P>[],
  declared: readonly DesiredState[],
): readonly P[] {
  const parts = run.map((part) => ({ ...part, plan: unjudged(part.plan) }));
  const now = Math.max(...parts.map(({ plan }) => plan.reviewed.at));
  const sets = ruleSetsOf(parts.map(({ files }) => files)).map((set) => ({
    set,
    merchants: merchantsUnder(set, parts, declared, now),
  }));
  const unapplied = new Set(
    parts.flatMap(({ plan, isApplied }) => (isApplied === false || isStopped(plan) ? plan.merchant : [])),
  );
  // A plan that is refused here removes nothing, which may break a rule at another merchant.
  let said: readonly Said[];
  let known: number;
  do {
    known = unapplied.size;
    said = saidOf(sets, unapplied);
    for (const { refusal, of } of said) if (refusal) for (const merchant of of) unapplied.add(merchant);
  } while (unapplied.size > known);
  return parts.map(({ plan }) => {
    const ofPlan = said.filter(({ of }) => of.has(plan.merchant));
    if (ofPlan.length === 0) return plan;
    const findings = ofPlan.flatMap(({ finding }) => finding ?? []);
    const isKnown = ({ code, name }: Finding): boolean =>
      plan.findings.some((finding) => finding.code === code && finding.name === name);
    return {
      ...plan,
      refusals: sortRefusals([...plan.refusals, ...ofPlan.flatMap(({ refusal }) => refusal ?? [])]),
      findings: [...plan.findings, ...findings.filter((finding) => !isKnown(finding))],
    };
  });
}

/** Returns whether a plan is not applied, regardless of the rules across merchants. */
function isStopped({ refusals, findings }: CountedPlan): boolean {
  return refusals.length > 0 || findings.some(({ severity }) => severity === "error");
}

/** Judges plans, some of which are not applied. */
function saidOf(sets: readonly OpenRuleSet[], unapplied: ReadonlySet<string>): readonly Said[] {
  const saidBy = ({ set, merchants }: OpenRuleSet): readonly Said[] => {
    const counted = merchants.map((one) => (unapplied.has(one.files.merchant) ? withoutLosses(one) : one));
    return [...set.rules.flatMap((rule) => judgeRule(rule, counted, set)), ...unknownTo(set, counted)];
  };
  const own = sets.filter(({ set }) => !set.by).flatMap(saidBy);
  const keyOf = ({ code, name, check }: Refusal): string => JSON.stringify([code, name, check]);
  const refused = new Set(own.flatMap(({ refusal }) => (refusal ? keyOf(refusal) : [])));
  // A refusal that the head branch's project also gives is not caused by a loosened rule.
  const byBase = sets
    .filter(({ set }) => set.by)
    .flatMap(saidBy)
    .flatMap(({ refusal, of }): readonly Said[] =>
      refusal === undefined || refused.has(keyOf(refusal)) ? [] : [{ refusal: refusalOfBase(refusal), of }],
    );
  return [...own, ...byBase];
}

/** The prefix of the codes of refusals by rules across merchants. */
const ACROSS = "across-";

/** Returns whether a refusal or finding comes from a rule across merchants. */
export function isAcross({ code }: Pick<Refusal | Finding, "code">): boolean {
  return code.startsWith(ACROSS);
}

/** Returns a plan without the results of an earlier judgement. */
function unjudged<P extends CountedPlan>(plan: P): P {
  const { refusals, findings } = plan;
  if (!refusals.some(isAcross) && !findings.some(isAcross)) return plan;
  return {
    ...plan,
    refusals: refusals.filter((refusal) => !isAcross(refusal)),
    findings: findings.filter((finding) => !isAcross(finding)),
  };
}

/** Refuses violations that plans make worse, at the merchants where people gain access; warns about existing ones. */
function judgeRule(rule: RuleAcross, merchants: readonly CountedMerchant[], set: RuleSet): readonly Said[] {
  const [before, after, settled] = (["before", "after", "settled"] as const).map((phase) =>
    joined(rule, merchants, phase),
  ) as [Access, Access, Access];
  const old = byKey(violationsOf(rule, [before, before]));
  // Deferred changes are judged as well: the rules hold while they wait, and after everything has happened.
  const now = byKey([...violationsOf(rule, [after, settled]), ...violationsOf(rule, [settled, settled])]);
  return [...now].flatMap(([key, violation]): readonly Said[] => {
    const holdings = holdingsOf(violation, rule, merchants, ["after", "settled"]);
    const planned = holdings.filter(({ merchant }) => merchant.isPlanned);
    const former = old.get(key);
    if (former !== undefined && isNoWorse(violation, former)) {
      const refusal = refusalOf(
        violation,
        isNoWorse(former, violation) ? "live" : "plan",
        holdings,
        rule,
        set,
      );
      const finding = { ...toExistingViolation(refusal), rules: set.file };
      return [{ finding, of: codesOf(planned.map(({ merchant }) => merchant)) }];
    }
    const bringing = planned.filter(({ merchant, counted, people }) =>
      people.some((person) => !merchant.people("before", counted).has(person)),
    );
    const refusal = refusalOf(violation, "plan", holdings, rule, set);
    return [{ refusal, of: codesOf(bringing.map(({ merchant }) => merchant)) }];
  });
}

/** Returns the location of a rule across merchants. */
export function locationOfAcross({ origin, at }: Pick<RuleAcross, "origin" | "at">): FileLocation {
  return { at, ...origin };
}

/** Reports roles that no merchant has, mistyped permissions, and held roles whose permissions are unknown. */
function unknownTo({ names, rules }: RuleSet, merchants: readonly CountedMerchant[]): readonly Said[] {
  const of = codesOf(merchants.filter(({ isPlanned }) => isPlanned));
  const said = (data: FindingData): Said => ({ finding: toFinding(data), of });
  const granted = new Set(merchants.flatMap((merchant) => merchant.permissions()));
  const unknown = names.flatMap(({ what, name }): readonly Said[] => {
    if (what === "role") {
      const near = PREDEFINED_ROLES.find((id) => isSlip(name, id)) ?? null;
      // The files of a merchant that was not read do not show the ids of its live roles.
      const mayBeId = isLikeRoleId(name) && near === null && !merchants.every(({ isPlanned }) => isPlanned);
      const isKnown =
        PREDEFINED_ROLES.includes(name) || mayBeId || merchants.some((merchant) => merchant.hasRole(name));
      return isKnown ? [] : [said({ code: "rule-role-unknown", name, near, shared: false, removed: null })];
    }
    const near = granted.has(name) ? undefined : [...granted].sort().find((other) => isSlip(name, other));
    return near === undefined ? [] : [said({ code: "rule-permission-unknown", name, near })];
  });
  const roles = sortedSet(merchants.flatMap((merchant) => merchant.unknownRoles()));
  const uncounted = rules.flatMap(({ counted }) =>
    counted.flatMap(({ what, name: permission }) =>
      what === "role" ? [] : roles.map((name) => said({ code: "check-unknown", name, permission })),
    ),
  );
  return [...unknown, ...uncounted];
}

/** Returns the roles in rules of a project's file that none of its merchants can have. */
export function unknownAcross(states: readonly DesiredState[]): readonly LocatedProblem[] {
  const isOpen = states.some(({ roles, sync }) => roles === undefined || sync.roles === "additive");
  const suggest = openSuggester(states.flatMap(({ roles = [] }) => roles.map(({ name }) => name)));
  return ruleSetsOf(states)
    .flatMap(({ names }) => names)
    .flatMap(({ what, name: role, location }): readonly LocatedProblem[] => {
      const isKnown = states.some(({ roles = [] }) =>
        roles.some(({ name, previously = [] }) => name === role || previously.includes(role)),
      );
      if (what !== "role" || isLikeRoleId(role) || isKnown) return [];
      const near = suggest(role) ?? predefinedRole(role);
      if (!isOpen) return [{ code: "unknown-role", role, near, location }];
      return near === null ? [] : [{ code: "unknown-shared-role", role, near, open: true, location }];
    });
}

/**
 * Returns the location of the rule across merchants that caused a refusal or finding; `null` if another rule caused
 * it.
 */
export function originAcross(
  { code, name, check, rules }: Pick<Refusal | Finding, "code" | "name" | "check" | "rules">,
  { projects = [] }: DesiredState,
): Origin | null {
  const across = projects
    .flatMap((project) => project.across ?? [])
    .find(({ origin }) => origin.file === rules);
  if (across === undefined || !isAcross({ code })) return null;
  const { origin, checks, policies } = across;
  const checked = check && checks.find((one) => checkText(one) === check);
  if (checked) return { ...checked.origin, path: [...checked.origin.path, "at_most"] };
  const [, key = ""] = pathOfCode(code.replace(ACROSS, "")) ?? [];
  const rule = listPolicies(policies).find(({ path }) => path[0] === key && path.at(-1) === name);
  return { ...origin, path: [...origin.path, ...(rule?.path ?? [key])] };
}
