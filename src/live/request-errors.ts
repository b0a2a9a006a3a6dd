import { type ErrorCode, type FailedRequest, type Problem, RolecallError } from "../model/errors.ts";
import { problemOf, tame } from "./problem.ts";
import type { Attempted } from "./request-context.ts";
import { MAY_BE_DONE } from "./reworded.ts";
import { statusWords } from "./status-messages.ts";
import type { LostAnswer, TransportResponse } from "./transport.ts";

/** Words an answer that is no success. */
export function answerFailure(answer: TransportResponse, attempted: Attempted): RolecallError {
  const { status } = answer;
  const { code, title, hint } = statusWords(status);
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

/**
 * Words a refusal of one invited address: says when to try again. `now` is in ms since the epoch, `waitMs` what the
 * service asks for, `null` if nothing.
 */
export function invitationLimited(
  { request, cause }: RolecallError,
  address: string,
  now: number,
  waitMs: number | null,
): RolecallError {
  const at = waitMs === null ? Number.NaN : now + waitMs;
  // Beyond the year 9999 nobody waits.
  const isKnown = at < Date.UTC(10_000, 0);
  const when = isKnown ? `after ${minuteOf(at, now)}` : "later";
  return new RolecallError(
    "invitation-limited",
    `${tame(address)}: too many invitations were sent to this address; try again ${when}.`,
    {
      hint: "Run apply again then: it goes on with what is left.",
      ...(request && { request }),
      ...(isKnown && { retryAt: new Date(at).toISOString() }),
      cause,
    },
  );
}

/** The end of a moment's minute, such as "14:05 UTC", with its day where that is not today's. */
function minuteOf(at: number, now: number): string {
  const end = new Date(Math.ceil(at / 60_000) * 60_000).toISOString();
  const day = end.slice(0, 10);
  const time = `${end.slice(11, 16)} UTC`;
  return day === new Date(now).toISOString().slice(0, 10) ? time : `${day}, ${time}`;
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
export function notSent(
  { method, path }: { readonly method: string; readonly path: string },
  why = "the run was stopped before its turn came",
): RolecallError {
  return new RolecallError("rate-limited", `${method} ${path} was not sent: ${why}.`, {
    hint: "Run it again later.",
    request: { method, path, attempts: 0 },
  });
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
