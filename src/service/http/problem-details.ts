import { withoutUnsafe } from "../../lib/escape.ts";
import { isDeeper, MAX_LEVELS } from "../../lib/json-text.ts";
import type { ErrorCode, ProblemDetails } from "../../model/errors.ts";

const MAX_FIELD = 4000;
const MAX_EXTENSIONS = 10;
const MAX_SHOWN = 300;

/**
 * Parses the Problem in the body of an error response, whatever its content type; `undefined` if there is none. `clean`
 * removes secrets from each decoded text.
 */
export function problemOf(body: string, clean: (text: string) => string): ProblemDetails | undefined {
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
    // The default type (RFC 9457, 3.1.1).
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

/** Returns the extension members, each as a short text; without one that replaces the detail. */
function extensionsOf(
  fields: Readonly<Record<string, unknown>>,
  clean: (text: string) => string,
): Pick<ProblemDetails, "extensions"> {
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

/** Returns whether a 403 may be about a permission: its Problem says so or names it, or gives no reason. */
function mayLackPermission(operation: Operation, problem: ProblemDetails | undefined): boolean {
  const said = problem?.detail ?? "";
  const isNamed = said === "" || said.includes(OPERATIONS[operation]);
  return isNamed || /permission|scope|privilege|forbidden|denied|authori[sz]/i.test(said);
}

/** Returns the missing permission or scope that a Problem names; `undefined` if none. */
export function missingPermission(problem: ProblemDetails | undefined): string | undefined {
  return [problem?.detail, problem?.title]
    .filter((text) => text !== undefined && /permission|scope/i.test(text))
    .map((text) => text?.match(/\b[a-z]+(?:[_.][a-z]+)+\b/)?.[0])
    .find((name) => name !== undefined);
}

/** Returns a text of the service for use in a message: one line, shortened, without unsafe characters. */
export function sanitizeLine(value: string): string {
  // Shortened before as well, so that a huge body costs nothing.
  const clean = withoutUnsafe(value.slice(0, 10 * MAX_SHOWN));
  return clean.length > MAX_SHOWN ? `${clean.slice(0, MAX_SHOWN)}…` : clean;
}

function objectIn(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (isDeeper(value, MAX_LEVELS)) return undefined;
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === "object" && first !== null ? { ...first } : undefined;
  } catch {
    return undefined;
  }
}

/** Shortens a text, unescaped: renderers escape it. */
function bounded(text: string): string {
  return text.length > MAX_FIELD ? `${text.slice(0, MAX_FIELD)}…` : text;
}

/** The message for a status other than success. */
export interface StatusMessage {
  readonly code: ErrorCode;
  readonly title: string;
  readonly hint: (context: RequestContext, problem: ProblemDetails | undefined) => string;
}

/** Returns the message for a status other than success. */
export function statusMessage(status: number): StatusMessage {
  const message = STATUS_MESSAGES[status];
  if (message) return message;
  if (status >= 500) return { ...SERVER_ERROR, title: "Server Error" };
  if (status >= 300 && status < 400 && status !== 304) return REDIRECT;
  return {
    code: "unexpected-status",
    title: "",
    hint: () =>
      "This status is not part of the API contract. Check the base URL; then contact the service's operators.",
  };
}

/** Returns the permission that a Problem names, else the documented one; scopes are alternatives, so all are listed. */
function neededFor(operation: Operation, problem: ProblemDetails | undefined): string {
  const listed = OPERATIONS[operation];
  return operation === "list memberships"
    ? `scope ${listed}`
    : `permission ${missingPermission(problem) ?? listed}`;
}

const REDIRECT: StatusMessage = {
  code: "unexpected-status",
  title: "Redirect",
  hint: () =>
    "Redirects are not followed, because they could send the key elsewhere. Set the base URL to the final address.",
};

const SERVER_ERROR: StatusMessage = {
  code: "service-failed",
  title: "Server Error",
  hint: () => "The service has an internal error. Try again later.",
};

const STATUS_MESSAGES: Readonly<Record<number, StatusMessage>> = {
  400: {
    code: "bad-request",
    title: "Bad Request",
    hint: () =>
      "The service rejected the request as malformed. See the detail. If the file is valid, report this as a bug in rolecall.",
  },
  401: {
    code: "unauthorized",
    title: "Unauthorized",
    hint: ({ keySource }) =>
      `The service rejected the API key in ${keySource}. Check it, or create a new one.`,
  },
  402: {
    code: "request-failed",
    title: "Request Failed",
    hint: () => "The request was valid, but the service could not complete it. See the detail.",
  },
  403: {
    code: "forbidden",
    title: "Forbidden",
    hint: ({ operation, keySource }, problem) =>
      mayLackPermission(operation, problem)
        ? `The key in ${keySource} may lack the ${neededFor(operation, problem)} to ${operation}.`
        : "Fix what the detail describes, then run the command again.",
  },
  404: {
    code: "not-found",
    title: "Not Found",
    hint: ({ operation, keySource }) =>
      isAboutOne(operation)
        ? 'It may have been removed in the meantime. Run "rolecall plan" to see the live state.'
        : `Check the merchant code, the base URL, and that the key in ${keySource} belongs to that merchant.`,
  },
  408: {
    code: "timeout",
    title: "Request Timeout",
    hint: () => "The service waited too long for the request. Check the network, then run the command again.",
  },
  409: {
    code: "conflict",
    title: "Conflict",
    hint: () =>
      'This conflicts with the current live state, which somebody else may have changed. Run "rolecall plan" to see the difference.',
  },
  422: {
    code: "unprocessable",
    title: "Unprocessable Entity",
    hint: () =>
      "The service rejected the request as invalid. Correct the file as the detail says, and plan again.",
  },
  304: {
    code: "unexpected-status",
    title: "Not Modified",
    hint: () => "Only a cache returns this status. Check for a proxy or cache in front of the service.",
  },
  424: {
    code: "dependency-failed",
    title: "External Dependency Failed",
    hint: () => "A dependency of the service has failed. Try again later.",
  },
  429: {
    code: "rate-limited",
    title: "Too Many Requests",
    hint: () =>
      "The service still limits requests after many attempts. Try again later, or use a lower --concurrency.",
  },
  503: { ...SERVER_ERROR, title: "Service Unavailable" },
};

/** The request behind a failure. */
export interface RequestContext {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly attempts: number;
  /** Name of the environment variable with the key. */
  readonly keySource: string;
  /** True if it changes something. */
  readonly write: boolean;
  /** True if an earlier attempt may have been applied. */
  readonly maybeApplied: boolean;
  /** Secrets that no message may repeat, even if the service does. */
  readonly secrets: readonly string[];
}

/** The operations of the contract, each with the permission or scope that it requires. */
export const OPERATIONS = {
  "list roles": "roles_list",
  "create a role": "roles_create",
  "retrieve a role": "roles_view",
  "update a role": "roles_update",
  "delete a role": "roles_delete",
  "list members": "merchant_read",
  "create a member": "members_create",
  "retrieve a member": "members_view",
  "update a member": "members_update",
  "delete a member": "members_delete",
  "list memberships": "user.profile or user.profile_readonly",
} as const;

/** An operation of the contract. */
export type Operation = keyof typeof OPERATIONS;

/** Returns whether an operation is about an existing role or member. */
function isAboutOne(operation: Operation): boolean {
  return /^(?:retrieve|update|delete) /.test(operation);
}
