import type { Plan } from "../../model/plan.ts";
import type { ActionContext } from "../action-context.ts";
import type { Annotation } from "../action-log.ts";

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

/** Masks the e-mail addresses in annotations. */
export function maskedAnnotations(annotations: readonly Annotation[]): readonly Annotation[] {
  return annotations.map((one) => ({
    ...one,
    message: maskText(one.message),
    hint: one.hint === null ? null : maskText(one.hint),
  }));
}

/** Returns plans for publication, masked if required. */
export function publishable({ masked }: ActionContext, plans: readonly Plan[]): readonly Plan[] {
  return masked ? plans.map(maskAddresses) : plans;
}
