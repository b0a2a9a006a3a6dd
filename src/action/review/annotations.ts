import { isFileError } from "../../app/project/file-errors.ts";
import { runFingerprint } from "../../kernel/diff/fingerprint.ts";
import { applyOverrides, type Override } from "../../kernel/rules/overrides.ts";
import { oneLine } from "../../lib/escape.ts";
import { firstOf } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Finding, Plan, Refusal } from "../../model/plan.ts";
import type { PlaceOf } from "../../show/view/plan-view.ts";
import type { Annotation } from "../context/action-log.ts";
import { entryPlaces, type Place, type Sources } from "./entry-places.ts";

/** Converts diagnostics to annotations; violations of the file's own policies and checks come last. */
export function diagnosticAnnotations(diagnostics: readonly Diagnostic[]): readonly Annotation[] {
  const rank = ({ refusal }: Diagnostic): number => (refusal ? 1 : 0);
  return [...diagnostics]
    .sort((a, b) => rank(a) - rank(b))
    .map(({ severity, message, hint, code, file, span }) => ({
      level: severity,
      message,
      hint: hint ?? null,
      title: code,
      file,
      line: span?.line ?? null,
    }));
}

/** Renders a diagnostic as `file:line:column: severity: message [code]`. */
export function diagnosticLine({ severity, file, span, message, code }: Diagnostic): string {
  return oneLine(`${file}${span ? `:${span.line}:${span.column}` : ""}: ${severity}: ${message} [${code}]`);
}

const ERRORS_SHOWN = 20;

/** Lists the errors of files that cannot be read, the first of them if there are many. */
export function fileErrorLines(diagnostics: readonly Diagnostic[]): readonly string[] {
  return firstOf(diagnostics.filter(isFileError).map(diagnosticLine), ERRORS_SHOWN, "error");
}

/** Converts findings and refusals to annotations: errors, then refusals, then warnings; overridden ones are notices. */
export function planAnnotations(
  plans: readonly Plan[],
  states: readonly DesiredState[],
  sources: Sources,
  placeOf: PlaceOf,
  overrides: readonly Override[] = [],
): readonly Annotation[] {
  const entry = declaringPlaces(states, sources);
  const placed = (plan: Plan, problem: Refusal | Finding): Place => {
    const written = /^(.*):(\d+):\d+$/.exec(placeOf(plan, problem) ?? "");
    if (written !== null) return { file: written[1] ?? null, line: Number(written[2]) };
    return entry(plan.merchant, problem.resource ?? "role", problem.name ?? "");
  };
  const findings = plans.flatMap((plan) =>
    plan.findings.map((finding): Annotation => {
      const { severity, message, hint, code } = finding;
      const text = `${plan.merchant}: ${message}`;
      return { level: severity, message: text, hint, title: code, ...placed(plan, finding) };
    }),
  );
  const run = runFingerprint(plans);
  const refusals = plans.flatMap((plan) => {
    const { overridden } = applyOverrides(plan, overrides, run);
    return plan.refusals.map((refusal): Annotation => {
      const { rule, code, message, hint } = refusal;
      const [title, place] = [`${rule} ${code}`, placed(plan, refusal)];
      if (overridden.includes(refusal)) {
        const text = `${plan.merchant}: overridden: ${message}`;
        return { level: "notice", message: text, hint: null, title, ...place };
      }
      const text = `${plan.merchant}: an apply would be refused: ${message}`;
      return { level: "error", message: text, hint, title, ...place };
    });
  });
  const of = (level: Annotation["level"]): readonly Annotation[] =>
    findings.filter((finding) => finding.level === level);
  return [...of("error"), ...refusals, ...of("warning")];
}

/** Returns a lookup of the line that declares a role or member; without one, of the merchant's file. */
function declaringPlaces(
  states: readonly DesiredState[],
  sources: Sources,
): (merchant: string, resource: "role" | "member", name: string) => Place {
  const placeOf = entryPlaces(sources);
  const byMerchant = new Map(states.map((state) => [state.merchant, state]));
  return (merchant, resource, name) => {
    const state = byMerchant.get(merchant);
    const role = resource === "role" ? state?.roles?.find((entry) => entry.name === name) : undefined;
    const origin =
      resource === "role"
        ? (role?.adjusted ?? role?.origin)
        : state?.members?.find(({ email }) => email.toLowerCase() === name.toLowerCase())?.origin;
    if (origin === undefined) return { file: state?.origin.file ?? null, line: null };
    return placeOf(origin);
  };
}

const ADDRESS = /[^\s@"'`<>(),;:=\\[\]{}|]+@([^\s@"'`<>(),;:=\\[\]{}|]+\.[^\s@"'`<>(),;:=\\[\]{}|]+)/g;

/** Masks the e-mail addresses in a text: `a***@example.com`. */
export function maskText(text: string): string {
  return text.replaceAll(ADDRESS, (address, domain: string) => `${[...address][0] ?? ""}***@${domain}`);
}

/** Masks the e-mail addresses in all strings of a value; object keys are kept. */
export function maskAddresses<T>(value: T): T {
  if (typeof value === "string") return maskText(value) as T;
  if (Array.isArray(value)) return value.map(maskAddresses) as T;
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskAddresses(inner)])) as T;
  }
  return value;
}
