import { standingNoun } from "../../kernel/findings/finding-table.ts";
import { isFileOverride } from "../../kernel/rules/settings/every-setting.ts";
import { counted, groupByKey, grouped, shellWord, sortNaturally } from "../../lib/text.ts";
import type { Change, Counts, Finding, Impact, Plan, Refusal } from "../../model/plan.ts";
import { type RowView, rowOf } from "./change-view.ts";
import { namesText } from "./names-text.ts";
import { type ChangeOrigin, isRisk, type RiskView, risksOf } from "./risk-view.ts";

/** The changes of one resource, in the order of the plan. */
export interface GroupView {
  readonly title: string;
  readonly rows: readonly RowView[];
}

/** A removal that waits, and what it waits for. */
export interface DeferredView extends RowView {
  readonly until: string;
}

/** The reason why an apply would be refused, and its override. */
export interface RefusalView {
  readonly rule: Refusal["rule"];
  readonly code: string;
  readonly resource: Refusal["resource"];
  /** The role or member that it concerns; `null` if there is none. */
  readonly name: string | null;
  readonly message: string;
  readonly hint: string;
  /** The override without a fingerprint; `null` if nothing overrides it. */
  readonly overrideOf: string | null;
  /** The command and option that override it for this plan; `null` if nothing does. */
  readonly override: string | null;
  /** True if the merchant's files can override it. */
  readonly inFile: boolean;
  /** The location of the rule; `null` if unknown. */
  readonly place: string | null;
}

/** A finding, with the location of its subject in the files. */
export interface FindingView extends Finding {
  /** The location of the rule; `null` if the finding is about no rule. */
  readonly place: string | null;
}

/** One merchant's plan as every format shows it. */
export interface PlanView {
  readonly merchant: string;
  readonly environment: string | null;
  readonly service: string;
  readonly fingerprint: string;
  readonly counts: Counts;
  readonly impact: Impact;
  /** The risks besides errors and refusals. */
  readonly risks: readonly RiskView[];
  readonly origin: ChangeOrigin;
  readonly groups: readonly GroupView[];
  readonly deferred: readonly DeferredView[];
  readonly refusals: readonly RefusalView[];
  /** Refusals that are overridden. */
  readonly overridden: readonly RefusalView[];
  /**
   * The line under `guards` in the file that overrides the refusals that can be overridden; `null` if there are none.
   */
  readonly overrides: string | null;
  readonly errors: readonly FindingView[];
  /** Warnings; the same one about several roles or members is merged. */
  readonly warnings: readonly FindingView[];
  readonly everyWarning: readonly FindingView[];
  /** Warnings about what the plan does not touch, which are not in the other list. */
  readonly untouched: readonly FindingView[];
  /** Environment variables that an apply reads first passwords from; by name. */
  readonly passwords: readonly string[];
}

const FINGERPRINT_SHOWN = 12;

/** Returns an impact with its people in natural order. */
export function inNaturalOrder(impact: Impact): Impact {
  return { ...impact, members: sortNaturally(impact.members, ({ name }) => name) };
}

/** Returns the location of the rule behind a refusal or a finding. */
export type PlaceOf = (plan: Plan, found: Refusal | Finding) => string | null;

/** The command that applies a plan. */
export type PlanCommand = "apply" | "undo";

/** Returns the view of a plan that every format shows; formats differ in style only. */
export function planView(
  plan: Plan,
  placeOf: PlaceOf = () => null,
  overridden: readonly Refusal[] = [],
  command: PlanCommand = "apply",
): PlanView {
  const { roles, members } = plan.summary;
  const namesakes = namesakesAmong(plan.changes);
  const group = (title: string, resource: Change["resource"]): GroupView => ({
    title,
    rows: plan.changes
      .filter((change) => change.resource === resource)
      .map((change) => {
        const row = rowOf(change, plan.impact.sensitive);
        if (!namesakes.has(change)) return row;
        return { ...row, remark: [change.id, row.remark].filter(Boolean).join(", ") };
      }),
  });
  const fingerprint = plan.fingerprint.slice(0, FINGERPRINT_SHOWN);
  const refusalView = (refusal: Refusal): RefusalView => {
    const { rule, code, resource, name, message, hint, override: overrideOf } = refusal;
    // An apply does not know the rules of a base branch, so only the file can override them.
    const override =
      overrideOf === null || refusal.by === "base" ? null : overrideCommand(command, overrideOf, fingerprint);
    const inFile = isOwn(refusal);
    const place = placeOf(plan, refusal);
    return { rule, code, resource, name, message, hint, overrideOf, override, inFile, place };
  };
  const refusals = plan.refusals.filter((refusal) => !overridden.includes(refusal));
  const inFile = plan.overridden ?? [];
  const findingView = (finding: Finding): FindingView => ({ ...finding, place: placeOf(plan, finding) });
  const warnings = plan.findings.filter((finding) => finding.severity === "warning" && !isRisk(finding));
  const touched = namesTouchedBy(plan);
  const isAside = (finding: Finding): boolean => standingNoun(finding) !== null && !touched.has(finding.name);
  const everyWarning = warnings.filter((finding) => !isAside(finding)).map(findingView);
  return {
    merchant: plan.merchant,
    environment: plan.environment,
    service: plan.service,
    fingerprint,
    counts: addCounts([roles, members]),
    impact: inNaturalOrder(plan.impact),
    risks: risksOf(plan),
    origin: "plan",
    groups: [group("Roles", "role"), group("Members", "member")].filter(({ rows }) => rows.length > 0),
    deferred: plan.deferred.map(({ change, role, waitsFor }) => ({
      ...rowOf(change),
      until: `waits until ${oneOf(waitsFor)} has accepted${role === null ? "" : `: "${role}" would have too few holders`}`,
    })),
    refusals: refusals.map(refusalView),
    overridden: [...inFile, ...overridden].map(refusalView),
    overrides:
      command === "apply" && refusals.some(isOwn) ? overridesOf([...inFile, ...refusals], fingerprint) : null,
    errors: plan.findings.filter(({ severity }) => severity === "error").map(findingView),
    warnings: joinSame(everyWarning),
    everyWarning,
    untouched: warnings.filter(isAside).map(findingView),
    passwords: [...new Set(plan.changes.flatMap(passwordOf))].sort(),
  };
}

/** Returns the changes that are told apart by their ids: another role or member has the same name. */
function namesakesAmong(changes: readonly Change[]): ReadonlySet<Change> {
  const groups = groupByKey(changes, ({ resource, name }) => `${resource} ${name}`);
  return new Set(groups.filter(({ length }) => length > 1).flat());
}

/** Returns a view with the changes of each group in the order of a report: removals first, then by name. */
export function inReportOrder<View extends PlanView>(view: View): View {
  const groups = view.groups.map(({ title, rows }) => ({
    title,
    rows: sortNaturally(rows, ({ name }) => name).toSorted((a, b) => KIND_ORDER[a.kind] - KIND_ORDER[b.kind]),
  }));
  return { ...view, groups };
}

const KIND_ORDER: Readonly<Record<Change["kind"], number>> = { delete: 0, replace: 1, update: 2, create: 3 };

/** Returns the roles and members that a plan changes, or whose holders and access it changes. */
function namesTouchedBy({ changes, deferred, impact }: Plan): ReadonlySet<string> {
  const changed = [...changes, ...deferred.map(({ change }) => change)];
  return new Set([...changed, ...impact.members, ...impact.roles].map(({ name }) => name));
}

/** Returns whether the merchant's file can override a refusal. */
function isOwn({ override, rules }: Refusal): boolean {
  return override !== null && rules === undefined && isFileOverride(override);
}

/** Returns the command and option that override a refusal; of the fingerprint, the beginning is used. */
export function overrideCommand(command: PlanCommand, override: string, fingerprint: string): string {
  return `${command} --allow ${shellWord(`${override}@${fingerprint.slice(0, FINGERPRINT_SHOWN)}`)}`;
}

/** Returns the overrides of refusals as a line of YAML; a file cannot override enforced rules. */
function overridesOf(refusals: readonly Refusal[], fingerprint: string): string {
  return overridesLine(
    refusals.filter(isOwn).flatMap(({ override }) => override ?? []),
    fingerprint,
  );
}

/** Returns overrides, bound to a fingerprint, as a line of YAML. */
export function overridesLine(whats: readonly string[], fingerprint: string): string {
  const texts = whats.map((what) => `${what}@${fingerprint.slice(0, FINGERPRINT_SHOWN)}`);
  return `overrides: [${[...new Set(texts)].map(yamlText).join(", ")}]`;
}

function yamlText(text: string): string {
  return /^[\w@.+=: -]+$/.test(text) && !/: /.test(text) ? text : JSON.stringify(text);
}

function passwordOf(change: Change): readonly string[] {
  if (change.resource !== "member") return [];
  return change.after?.managed?.passwordEnv ? [change.after.managed.passwordEnv] : [];
}

/** Adds up counts. */
export function addCounts(counts: readonly Counts[]): Counts {
  const sum = (key: keyof Counts): number =>
    counts.reduce((total, counted) => total + (counted[key] ?? 0), 0);
  const unmanaged = sum("unmanaged");
  return {
    create: sum("create"),
    update: sum("update"),
    replace: sum("replace"),
    delete: sum("delete"),
    unchanged: sum("unchanged"),
    ...(unmanaged > 0 && { unmanaged }),
  };
}

/** "2 to create, 1 to update; 31 unchanged", or "no changes; 34 unchanged, 412 not managed". */
export function countsText(counts: Counts): string {
  const { create, update, replace, delete: remove } = counts;
  const parts = [
    [create, "to create"],
    [update, "to update"],
    [replace, "to replace"],
    [remove, "to delete"],
  ] as const;
  const changes = parts.filter(([count]) => count > 0).map(([count, what]) => `${grouped(count)} ${what}`);
  return `${changes.length === 0 ? "no changes" : changes.join(", ")}; ${untouchedText(counts)}`;
}

/** "31 unchanged", "412 not managed", or both. */
export function untouchedText({ unchanged, unmanaged = 0 }: Counts): string {
  const kept = unchanged > 0 || unmanaged === 0 ? [`${grouped(unchanged)} unchanged`] : [];
  return [...kept, ...(unmanaged > 0 ? [`${grouped(unmanaged)} not managed`] : [])].join(", ");
}

/** "5 warnings about what is unchanged: 3 expired invitations, 2 disabled members (--verbose)"; empty if there are none. */
export function unchangedWarningsText(findings: readonly FindingView[]): string {
  if (findings.length === 0) return "";
  const parts = groupByKey(
    findings.map((finding) => standingNoun(finding) ?? (["other"] as const)),
    String,
  )
    .toSorted((a, b) => b.length - a.length)
    .map((nouns) => counted(nouns.length, ...nouns[0]));
  return `${counted(findings.length, "warning")} about what is unchanged: ${parts.join(", ")} (--verbose)`;
}

/** "2 problems to fix before it can be applied." */
export function errorsText(errors: readonly Finding[]): string {
  return `${counted(errors.length, "problem")} to fix before it can be applied.`;
}

/** "An apply would be refused, for the 2 reasons above." */
export function refusalsText(refusals: readonly RefusalView[]): string {
  return refusals.length === 1
    ? "An apply would be refused, for the reason above."
    : `An apply would be refused, for the ${counted(refusals.length, "reason")} above.`;
}

/** Returns the number of changes. */
export function changesOf({ create, update, replace, delete: remove }: Counts): number {
  return create + update + replace + remove;
}

function oneOf(names: readonly string[]): string {
  return names.length === 1 ? names.join("") : `one of ${names.join(", ")}`;
}

/** The number from which equal findings are joined. */
const MANY = 3;

const NAMES_SHOWN = 10;

/** A finding or refusal. */
type Said = Pick<FindingView, "code" | "message" | "hint"> &
  Partial<Pick<FindingView, "severity" | "place"> & Pick<RefusalView, "override">> & {
    readonly resource: RefusalView["resource"];
    readonly name: string | null;
  };

/**
 * Combines findings, or refusals, with the same message about several roles or members into the first, which names the
 * others.
 */
export function joinSame<Found extends Said>(found: readonly Found[]): readonly Found[] {
  if (found.length < MANY) return found;
  return groupByKey(found, whatItSays).flatMap((group) => (group.length < MANY ? group : joined(group)));
}

/** The findings about two addresses of a person, which may concern many people when a domain changes. */
const CHANGED_ADDRESS_CODES: ReadonlySet<string> = new Set([
  "member-former-differs",
  "member-likely-renamed",
  "member-same-user",
]);

/** Returns a key of a finding or refusal without its subject's name. */
function whatItSays({ code, severity, resource, name, message, hint, override, place }: Said): string {
  const unnamed = (text: string): readonly string[] =>
    text.split(CHANGED_ADDRESS_CODES.has(code) ? /[^\s"]+@[^\s"]*[^\s".,:]/ : name || /$/);
  const texts = [unnamed(message), hint === null ? null : unnamed(hint)];
  return JSON.stringify([code, severity, resource, override, place, texts]);
}

function joined<Found extends Said>(found: readonly Found[]): readonly Found[] {
  const [first, ...others] = sortNaturally(found, ({ name }) => name ?? "");
  if (first === undefined) return [];
  const names = others.flatMap(({ name }) => name ?? []);
  if (names.length < others.length) return [first];
  const listed = namesText(names, NAMES_SHOWN);
  const same = `This also applies to ${counted(names.length, `other ${first.resource ?? "one"}`)}: ${listed}.`;
  return [{ ...first, message: `${first.message} ${same}` }];
}

/** Returns " 2 removals deferred.", to follow a sum; empty if there are none. */
export function deferredText(count: number): string {
  return count > 0 ? ` ${counted(count, "removal")} deferred.` : "";
}
