/**
 * The public API: reads files and live states, plans, applies, and renders the results. Functions that reach no
 * file, service or clock are pure: the same inputs give the same bytes.
 */

import { describeProblems } from "./kernel/messages/describe-problems.ts";
import type { LocatedProblem } from "./kernel/problems/problem.ts";
import { buildDesiredState } from "./kernel/read/build-desired-state.ts";
import { analyzeSource } from "./kernel/read/load-sources.ts";
import { judgeDeclared } from "./kernel/rules/judge-rules.ts";
import { parseText } from "./kernel/yaml/to-value.ts";
import type { DesiredState } from "./model/desired.ts";
import type { Diagnostic } from "./model/diagnostic.ts";

export {
  type AppliedPlan,
  type ApplyPlanOptions,
  applyToService as applyPlan,
} from "./api/apply-to-service.ts";
export {
  type DiagnosticFormat,
  type ExpiringPeriod,
  expiringAccess,
  type PlanDocumentFormat,
  type RenderPlanOptions,
  type RenderReportOptions,
  renderFileDiagnostics as renderDiagnostics,
  renderPlan,
  renderReport,
} from "./api/documents.ts";
export {
  type FilesRead,
  type LoadMerchantsOptions,
  loadMerchantFiles as loadMerchants,
} from "./api/merchant-files.ts";
export {
  type MerchantPlan,
  type OpenServiceOptions,
  openService,
  planMerchant,
  type RemoteService,
  readLive,
} from "./api/remote-service.ts";
export { globMatcher } from "./app/session/session.ts";
export { declaredSnapshot, liveSnapshot } from "./ask/access/access-snapshot.ts";
export { whoCan, whoHas, whoIs } from "./ask/access/ask-access.ts";
export { type LintRuleRow, lintTable } from "./ask/lint/lint-access.ts";
export { declaredReport, type LiveReportInput, liveReport } from "./ask/report/build-access-report.ts";
export { type EditedYaml, editYaml, type YamlEdit, type YamlEditOptions } from "./edit/yaml/edit-yaml.ts";
export type { OpenRow } from "./kernel/approval/account.ts";
export {
  type Comparison,
  compareReviewed,
  isFailure,
} from "./kernel/approval/compare-reviewed.ts";
export type { UnseenDate } from "./kernel/approval/find-unseen.ts";
export type { FreshPlan } from "./kernel/approval/fresh-context.ts";
export type { LostDate } from "./kernel/approval/lost-dates.ts";
export type { Review } from "./kernel/approval/merged-reviews.ts";
export type { Seal } from "./kernel/approval/seal.ts";
export type { GlobMatch } from "./kernel/diff/scope.ts";
export type { DateEffect } from "./kernel/findings/date-words.ts";
export { type FindingRule, findingTable } from "./kernel/findings/finding-table.ts";
export { buildPlan, type PlanInput } from "./kernel/plan/build-plan.ts";
export type { UpcomingDate } from "./kernel/plan/upcoming-dates.ts";
export type { Path } from "./kernel/problems/problem.ts";
export type { DiagnosticRule, Rule } from "./kernel/problems/rule-table.ts";
export { diagnosticTable } from "./kernel/rules/every-rule.ts";
export { judgeRun } from "./kernel/rules/overrides.ts";
export type { CountedPlan, PlanInRun } from "./kernel/rules/people-across.ts";
export { merchantJsonSchema, projectJsonSchema } from "./kernel/saved/json-schemas.ts";
export { type PlanFile, parsePlanFile } from "./kernel/saved/plan-file.ts";
export type {
  ApplyResult,
  ChangePart,
  JournalEntry,
  MerchantNote,
  MerchantOutcome,
  Outcome,
  Phase,
  Removal,
  RunEnded,
  RunStarted,
  RunVerified,
  StopCause,
  UndoNote,
  UndoNoteCode,
  WriteEnded,
  WriteIntended,
} from "./model/apply.ts";
export type { AccountEntry, RefusedChange, RowPlace, Verdict } from "./model/approval-account.ts";
export type {
  Addressed,
  Amount,
  Check,
  DesiredMember,
  DesiredRole,
  DesiredState,
  Duration,
  EnforcedRules,
  Environment,
  Escalation,
  From,
  GainLimit,
  GainLimits,
  Grant,
  GuardSettings,
  IgnorePatterns,
  Leaver,
  ManagedUser,
  Origin,
  Policies,
  ProjectSettings,
  Reinvite,
  RulesAcross,
  RunLimits,
  Suspension,
  SyncMode,
  SyncOptions,
  Until,
} from "./model/desired.ts";
export type { Diagnostic, Severity, Span } from "./model/diagnostic.ts";
export {
  type ErrorCode,
  type ErrorDetails,
  type FailedRequest,
  type Failure,
  type ProblemDetails,
  RolecallError,
} from "./model/errors.ts";
export { EVENTS } from "./model/event-registry.ts";
export type {
  ApplyEvent,
  EventEntries,
  EventEntry,
  EventLevel,
  EventRegistry,
  FailureJson,
  LiveEvent,
  ReportEvent,
  StreamEvent,
} from "./model/events.ts";
export type {
  DiffOf,
  Held,
  ManagedProperties,
  MemberField,
  MemberProperties,
  MemberValues,
  NamedDiff,
  RoleImage,
  RoleRef,
  SentOf,
  Some,
} from "./model/field-values.ts";
export type { JsonValue, Metadata } from "./model/json.ts";
export type { LiveInvite, LiveMember, LiveRole, LiveState, LiveUser, MemberStatus } from "./model/live.ts";
export type {
  Change,
  ChangeBase,
  ChangeOf,
  Counts,
  Create,
  Deferred,
  Delete,
  FieldDiff,
  Finding,
  Impact,
  MemberChange,
  MemberImage,
  MemberImpact,
  Plan,
  Reason,
  RecordedInput,
  Refusal,
  RefusalRule,
  Replace,
  RoleChange,
  Update,
} from "./model/plan.ts";
export type {
  AccessAnswer,
  AccessAnswers,
  AccessEnd,
  AccessSnapshot,
  AccessSuspension,
  ExpiringAccess,
  HeldRole,
  HoldingStatus,
  SnapshotMember,
  SnapshotRole,
  UnknownAnswer,
} from "./model/questions.ts";
export type {
  AccessReport,
  ReportedEnd,
  ReportedHolding,
  ReportedMember,
  ReportedRole,
} from "./model/reports.ts";
export type {
  FieldValues,
  Reviewed,
  ReviewedDate,
  ReviewedPerson,
  ReviewedResource,
  ReviewedState,
} from "./model/reviewed.ts";
export { formatTable } from "./show/formats/every-format.ts";
export type { FormatRow } from "./show/formats/format.ts";

/**
 * The desired state and diagnostics of a merchant's file; `state` is `null` if there is an error other than a refusal.
 */
export interface ParsedMerchantFile {
  readonly state: DesiredState | null;
  /** Sorted by line and column. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads one merchant's file; never throws for an invalid one. Included files are not read, and the rules that its
 * project enforces are not known. `now`, in ms since the epoch, determines which ends are past; without it, none are.
 */
export function parseMerchantFile(
  file: string,
  text: string,
  { now = Number.NEGATIVE_INFINITY }: { readonly now?: number } = {},
): ParsedMerchantFile {
  const source = analyzeSource(file, text, parseText(text), now);
  const unread = source.includes.map(
    ({ location }): LocatedProblem => ({ code: "include-not-read", location }),
  );
  const { state, problems } = buildDesiredState(source, () => null, { now, judge: judgeDeclared });
  const located = [...source.problems, ...unread, ...problems];
  return {
    state,
    diagnostics: located.length === 0 ? [] : describeProblems(new Map([[file, text]]), located),
  };
}
