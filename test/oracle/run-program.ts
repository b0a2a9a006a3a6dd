import { posix } from "node:path";
import { stringify } from "yaml";
import { applyPlan } from "../../src/kernel/apply/apply-plan.ts";
import { buildPlan, namedRoleIds } from "../../src/kernel/plan/build-plan.ts";
import { planDue } from "../../src/kernel/plan/due.ts";
import { upcomingDates } from "../../src/kernel/plan/upcoming-dates.ts";
import { loadMerchants } from "../../src/kernel/read/load-merchants.ts";
import type { ReadSource } from "../../src/kernel/read/load-sources.ts";
import { judgeDeclared } from "../../src/kernel/rules/judge-rules.ts";
import type { LiveState } from "../../src/model/live.ts";
import type { Plan } from "../../src/model/plan.ts";
import { createSandbox } from "../../src/sandbox/create-sandbox.ts";
import { connectToFetch } from "../service/support.ts";
import { applyPorts } from "../support/apply-ports.ts";
import { matches } from "../support/build.ts";
import { createClock } from "../support/clock.ts";
import type { Case, World } from "./case.ts";

const KEY = "sk_test_oracle";

/** What the program made of a case. */
export interface Made {
  /** Null where a file has an error. */
  readonly plan: Plan | null;
  readonly before: LiveState;
  /** What is live after an apply; null where nothing can be applied. */
  readonly after: LiveState | null;
  /** Why the apply did not end well; empty where it did. */
  readonly failures: readonly string[];
  /** The plans of what is live then, as of the next date in the files; null where there is none, or changes are left. */
  readonly next: { readonly whole: Plan; readonly due: Plan } | null;
  /** Moments that the plan announces. */
  readonly dates: readonly number[];
  /** Codes of the policies and checks that the files break by themselves. */
  readonly broken: readonly string[];
  /** Codes of the errors of the files. */
  readonly errors: readonly string[];
}

/** Loads, plans, applies and reads again, against a sandbox. */
export async function runProgram({ files, world, now }: Case): Promise<Made> {
  const clock = createClock(now);
  const sandbox = createSandbox({ ...clock, seed: seedOf(world) });
  const service = connectToFetch(withUserTypes(sandbox.fetch, world), { key: KEY, concurrency: 1 });
  const { merchants, diagnostics } = await loadMerchants(["access/shop.yaml"], readerOf(files), {
    now,
    judge: judgeDeclared,
  });
  const errors = diagnostics
    .filter(({ severity, refusal }) => severity === "error" && refusal !== true)
    .map(({ code }) => code);
  const broken = diagnostics.filter(({ refusal }) => refusal === true).map(({ code }) => code);
  const desired = merchants[0]?.state ?? null;
  const read = (): Promise<LiveState> =>
    service.reader.read("MC1", desired === null ? [] : namedRoleIds(desired));
  const before = await read();
  if (desired === null)
    return { plan: null, before, after: null, next: null, dates: [], failures: [], broken, errors };
  const plan = buildPlan({
    desired,
    live: before,
    service: "https://api.example.com",
    now,
    matches,
    leaveOut: new Set(),
  });
  if (plan.refusals.length > 0 || plan.findings.some(({ severity }) => severity === "error")) {
    return { plan, before, after: null, next: null, dates: [], failures: [], broken, errors };
  }
  const result = await applyPlan(
    plan,
    applyPorts({ writer: service.writer("MC1"), lookup: service.lookup("MC1") }),
  );
  const failures = result.outcomes.flatMap((one) =>
    one.status === "done" ? [] : [`${one.status} ${"failure" in one ? one.failure.message : ""}`],
  );
  const after = await read();
  const dates = upcomingDates(desired, now);
  const [date] = dates;
  const later = {
    desired,
    live: after,
    service: "https://api.example.com",
    matches,
    leaveOut: new Set<string>(),
  };
  const isSettled = buildPlan({ ...later, now }).changes.length === 0;
  const input = isSettled && date ? { ...later, now: date.at } : null;
  const next = input && { whole: buildPlan(input), due: planDue(input) };
  return { plan, before, after, next, dates: dates.map(({ at }) => at), failures, broken, errors };
}

function readerOf(files: Case["files"]): ReadSource {
  return (path, from) => {
    const file = posix.join(from === null ? "" : posix.dirname(from), path);
    const value = files[file];
    return Promise.resolve(
      value === undefined
        ? { ok: false, reason: "missing" }
        : { ok: true, file, text: stringify(value, { aliasDuplicateObjects: false }) },
    );
  };
}

function seedOf({ roles, members }: World): string {
  return JSON.stringify({
    merchants: [
      {
        code: "MC1",
        roles,
        members: members.map(({ id, email, roles: held, status, type, nickname, mfa, metadata }) => ({
          id,
          ...(email === null ? { no_address: true } : { email }),
          roles: held,
          status,
          mfa,
          metadata,
          ...(type === "managed_user" && { managed: { ...(nickname !== null && { nickname }) } }),
          ...(type !== "user" && type !== "managed_user" && { service_account: true }),
        })),
      },
    ],
    keys: [{ key: KEY }],
  });
}

interface WireMember {
  readonly id: string;
  readonly user?: object;
}

/** A service that tells users' types, and when they were disabled. */
function withUserTypes(
  fetch: (request: Request) => Promise<Response>,
  { members }: World,
): (request: Request) => Promise<Response> {
  const told = new Map(
    members.map(({ id, type, disabledAt }) => [
      id,
      { type, ...(disabledAt !== null && { disabled_at: disabledAt }) },
    ]),
  );
  const tell = (one: WireMember): WireMember =>
    one.user === undefined || !told.has(one.id)
      ? one
      : { ...one, user: { ...one.user, ...told.get(one.id) } };
  return async (request) => {
    const response = await fetch(request);
    if (!new URL(request.url).pathname.includes("/members") || !response.ok) return response;
    const text = await response.text();
    if (text === "") return new Response(null, { status: response.status });
    const body = JSON.parse(text) as WireMember & { readonly items?: readonly WireMember[] };
    const whole = body.items === undefined ? tell(body) : { ...body, items: body.items.map(tell) };
    return new Response(JSON.stringify(whole), {
      status: response.status,
      headers: { "content-type": "application/json" },
    });
  };
}
