import { ConnectionLost } from "./connection-lost.ts";
import type { FaultRule } from "./fault-rules.ts";
import { type Answer, problemAnswer, toResponse } from "./problem.ts";

/** What faults need of the world around a request. */
export interface FaultPorts {
  /** The request's number. */
  readonly request: number;
  sleep(ms: number): Promise<void>;
  /** Does a request with every permission. */
  asSomebodyElse(method: string, path: string, body: unknown): Promise<void>;
}

const PAGE = "<!doctype html><html><title>Sorry</title><h1>Something went wrong</h1></html>\n";

function statusAnswer(rule: FaultRule & { kind: "status" }, request: number): Answer {
  const headers = rule.retry_after === undefined ? {} : { "retry-after": rule.retry_after };
  return problemAnswer(rule.status, rule.detail ?? "This fault was asked for.", request, headers);
}

function page(status: number): Response {
  return new Response(PAGE, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

/** Does the faults that come before the operation; an answer means that the operation is not done at all. */
export async function injectBefore(
  rules: readonly FaultRule[],
  ports: FaultPorts,
): Promise<Response | undefined> {
  for (const rule of rules) {
    switch (rule.kind) {
      case "latency":
        await ports.sleep(rule.ms);
        break;
      case "stall":
        await ports.sleep(rule.ms);
        throw new ConnectionLost("stalled");
      case "reset-before":
        throw new ConnectionLost("before the operation");
      case "concurrent-edit":
        await ports.asSomebodyElse(rule.request.method, rule.request.path, rule.request.body);
        break;
      case "status":
        if (rule.effect === "before") return toResponse(statusAnswer(rule, ports.request));
        break;
      case "html":
        if (rule.effect === "before") return page(rule.status);
        break;
      case "unknown-fields":
      case "reset-after":
      case "truncate":
      case "partial-json":
        break;
      default:
        rule satisfies never;
    }
  }
  return undefined;
}

function withUnknownFields(answer: Answer): Answer {
  if (answer.body === undefined || answer.status >= 300) return answer;
  const extra = { x_added_later: { nested: [1, null] }, x_flag: true };
  const items: unknown = "items" in answer.body ? answer.body.items : undefined;
  const body = Array.isArray(items)
    ? { ...answer.body, items: items.map((item: object) => ({ ...item, ...extra })), ...extra }
    : { ...answer.body, ...extra };
  return { ...answer, body };
}

function halfOf(answer: Answer): { readonly text: string; readonly whole: string; readonly type: string } {
  const whole = JSON.stringify(answer.body ?? {});
  const type = answer.headers?.["content-type"] ?? "application/json";
  return { text: whole.slice(0, Math.floor(whole.length / 2)), whole, type };
}

/** Turns an operation's answer into a response, changed or broken by the faults that come after it. */
export function injectAfter(rules: readonly FaultRule[], original: Answer, request: number): Response {
  let answer = original;
  for (const rule of rules) {
    switch (rule.kind) {
      case "unknown-fields":
        answer = withUnknownFields(answer);
        break;
      case "reset-after":
        throw new ConnectionLost("after the operation");
      case "truncate": {
        const { text, whole, type } = halfOf(answer);
        const length = Buffer.byteLength(whole);
        throw new ConnectionLost("inside the answer", {
          status: answer.status,
          contentType: type,
          length,
          text,
        });
      }
      case "partial-json": {
        const { text, type } = halfOf(answer);
        return new Response(text, { status: answer.status, headers: { "content-type": type } });
      }
      case "status":
        if (rule.effect === "after") return toResponse(statusAnswer(rule, request));
        break;
      case "html":
        if (rule.effect === "after") return page(rule.status);
        break;
      case "latency":
      case "stall":
      case "reset-before":
      case "concurrent-edit":
        break;
      default:
        rule satisfies never;
    }
  }
  return toResponse(answer);
}
