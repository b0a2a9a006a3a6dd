/** What went wrong outside the user's files: credentials, network, the service, flags. */
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
  | "password-missing"
  | "confirmation-needed"
  | "override-stray"
  | "network"
  | "timeout"
  | "bad-answer"
  | "listing-unstable"
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
  /** What is to be changed is no longer what was planned. */
  | "stale"
  | "journal-unwritable"
  /** The service has emptied fields of a member, and they are still empty. */
  | "not-restored"
  | "run-unknown";

/** The service's own account of a failure (RFC 9457); every field but `type` may be missing. */
export interface Problem {
  readonly type: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly instance?: string;
  /** Members that the standard does not name, each value as a short text on one line. */
  readonly extensions?: readonly { readonly name: string; readonly value: string }[];
}

/** The request behind a failure: never its headers, never its body. */
export interface FailedRequest {
  readonly method: string;
  /** Path and query, without the origin. */
  readonly path: string;
  /** Absent where no answer came. */
  readonly status?: number;
  readonly problem?: Problem;
  /** How often it was sent. */
  readonly attempts: number;
  /** The service may have done it all the same: the answer was lost, or told of a failure half-way. */
  readonly uncertain?: boolean;
}

/** Why something could not be done, as data. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly request?: FailedRequest;
  /** When to try again, ISO 8601; absent where the service does not say it. */
  readonly retryAt?: string;
}

/** What a RolecallError carries besides its code and message. */
export interface ErrorDetails {
  readonly hint?: string;
  readonly request?: FailedRequest;
  readonly retryAt?: string;
  readonly cause?: unknown;
}

/** The one error class for everything that the environment gets wrong; anything else that is thrown is a bug. */
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

  /** The part of it that is data: for outcomes and for showing. */
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
