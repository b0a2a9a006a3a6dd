/** A response as data. */
export interface ResponseData {
  readonly status: number;
  /** Sent as JSON; absent, as is `text`: an empty body. */
  readonly body?: object | undefined;
  /** Sent verbatim instead of `body`. */
  readonly text?: string;
  /** Absent: `application/json`; null: none. */
  readonly contentType?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

const KINDS = {
  400: ["bad-request", "Bad Request"],
  401: ["unauthorized", "Unauthorized"],
  402: ["request-failed", "Request Failed"],
  403: ["forbidden", "Forbidden"],
  404: ["not-found", "Not Found"],
  405: ["method-not-allowed", "Method Not Allowed"],
  409: ["conflict", "Conflict"],
  413: ["content-too-large", "Content Too Large"],
  415: ["unsupported-media-type", "Unsupported Media Type"],
  422: ["unprocessable-entity", "Unprocessable Entity"],
  424: ["external-dependency-failed", "External Dependency Failed"],
  429: ["too-many-requests", "Too Many Requests"],
  500: ["internal-error", "Internal Server Error"],
  502: ["bad-gateway", "Bad Gateway"],
  503: ["service-unavailable", "Service Unavailable"],
  504: ["gateway-timeout", "Gateway Timeout"],
} as const satisfies Record<number, readonly [kind: string, title: string]>;

/** A status that the sandbox returns without a fault rule. */
export type ProblemStatus = keyof typeof KINDS;

function kindOf(status: number): readonly [string, string] {
  const kindByStatus: Readonly<Record<number, readonly [string, string]>> = KINDS;
  return (
    kindByStatus[status] ??
    (status < 500 ? ["request-failed", "Request Failed"] : ["server-error", "Server Error"])
  );
}

/** Thrown to respond to a request with a Problem. */
export class ProblemError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: ProblemStatus, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.name = "ProblemError";
    this.status = status;
    this.headers = headers;
  }
}

/** Creates a Problem Details response; the path of `instance` is the request's entry in the log. */
export function problemResponse(
  status: number,
  detail: string,
  request: number,
  headers: Readonly<Record<string, string>> = {},
): ResponseData {
  const [kind, title] = kindOf(status);
  return {
    status,
    headers,
    contentType: "application/problem+json",
    body: {
      type: `https://rolecall.invalid/problem/${kind}`,
      title,
      status,
      detail,
      instance: `https://rolecall.invalid/_sandbox/requests/${request}`,
    },
  };
}

/** Serializes the body of a response; `null` if empty. */
export function responseText({ body, text }: ResponseData): string | null {
  return text ?? (body === undefined ? null : JSON.stringify(body));
}

/** Converts response data to a Response. */
export function toResponse(data: ResponseData): Response {
  const { status, headers, contentType } = data;
  const text = responseText(data);
  const type = contentType === undefined && text !== null ? "application/json" : contentType;
  const typed = type === undefined || type === null ? {} : { "content-type": type };
  if (text === null) {
    return new Response(null, { status, headers: { "content-length": "0", ...headers, ...typed } });
  }
  // A string body would get a default content type; bytes do not.
  const body = type === null ? Buffer.from(text) : text;
  return new Response(body, { status, headers: { ...headers, ...typed } });
}

/** The part of a response that is sent before the connection breaks. */
export interface PartialResponse {
  readonly status: number;
  /** Null: no header. */
  readonly contentType: string | null;
  /** Content length of the whole body, in bytes. */
  readonly length: number;
  readonly text: string;
}

/** Thrown if a fault breaks the connection: a socket is destroyed, `fetch` in tests rejects with this. */
export class ConnectionLost extends Error {
  /** A string: bytes that are not HTTP. */
  readonly partial: PartialResponse | string | null;

  constructor(reason: string, partial: PartialResponse | string | null = null) {
    super(`the sandbox broke the connection: ${reason}`);
    this.name = "ConnectionLost";
    this.partial = partial;
  }
}
