import {
  type ErrorCode,
  type ErrorDetails,
  type FailedRequest,
  type ProblemDetails,
  RolecallError,
} from "../../model/errors.ts";
import { problemOf, type RequestContext, sanitizeLine, statusMessage } from "./problem-details.ts";
import type { RetryLimit } from "./retry.ts";
import type { LostResponse, TransportResponse } from "./transport.ts";

/** Returns the failure for a response other than success. */
export function responseFailure(response: TransportResponse, context: RequestContext): RolecallError {
  const { status } = response;
  const { code, title, hint } = statusMessage(status);
  const clean = (text: string): string => withoutSecrets(text, context.secrets);
  const problem = problemOf(response.body, clean);
  const said = messageOf(problem, title) ?? redirectTarget(response, clean) ?? excerpt(clean(response.body));
  // A later refusal does not undo what an earlier attempt may have done.
  const uncertain = context.write && (context.maybeApplied || status >= 500 || status === 424);
  const asked = status === 429 ? clean(response.header("retry-after") ?? "") : "";
  return new RolecallError(
    code,
    `${context.method} ${context.path} returned ${status}${title && ` ${title}`}${said === "" ? "." : `: ${said}`}`,
    {
      hint: uncertain
        ? MAY_BE_DONE
        : isHtml(response) && status < 500
          ? NOT_THE_SERVICE
          : `${hint(context, problem)}${asked && ` It asked to wait: ${sanitizeLine(asked)}.`}`,
      request: requestOf(context, { status, ...(problem && { problem }), ...(uncertain && { uncertain }) }),
    },
  );
}

/**
 * Returns the failure for a refused invitation, with the time to try again. `now` is in ms since the epoch; `waitMs` is
 * what the service asks for, `null` if nothing.
 */
export function invitationLimited(
  { request, cause }: RolecallError,
  address: string,
  now: number,
  waitMs: number | null,
): RolecallError {
  const isKnown = waitMs !== null && waitMs <= LONGEST_DATED_MS;
  const when =
    waitMs === null
      ? "try again later"
      : isKnown
        ? `try again after ${minuteOf(now + waitMs, now)}`
        : `the service asks for a wait of ${durationText(waitMs)}`;
  return new RolecallError(
    "invitation-limited",
    `${sanitizeLine(address)}: ${limitOf(request?.problem)}; ${when}.`,
    {
      hint: `Run apply again ${waitMs === null ? "later" : "then"}: it continues with the remaining changes.`,
      ...(request && { request }),
      ...(isKnown && { retryAt: new Date(now + waitMs).toISOString() }),
      cause,
    },
  );
}

/** Returns the limit that refused an invitation: the documented one, unless the service says something else. */
function limitOf(problem: ProblemDetails | undefined): string {
  const detail = problem?.detail;
  return detail === undefined || /invit/i.test(detail)
    ? "too many invitations were sent to this address"
    : `not invited for now: ${sanitizeLine(detail).replace(/\.$/, "")}`;
}

/** Longest wait that is shown as a date, in ms: a year. */
const LONGEST_DATED_MS = 366 * 24 * 3_600_000;

/** Returns a time rounded up to a minute, such as "14:05 UTC", with its date if that is not today's. */
function minuteOf(timestamp: number, now: number): string {
  const end = new Date(Math.ceil(timestamp / 60_000) * 60_000).toISOString();
  const day = end.slice(0, 10);
  const time = `${end.slice(11, 16)} UTC`;
  return day === new Date(now).toISOString().slice(0, 10) ? time : `${day}, ${time}`;
}

/** Returns the failure for a request without a response. */
export function lostFailure(lost: LostResponse, context: RequestContext): RolecallError {
  const { method, path, write, maybeApplied } = context;
  const uncertain = write && (maybeApplied || lost.sent);
  const isTooLarge = lost.kind === "too-large";
  const what = isTooLarge ? "returned" : "got no response:";
  return new RolecallError(
    LOST_CODES[lost.kind],
    `${method} ${path} ${what} ${sanitizeLine(withoutSecrets(lost.message, context.secrets))}.`,
    {
      hint: uncertain
        ? MAY_BE_DONE
        : isTooLarge
          ? "This does not match the API contract. Check the base URL; then contact the service's operators."
          : "Check the base URL and the network, and that the service is up; then run the command again.",
      request: requestOf(context, uncertain ? { uncertain } : {}),
      cause: lost,
    },
  );
}

/** Returns the failure for a call that was never sent. */
export function notSent(
  { method, path }: { readonly method: string; readonly path: string },
  why = "the run was stopped first",
): RolecallError {
  return new RolecallError("rate-limited", `${method} ${path} was not sent: ${why}.`, {
    hint: "Run the command again later.",
    request: { method, path, attempts: 0 },
  });
}

/** Returns the failure for a successful response that cannot be parsed. */
export function badResponse(
  response: TransportResponse,
  context: RequestContext,
  reason: string,
): RolecallError {
  const { method, path, write, secrets } = context;
  const type = response.header("content-type") ?? "no content type";
  const html = isHtml(response);
  const clean = (text: string): string => sanitizeLine(withoutSecrets(text, secrets));
  const what = html ? "with an HTML page instead of JSON" : clean(reason);
  return new RolecallError("bad-response", `${method} ${path} returned ${response.status}, but ${what}.`, {
    hint: html
      ? NOT_THE_SERVICE
      : `The response (${clean(type)}) does not match the API contract. Check the base URL; then contact the service's operators.`,
    request: requestOf(context, { status: response.status, ...(write && { uncertain: true }) }),
  });
}

const NOT_THE_SERVICE =
  "Check that the base URL is the service's, and that no login page or proxy responds in its place.";

const LOST_CODES: Readonly<Record<LostResponse["kind"], ErrorCode>> = {
  network: "network",
  untrusted: "network",
  refused: "network",
  timeout: "timeout",
  "too-large": "bad-response",
};

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== "")
    .flatMap(encodingsOf)
    .reduce((rest, encoding) => rest.replaceAll(encoding, "[secret]"), text);
}

/** Matches a secret as it is written, and in what a service may have made of it. */
function encodingsOf(secret: string): readonly RegExp[] {
  const bytes = Buffer.from(secret);
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const exact = [secret, JSON.stringify(secret).slice(1, -1)];
  const anyCase = [encodeURIComponent(secret), percent, bytes.toString("hex")];
  const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  return [
    ...exact.map((text) => new RegExp(literal(text), "g")),
    // Encoders break long lines.
    ...base64Of(bytes).map((text) => new RegExp([...text].map(literal).join("\\s*"), "g")),
    ...anyCase.map((text) => new RegExp(literal(text), "gi")),
  ];
}

/**
 * Returns the base64 that a secret has wherever it begins in the encoded text, in both alphabets: without the characters
 * that also depend on what surrounds it.
 */
function base64Of(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64url");
    const last = (offset + bytes.length) % 3 === 0 ? text.length : text.length - 1;
    const ownText = text.slice(Math.ceil((offset * 8) / 6), last);
    // A shorter part would hide words that are not secret.
    return ownText.length < 8 ? [] : [ownText, ownText.replaceAll("-", "+").replaceAll("_", "/")];
  });
}

function messageOf(problem: ProblemDetails | undefined, title: string): string | undefined {
  if (problem === undefined) return undefined;
  const said = sanitizeLine(problem.detail ?? problem.title ?? problem.type);
  return said === title ? "" : said;
}

function redirectTarget(response: TransportResponse, clean: (text: string) => string): string | undefined {
  const location = response.status >= 300 && response.status < 400 ? response.header("location") : undefined;
  return location && `to ${sanitizeLine(clean(location))}`;
}

/** Returns whether a response is HTML, as from a wrong address, a login page or a proxy. */
export function isHtml(response: TransportResponse): boolean {
  // An empty body is a valid response to a write, whatever its content type.
  if (response.body === "") return false;
  return /html/i.test(response.header("content-type") ?? "") || /^\s*</.test(response.body);
}

function requestOf(
  { method, path, attempts }: RequestContext,
  rest: Omit<FailedRequest, "method" | "path" | "attempts">,
): FailedRequest {
  return { method, path, attempts, ...rest };
}

function excerpt(body: string): string {
  const text = sanitizeLine(body.slice(0, 4000).replaceAll(/<[^>]*>/g, " "));
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

/** Returns a failure with other details. */
function withErrorDetails(
  error: RolecallError,
  { message = error.message, ...details }: ErrorDetails & { readonly message?: string },
): RolecallError {
  const { code, hint, request } = error;
  return new RolecallError(code, message, {
    ...(hint !== undefined && { hint }),
    ...(request && { request }),
    cause: error,
    ...details,
  });
}

/** The hint for a write of unknown outcome. */
const MAY_BE_DONE = 'The change may have taken effect. Run "rolecall plan" to see whether it has.';

/** Returns the failure of a create whose lookup shows that it was not applied. */
export function createNotApplied(error: RolecallError): RolecallError {
  const { uncertain: _, ...request } = error.request ?? { method: "", path: "", attempts: 0 };
  return withErrorDetails(error, {
    hint: "A lookup shows that it was not created. Try again later.",
    request,
  });
}

/** Returns the failure of a create whose response was lost, whose repeat conflicts, and that no lookup finds. */
export function conflictOfRepeat(error: RolecallError): RolecallError {
  return withErrorDetails(error, {
    message: `${withFullStop(error.message)} The conflict may be with what an earlier attempt of this request created: its response was lost.`,
    hint: MAY_BE_DONE,
    request: { ...(error.request ?? { method: "POST", path: "", attempts: 0 }), uncertain: true },
  });
}

/** Returns the failure of a create that the service confirms but does not list. */
export function createdNotListed(path: string, what: string): RolecallError {
  return new RolecallError(
    "bad-response",
    `The service reported that it created the ${what}, but does not list it as requested.`,
    { hint: MAY_BE_DONE, request: { method: "POST", path, attempts: 1, uncertain: true } },
  );
}

/**
 * Returns the failure of a create whose lookup found something else in its place. It may still have been applied, and
 * changed by somebody since.
 */
export function createConflict(error: RolecallError, what: string): RolecallError {
  const message = `The ${what} exists, but not as requested: somebody else has created or changed it.`;
  return new RolecallError("conflict", message, {
    hint: 'Run "rolecall plan" to see how it differs.',
    request: { ...(error.request ?? { method: "POST", path: "", attempts: 0 }), uncertain: true },
    cause: error,
  });
}

/** Returns the failure of a write whose outcome could not be looked up. */
export function outcomeUnknown(error: RolecallError, lookUp: RolecallError): RolecallError {
  return withErrorDetails(error, {
    message: `${withFullStop(error.message)} A lookup of its outcome failed: ${lookUp.message}`,
    hint: MAY_BE_DONE,
    request: { ...(error.request ?? { method: "", path: "", attempts: 0 }), uncertain: true },
  });
}

/**
 * Returns the failure of an update or delete whose recheck found neither the state before nor the state after. It may
 * still have been applied, and changed by somebody since.
 */
export function changedConcurrently(error: RolecallError, stale: RolecallError): RolecallError {
  return withErrorDetails(error, {
    message: `${withFullStop(error.message)} Its outcome can no longer be determined: ${stale.message}`,
    hint: MAY_BE_DONE,
  });
}

function withFullStop(sentence: string): string {
  return sentence.replace(/\.?$/, ".");
}

/** Returns the failure of a request that is no longer retried, with the reason and what to do. */
export function retriesExhausted(error: RolecallError, because: RetryLimit): RolecallError {
  // Its message already says when to try again, and no option makes that sooner.
  if (error.code === "invitation-limited") return error;
  const sentence = limitText(because);
  if (sentence === null) return error;
  // The usual hint is about a refusal after many attempts.
  const hint = error.code === "rate-limited" && !error.request?.uncertain ? "" : (error.hint ?? "");
  return withErrorDetails(error, { hint: `${hint} ${sentence}`.trim() });
}

function limitText(because: RetryLimit): string | null {
  switch (because.kind) {
    case "attempts":
      return null;
    case "time":
      return because.askedMs === null
        ? because.totalMs === 0
          ? "It was sent once, without retries; use --retry-for to allow retries."
          : `It was retried for ${durationText(because.totalMs)}; use --retry-for to allow more.`
        : `The service asks for a wait of ${durationText(because.askedMs)}, but a request is retried for ${durationText(because.totalMs)} in total; use --retry-for to allow more.`;
    case "asked-too-much":
      return `The service asks for a wait of ${durationText(because.askedMs)}; a single wait is limited to ${durationText(because.maxMs)}, regardless of --retry-for. Run the command again after that.`;
    default:
      return because satisfies never;
  }
}

function durationText(ms: number): string {
  const [seconds, minutes] = [Math.ceil(ms / 1000), Math.round(ms / 60_000)];
  const [hours, days, years] = [minutes / 60, minutes / 1440, minutes / 525_960].map(Math.round);
  if (seconds < 120) return `${seconds} s`;
  if (minutes < 120) return `${minutes} min`;
  if (hours !== undefined && hours < 48) return `${hours} h`;
  if (days !== undefined && days < 730) return `${days} days`;
  return years === undefined || years > 1000 ? "more than 1000 years" : `${years} years`;
}
