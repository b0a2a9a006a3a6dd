/** The kinds of failures outside the user's files: credentials, network, service, flags. */
export type ErrorCode =
  | "usage"
  | "file-unreadable"
  | "file-unwritable"
  | "file-invalid"
  | "no-files"
  | "base-url-missing"
  | "base-url-insecure"
  | "key-missing"
  | "key-malformed"
  | "key-environment"
  | "account-environment"
  | "apply-running"
  | "password-missing"
  | "confirmation-needed"
  | "override-stray"
  /** The project does not allow this to be requested. */
  | "not-requestable"
  | "network"
  | "timeout"
  | "bad-response"
  | "listing-unstable"
  | "too-many-items"
  | "bad-request"
  | "unauthorized"
  | "request-failed"
  | "forbidden"
  | "not-found"
  | "conflict"
  | "unprocessable"
  | "dependency-failed"
  | "rate-limited"
  /** Too many invitations were sent to one address; nothing else is refused. */
  | "invitation-limited"
  | "service-failed"
  | "unexpected-status"
  | "port-taken"
  /** The resource has changed since it was planned. */
  | "stale"
  | "journal-unwritable"
  /** The service has emptied fields of a member, and they are still empty. */
  | "not-restored"
  | "run-unknown"
  /** There is no proof of who has written the record of a run. */
  | "record-untrusted";

/** Problem details that the service returned (RFC 9457); every field except `type` may be missing. */
export interface ProblemDetails {
  readonly type: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly instance?: string;
  /** Extension members, each value as a short text on one line. */
  readonly extensions?: readonly { readonly name: string; readonly value: string }[];
}

/** The request behind a failure: never its headers, never its body. */
export interface FailedRequest {
  readonly method: string;
  /** Path and query, without the origin. */
  readonly path: string;
  /** Absent without a response. */
  readonly status?: number;
  readonly problem?: ProblemDetails;
  /** Number of attempts. */
  readonly attempts: number;
  /** True if the service may have applied it: the response was lost, or came from a failing gateway. */
  readonly uncertain?: boolean;
}

/** A failure as data. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly request?: FailedRequest;
  /** Time to try again, ISO 8601; absent if the service does not say. */
  readonly retryAt?: string;
}

/** The details of a RolecallError besides its code and message. */
export interface ErrorDetails {
  readonly hint?: string;
  readonly request?: FailedRequest;
  readonly retryAt?: string;
  readonly cause?: unknown;
}

/** The error class for all failures of the environment; anything else that is thrown is a bug. */
export class RolecallError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly request: FailedRequest | undefined;
  readonly retryAt: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = "RolecallError";
    this.code = code;
    this.hint = details.hint;
    this.request = details.request;
    this.retryAt = details.retryAt;
  }

  /** Returns the failure as data. */
  get failure(): Failure {
    const { code, message, hint, request, retryAt } = this;
    return {
      code,
      message,
      ...(hint !== undefined && { hint }),
      ...(request && { request }),
      ...(retryAt !== undefined && { retryAt }),
    };
  }
}

/** Returns a caught error that is a failure of the environment; throws any other one again. */
export function rolecallErrorOf(error: unknown): RolecallError {
  if (error instanceof RolecallError) return error;
  throw error;
}
