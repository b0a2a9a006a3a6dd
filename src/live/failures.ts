import {
  type ErrorCode,
  type ErrorDetails,
  type FailedRequest,
  type Problem,
  RolecallError,
} from "../model/errors.ts";
import { isAboutOne, OPERATIONS, type Operation } from "./operations.ts";
import { missingPermission, problemOf, tame } from "./problem.ts";
import type { GiveUp } from "./retry.ts";
import type { LostAnswer, TransportResponse } from "./transport.ts";

/** The request that a failure is about. */
export interface Attempted {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly attempts: number;
  /** Name of the environment variable that the key came from. */
  readonly keySource: string;
  /** It changes something. */
  readonly write: boolean;
  /** An earlier attempt may have been carried out. */
  readonly doubt: boolean;
  /** What no message may repeat, even if the service does. */
  readonly secrets: readonly string[];
}

interface Words {
  readonly code: ErrorCode;
  readonly title: string;
  readonly hint: (attempted: Attempted, problem: Problem | undefined) => string;
}

/** Words an answer that is no success: the one place where the client's messages stand. */
export function answerFailure(answer: TransportResponse, attempted: Attempted): RolecallError {
  const { status } = answer;
  const { code, title, hint } = wordsFor(status);
  const clean = (text: string): string => withoutSecrets(text, attempted.secrets);
  const problem = problemOf(answer.body, clean);
  const said = saidBy(problem, title) ?? leadsTo(answer, clean) ?? excerpt(clean(answer.body));
  // A later no does not undo what an earlier attempt may have done.
  const uncertain = attempted.write && (attempted.doubt || status >= 500 || status === 424);
  const asked = status === 429 ? clean(answer.header("retry-after") ?? "") : "";
  return new RolecallError(
    code,
    `${attempted.method} ${attempted.path} answered ${status}${title && ` ${title}`}${said === "" ? "." : `: ${said}`}`,
    {
      hint: uncertain
        ? MAY_BE_DONE
        : isHtml(answer) && status < 500
          ? NOT_THE_SERVICE
          : `${hint(attempted, problem)}${asked && ` It asked to wait: ${tame(asked)}.`}`,
      request: requestOf(attempted, { status, ...(problem && { problem }), ...(uncertain && { uncertain }) }),
    },
  );
}

/** Words a request that got no answer. */
export function lostFailure(lost: LostAnswer, attempted: Attempted): RolecallError {
  const { method, path, write, doubt } = attempted;
  const uncertain = write && (doubt || lost.sent);
  return new RolecallError(
    LOST_CODES[lost.kind],
    `${method} ${path} got no answer: ${tame(withoutSecrets(lost.message, attempted.secrets))}.`,
    {
      hint: uncertain
        ? MAY_BE_DONE
        : "Check the base URL and the network, and that the service is up; then run it again.",
      request: requestOf(attempted, uncertain ? { uncertain } : {}),
      cause: lost,
    },
  );
}

/** Words a call that ended while it waited for its first turn. */
export function notSent({ method, path }: { readonly method: string; readonly path: string }): RolecallError {
  return new RolecallError(
    "rate-limited",
    `${method} ${path} was not sent: the run was stopped while the service asked to wait.`,
    { hint: "Run it again later.", request: { method, path, attempts: 0 } },
  );
}

/** The failure of a request that is not sent again: says why, and what to do about it. */
export function gaveUp(error: RolecallError, because: GiveUp): RolecallError {
  const sentence = wordsOf(because);
  if (sentence === null) return error;
  // What it says of a refusal is of one after many tries.
  const hint = error.code === "rate-limited" && !error.request?.uncertain ? "" : (error.hint ?? "");
  return again(error, { hint: `${hint} ${sentence}`.trim() });
}

function wordsOf(because: GiveUp): string | null {
  switch (because.kind) {
    case "attempts":
      return null;
    case "time":
      return because.askedMs === null
        ? `It was tried for ${lasting(because.totalMs)}; --retry-for allows more.`
        : `The service asks to wait ${lasting(because.askedMs)}, but a request is tried for ${lasting(because.totalMs)} in all; --retry-for allows more.`;
    case "asked-too-much":
      return `The service asks to wait ${lasting(because.askedMs)}; one wait is never longer than ${lasting(because.maxMs)}, whatever --retry-for says. Run it again after that.`;
    default:
      return because satisfies never;
  }
}

function lasting(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** The failure of a create that was looked up afterwards, and is not there. */
export function notDone(error: RolecallError): RolecallError {
  const { uncertain: _, ...request } = error.request ?? { method: "", path: "", attempts: 0 };
  return again(error, { hint: "It was looked up, and was not done. Try again later.", request });
}

/** The failure of a create that could not be looked up afterwards: what became of it stays unknown. */
export function notKnown(error: RolecallError, lookUp: RolecallError): RolecallError {
  return again(error, {
    message: `${ended(error.message)} Whether it was done cannot be looked up: ${lookUp.message}`,
    hint: MAY_BE_DONE,
    request: { ...(error.request ?? { method: "", path: "", attempts: 0 }), uncertain: true },
  });
}

/** The failure of a create that the service says it has done, but which is not to be seen. */
export function notListed(path: string, what: string): RolecallError {
  return new RolecallError(
    "bad-answer",
    `The service said that it created the ${what}, but does not list it as it was to be.`,
    { hint: MAY_BE_DONE, request: { method: "POST", path, attempts: 1, uncertain: true } },
  );
}

/**
 * The failure of a create that was looked up afterwards, where something else was found in its place. Whether it was
 * done, and changed by somebody since, nobody can tell.
 */
export function notOurs(error: RolecallError, what: string): RolecallError {
  const message = `The ${what} is there, but not as it was to be created: somebody else has created or changed it.`;
  return new RolecallError("conflict", message, {
    hint: 'Run "rolecall plan" to see how it differs.',
    request: { ...(error.request ?? { method: "POST", path: "", attempts: 0 }), uncertain: true },
    cause: error,
  });
}

function again(
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

function ended(sentence: string): string {
  return sentence.replace(/\.?$/, ".");
}

/** Words a successful answer that cannot be understood. */
export function badAnswer(answer: TransportResponse, attempted: Attempted, reason: string): RolecallError {
  const { method, path, write, secrets } = attempted;
  const type = answer.header("content-type") ?? "no content type";
  const html = isHtml(answer);
  const clean = (text: string): string => tame(withoutSecrets(text, secrets));
  const what = html ? "with an HTML page instead of JSON" : clean(reason);
  return new RolecallError("bad-answer", `${method} ${path} answered ${answer.status}, but ${what}.`, {
    hint: html
      ? NOT_THE_SERVICE
      : `The answer (${clean(type)}) is not what the contract says. Check the base URL; then ask the service's operators.`,
    request: requestOf(attempted, { status: answer.status, ...(write && { uncertain: true }) }),
  });
}

const MAY_BE_DONE = 'The service may have done it. Run "rolecall plan" to see whether it has.';
const NOT_THE_SERVICE = "Is the base URL that of the service, and no login page or proxy in between?";

const LOST_CODES: Readonly<Record<LostAnswer["kind"], ErrorCode>> = {
  network: "network",
  untrusted: "network",
  timeout: "timeout",
  "too-large": "bad-answer",
};

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== "")
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .reduce((rest, secret) => rest.replaceAll(secret, "[secret]"), text);
}

function saidBy(problem: Problem | undefined, title: string): string | undefined {
  if (problem === undefined) return undefined;
  const said = tame(problem.detail ?? problem.title ?? problem.type);
  return said === title ? "" : said;
}

function leadsTo(answer: TransportResponse, clean: (text: string) => string): string | undefined {
  const location = answer.status >= 300 && answer.status < 400 ? answer.header("location") : undefined;
  return location && `to ${tame(clean(location))}`;
}

/** Whether an answer is a web page: what a wrong address, a login or a proxy gives. */
export function isHtml(answer: TransportResponse): boolean {
  // Nothing at all is a proper answer to a write, whatever type it claims.
  if (answer.body === "") return false;
  return /html/i.test(answer.header("content-type") ?? "") || /^\s*</.test(answer.body);
}

function requestOf(
  { method, path, attempts }: Attempted,
  rest: Omit<FailedRequest, "method" | "path" | "attempts">,
): FailedRequest {
  return { method, path, attempts, ...rest };
}

function excerpt(body: string): string {
  const text = tame(body.slice(0, 4000).replaceAll(/<[^>]*>/g, " "));
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

function wordsFor(status: number): Words {
  const known = WORDS[status];
  if (known) return known;
  if (status >= 500) return { ...SERVER_ERROR, title: "Server Error" };
  if (status >= 300 && status < 400) return REDIRECT;
  return {
    code: "unexpected-status",
    title: "",
    hint: () =>
      "The contract does not know this status. Check the base URL; then ask the service's operators.",
  };
}

/** The service knows best, except that of several scopes it may name, any one will do. */
function neededFor(operation: Operation, problem: Problem | undefined): string {
  const listed = OPERATIONS[operation];
  return operation === "list memberships"
    ? `scope ${listed}`
    : `permission ${missingPermission(problem) ?? listed}`;
}

const REDIRECT: Words = {
  code: "unexpected-status",
  title: "Redirect",
  hint: () =>
    "Redirects are not followed, so that the key goes nowhere else. Set the base URL to the final address.",
};

const SERVER_ERROR: Words = {
  code: "service-failed",
  title: "Server Error",
  hint: () => "The service has a problem of its own. Try again later.",
};

const WORDS: Readonly<Record<number, Words>> = {
  400: {
    code: "bad-request",
    title: "Bad Request",
    hint: () =>
      "The service does not understand the request. Look at the detail; if the file is right, report it as a bug.",
  },
  401: {
    code: "unauthorized",
    title: "Unauthorized",
    hint: ({ keySource }) =>
      `The service does not know the key in ${keySource}. Check it, or create a new one.`,
  },
  402: {
    code: "request-failed",
    title: "Request Failed",
    hint: () => "The request was right, but the service could not complete it. The detail says more.",
  },
  403: {
    code: "forbidden",
    title: "Forbidden",
    hint: ({ operation, keySource }, problem) =>
      `The key in ${keySource} needs the ${neededFor(operation, problem)} to ${operation}.`,
  },
  404: {
    code: "not-found",
    title: "Not Found",
    hint: ({ operation, keySource }) =>
      isAboutOne(operation)
        ? 'It may have been removed meanwhile. Run "rolecall plan" to see what is there.'
        : `Check the merchant code, the base URL, and that the key in ${keySource} belongs to that merchant.`,
  },
  409: {
    code: "conflict",
    title: "Conflict",
    hint: () => 'What is live now forbids it; somebody else may have changed it. Run "rolecall plan" to see.',
  },
  422: {
    code: "unprocessable",
    title: "Unprocessable Entity",
    hint: () =>
      "The service takes the request for meaningless. Correct the file as the detail says, and plan again.",
  },
  424: {
    code: "dependency-failed",
    title: "External Dependency Failed",
    hint: () => "Something that the service depends on has failed. Try again later.",
  },
  429: {
    code: "rate-limited",
    title: "Too Many Requests",
    hint: () => "The service still refuses after many tries. Wait a while, or use a smaller --concurrency.",
  },
  503: { ...SERVER_ERROR, title: "Service Unavailable" },
};
