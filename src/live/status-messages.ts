import type { ErrorCode, Problem } from "../model/errors.ts";
import { isAboutOne, OPERATIONS, type Operation } from "./operations.ts";
import { mayLackPermission, missingPermission } from "./problem.ts";
import type { RequestContext } from "./request-context.ts";

/** How a failure with a status is called, and what to do about it. */
export interface StatusMessage {
  readonly code: ErrorCode;
  readonly title: string;
  readonly hint: (context: RequestContext, problem: Problem | undefined) => string;
}

/** The words for a status that is no success. */
export function statusMessage(status: number): StatusMessage {
  const known = STATUS_MESSAGES[status];
  if (known) return known;
  if (status >= 500) return { ...SERVER_ERROR, title: "Server Error" };
  if (status >= 300 && status < 400 && status !== 304) return REDIRECT;
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

const REDIRECT: StatusMessage = {
  code: "unexpected-status",
  title: "Redirect",
  hint: () =>
    "Redirects are not followed, so that the key goes nowhere else. Set the base URL to the final address.",
};

const SERVER_ERROR: StatusMessage = {
  code: "service-failed",
  title: "Server Error",
  hint: () => "The service has a problem of its own. Try again later.",
};

const STATUS_MESSAGES: Readonly<Record<number, StatusMessage>> = {
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
      mayLackPermission(problem)
        ? `The key in ${keySource} may lack the ${neededFor(operation, problem)} to ${operation}.`
        : "Solve what the detail says, then run it again.",
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
  304: {
    code: "unexpected-status",
    title: "Not Modified",
    hint: () =>
      "Only a cache may answer so, and only if it is asked to. Check for a proxy or cache on the way to the service.",
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
