import { locate } from "../../config/yaml/locate.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Finding, Plan, Refusal } from "../../model/plan.ts";
import type { PlaceOf } from "../../render/view/plan-view.ts";
import type { Annotation } from "../action-log.ts";

/** The files' texts with their displayed names. */
export type Sources = readonly { readonly file: string; readonly text: string }[];

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

/** Converts findings and refusals to annotations: errors, then refusals, then warnings. */
export function planAnnotations(
  plans: readonly Plan[],
  states: readonly DesiredState[],
  sources: Sources,
  placeOf: PlaceOf,
): readonly Annotation[] {
  const entry = entryPlaces(states, sources);
  const placed = (plan: Plan, found: Refusal | Finding): Place => {
    const written = /^(.*):(\d+):\d+$/.exec(placeOf(plan, found) ?? "");
    if (written !== null) return { file: written[1] ?? null, line: Number(written[2]) };
    return entry(plan.merchant, found.resource ?? "role", found.name ?? "");
  };
  const findings = plans.flatMap((plan) =>
    plan.findings.map((finding): Annotation => {
      const { severity, message, hint, code } = finding;
      const text = `${plan.merchant}: ${message}`;
      return { level: severity, message: text, hint, title: code, ...placed(plan, finding) };
    }),
  );
  const refusals = plans.flatMap((plan) =>
    plan.refusals.map((refusal): Annotation => {
      const { rule, code, message, hint } = refusal;
      const place = placed(plan, refusal);
      const text = `${plan.merchant}: an apply would be refused: ${message}`;
      return { level: "error", message: text, hint, title: `${rule} ${code}`, ...place };
    }),
  );
  const of = (level: Annotation["level"]): readonly Annotation[] =>
    findings.filter((one) => one.level === level);
  return [...of("error"), ...refusals, ...of("warning")];
}

type Place = Pick<Annotation, "file" | "line">;

/** Returns a lookup of the line that declares a role or member; without one, of the merchant's file. */
function entryPlaces(
  states: readonly DesiredState[],
  sources: Sources,
): (merchant: string, resource: "role" | "member", name: string) => Place {
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const byMerchant = new Map(states.map((state) => [state.merchant, state]));
  return (merchant, resource, name) => {
    const state = byMerchant.get(merchant);
    const role = resource === "role" ? state?.roles?.find((one) => one.name === name) : undefined;
    const origin =
      resource === "role"
        ? (role?.adjusted ?? role?.origin)
        : state?.members?.find(({ email }) => email.toLowerCase() === name.toLowerCase())?.origin;
    if (origin === undefined) return { file: state?.origin.file ?? null, line: null };
    const span = locate(texts.get(origin.file) ?? "", origin.path);
    return { file: origin.file, line: span?.line ?? null };
  };
}
