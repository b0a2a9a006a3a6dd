import { type ParsedMerchantFile, parseFile } from "./config/parse-file.ts";
import { judgeDeclared } from "./plan/judge/judge-rules.ts";

/**
 * The public API: from a file's text to a plan, without a service and without a clock.
 * All functions are pure: the same inputs give the same bytes.
 */

export { type DiagnosticRule, diagnosticTable } from "./config/diagnostics/rule-table.ts";
export { merchantJsonSchema } from "./config/json-schemas.ts";
export { type PlanFile, parsePlanFile } from "./config/saved/plan-file.ts";
export type {
  Check,
  DesiredMember,
  DesiredRole,
  DesiredState,
  Environment,
  Grant,
  GuardSettings,
  IgnorePatterns,
  ManagedUser,
  Origin,
  Policies,
  RemovalLimit,
  SyncMode,
  SyncOptions,
  Until,
} from "./model/desired.ts";
export type { Diagnostic, Severity, Span } from "./model/diagnostic.ts";
export { EVENTS } from "./model/event-registry.ts";
export type {
  ApplyEvent,
  EventEntry,
  EventLevel,
  EventRegistry,
  LiveEvent,
  ReportEvent,
  StreamEvent,
} from "./model/events.ts";
export type { JsonValue, Metadata } from "./model/json.ts";
export type { LiveInvite, LiveMember, LiveRole, LiveState, LiveUser, MemberStatus } from "./model/live.ts";
export type {
  Change,
  Counts,
  Deferred,
  FieldDiff,
  Finding,
  Impact,
  MemberChange,
  MemberImage,
  MemberImpact,
  Plan,
  Reason,
  Refusal,
  RefusalRule,
  RoleChange,
  RoleImage,
  RoleRef,
} from "./model/plan.ts";
export { type Approval, approve } from "./plan/approve.ts";
export { buildPlan, type PlanInput } from "./plan/build-plan.ts";
export type { GlobMatch } from "./plan/scope.ts";

/**
 * Reads one merchant's file; nothing is thrown for a bad one. A file with includes is not read whole.
 * `now`, in milliseconds since the epoch, says which ends are past; without it, none is.
 */
export function parseMerchantFile(
  file: string,
  text: string,
  { now = Number.NEGATIVE_INFINITY }: { readonly now?: number } = {},
): ParsedMerchantFile {
  return parseFile(file, text, { now, judge: judgeDeclared });
}
