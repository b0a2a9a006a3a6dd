import type { Problem } from "../model/errors.ts";
import { isDeeper, MOST_LEVELS } from "./wire.ts";

const MAX_FIELD = 4000;
const MAX_EXTENSIONS = 10;
const MAX_SHOWN = 300;

/**
 * Reads a Problem from an error's body as far as it is one, whatever it calls itself; undefined where it says nothing.
 * `clean` sees each text as it was meant, after all escapes of the body are undone.
 */
export function problemOf(body: string, clean: (text: string) => string): Problem | undefined {
  const fields = objectIn(body);
  if (fields === undefined) return undefined;
  const text = (...names: readonly string[]): string | undefined =>
    names
      .map((name) => fields[name])
      .filter((value): value is string => typeof value === "string" && value !== "")
      .map((value) => bounded(clean(value)))[0];
  const detail = text("detail", ...OTHER_DETAILS);
  const [type, title, instance] = [text("type"), text("title"), text("instance")];
  const status = fields["status"];
  if ([type, title, detail, instance].every((value) => value === undefined)) return undefined;
  return {
    // What an absent type stands for (RFC 9457, 3.1.1).
    type: type ?? "about:blank",
    ...(title !== undefined && { title }),
    ...(Number.isInteger(status) && { status: Number(status) }),
    ...(detail !== undefined && { detail }),
    ...(instance !== undefined && { instance }),
    ...extensionsOf(fields, clean),
  };
}

/** Names that older operations use for the detail. */
const OTHER_DETAILS = ["message", "error_message", "error_description", "error"];

const STANDARD: ReadonlySet<string> = new Set(["type", "title", "status", "detail", "instance"]);

/** The members that the standard does not name, each as a short text; one that stands for the detail is none. */
function extensionsOf(
  fields: Readonly<Record<string, unknown>>,
  clean: (text: string) => string,
): Pick<Problem, "extensions"> {
  const standsIn =
    "detail" in fields ? undefined : OTHER_DETAILS.find((name) => typeof fields[name] === "string");
  const shown = Object.entries(fields)
    .filter(([name, value]) => !STANDARD.has(name) && name !== standsIn && value !== null)
    .slice(0, MAX_EXTENSIONS)
    .map(([name, value]) => ({
      name: sanitizeLine(clean(name)),
      value: sanitizeLine(clean(typeof value === "string" ? value : JSON.stringify(value))),
    }));
  return shown.length === 0 ? {} : { extensions: shown };
}

/** Whether a refusal may be about a permission: it says so, or does not say why. */
export function mayLackPermission(problem: Problem | undefined): boolean {
  const said = problem?.detail ?? problem?.title ?? "";
  return said === "" || /permission|scope|privilege|forbidden|denied|authori[sz]/i.test(said);
}

/** The permission or scope that a Problem says is missing; undefined where it names none. */
export function missingPermission(problem: Problem | undefined): string | undefined {
  return [problem?.detail, problem?.title]
    .filter((text) => text !== undefined && /permission|scope/i.test(text))
    .map((text) => text?.match(/\b[a-z]+(?:[_.][a-z]+)+\b/)?.[0])
    .find((name) => name !== undefined);
}

/** Text from the service on one line, bounded, without control or invisible characters: fit to stand in a message. */
export function sanitizeLine(value: string): string {
  // Cut before, too, so that a huge body costs nothing.
  const clean = value
    .slice(0, 10 * MAX_SHOWN)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN)}…` : clean;
}

function objectIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (isDeeper(value, MOST_LEVELS)) return undefined;
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === "object" && first !== null ? { ...first } : undefined;
  } catch {
    return undefined;
  }
}

/** Whole for all practical purposes; whoever shows it escapes it. */
function bounded(text: string): string {
  return text.length > MAX_FIELD ? `${text.slice(0, MAX_FIELD)}…` : text;
}
