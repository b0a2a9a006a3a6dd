import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { RolecallError } from "../../../src/model/errors.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { createSandbox } from "../../../src/sandbox/create-sandbox.ts";
import { connectToFetch } from "../../service/support.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desired, member, planOf, role } from "../../support/build.ts";
import { createClock } from "../../support/clock.ts";

const MERCHANT = "MC1";
const KEY = "sk_test_every_fault";

const SEED = JSON.stringify({
  merchants: [
    {
      code: MERCHANT,
      roles: [
        { id: "role_kept", name: "Kept", permissions: ["a"] },
        { id: "role_old", name: "Old", permissions: ["b"] },
      ],
      members: [
        { id: "mem_owner", email: "owner@example.com", roles: ["role_owner"] },
        { id: "mem_ada", email: "ada@example.com", roles: ["Kept"] },
        { id: "mem_bob", email: "bob@example.com", roles: ["Old"] },
      ],
    },
  ],
  keys: [{ key: KEY, owner: "owner@example.com" }],
});

const WANT = desired({
  merchant: MERCHANT,
  roles: [role("Kept", { permissions: ["a", "c"] }), role("New", { permissions: ["n"] })],
  members: [
    member("owner@example.com", { roles: ["role_owner"] }),
    member("ada@example.com", { roles: ["Kept", "New"] }),
    member("cy@example.com", { roles: ["New"] }),
  ],
});

type Opened = Awaited<ReturnType<typeof open>>;

async function open(rules: readonly object[]) {
  const { now, sleep } = createClock();
  const sandbox = createSandbox({ now, sleep, seed: SEED });
  const control = async (method: string, path: string, body?: object) => {
    const answer = await sandbox.fetch(
      new Request(`http://127.0.0.1/_sandbox${path}`, {
        method,
        ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      }),
    );
    expect(answer.status).toBeLessThan(300);
    return answer.json();
  };
  await control("PUT", "/faults", { rules });
  return { control, service: connectToFetch(sandbox.fetch, { key: KEY, concurrency: 1 }) };
}

/** Plans and applies once, through the client; says how it ended, in a few words. */
async function outcomeOf({ service }: Opened): Promise<string> {
  let plan: Plan;
  try {
    plan = planOf(WANT, await service.reader.read(MERCHANT, []));
  } catch (error) {
    if (!(error instanceof RolecallError)) throw error;
    return `reading fails: ${error.code}`;
  }
  const ports = applyPorts({ writer: service.writer(MERCHANT), lookup: service.lookup(MERCHANT) });
  const { status, outcomes } = await applyPlan(plan, ports);
  const words = outcomes.flatMap((one) => {
    if (one.status === "done") return one.adopted ? ["adopted"] : [];
    return "failure" in one ? [`${one.status}: ${one.failure.code}`] : [];
  });
  return words.length > 0 ? words.join(", ") : status;
}

const LISTS = ["roles.list", "members.list"] as const;
const CREATES = ["roles.create", "members.create"] as const;
const CHANGES = ["roles.update", "roles.delete", "members.update", "members.delete"] as const;

/** How an apply ends when the fault hits requests that only read, a look before a write, a create, another write. */
interface Expected {
  readonly lists: string;
  readonly look: string;
  readonly creates: string;
  readonly changes: string;
}

const unharmed: Expected = { lists: "done", look: "done", creates: "done", changes: "done" };

/** The service says no: the run stops, and nothing is unknown. */
const refused = (code: string): Expected => ({
  lists: `reading fails: ${code}`,
  look: `failed: ${code}`,
  creates: `failed: ${code}`,
  changes: `failed: ${code}`,
});

/** It goes on for longer than it is retried; where no look tells what became of a write, nobody knows. */
const never = (code: string, creates: string, changes = `unknown: ${code}`): Expected => ({
  lists: `reading fails: ${code}`,
  look: `failed: ${code}`,
  creates,
  changes,
});

/** Each fault, how an apply ends that it hits once, and one that it hits for ever. */
const FAULTS: readonly (readonly [string, object, Expected, Expected])[] = [
  ["429 with Retry-After", status(429, { wait: 2 }), unharmed, refused("rate-limited")],
  ["429 without Retry-After", status(429), unharmed, refused("rate-limited")],
  ["424", status(424), unharmed, never("dependency-failed", "failed: dependency-failed")],
  ["500", status(500), unharmed, never("service-failed", "failed: service-failed")],
  [
    "503 after the write took effect",
    status(503, { effect: "after" }),
    { ...unharmed, creates: "adopted" },
    never("service-failed", "adopted", "done"),
  ],
  ["400", status(400), refused("bad-request"), refused("bad-request")],
  ["401", status(401), refused("unauthorized"), refused("unauthorized")],
  ["402", status(402), refused("request-failed"), refused("request-failed")],
  ["403", status(403), refused("forbidden"), refused("forbidden")],
  // A member that is gone when it is looked at is not what was planned.
  [
    "404",
    status(404),
    { ...refused("not-found"), look: "stale: stale" },
    { ...refused("not-found"), look: "stale: stale" },
  ],
  ["409", status(409), refused("conflict"), refused("conflict")],
  ["422", status(422), refused("unprocessable"), refused("unprocessable")],
  ["latency", { kind: "latency", ms: 3000 }, unharmed, unharmed],
  ["a stalled answer", { kind: "stall", ms: 3000 }, unharmed, never("network", "unknown: network")],
  [
    "a stalled answer after the write took effect",
    { kind: "stall", ms: 3000, effect: "after" },
    { ...unharmed, creates: "adopted" },
    never("network", "adopted", "done"),
  ],
  [
    "a web page instead of an answer",
    { kind: "html" },
    { ...never("bad-response", "done") },
    never("bad-response", "failed: bad-response"),
  ],
  [
    "a web page after the write took effect",
    { kind: "html", effect: "after" },
    never("bad-response", "adopted"),
    never("bad-response", "adopted"),
  ],
  [
    "a gateway's web page",
    { kind: "html", status: 502 },
    unharmed,
    never("service-failed", "unknown: service-failed"),
  ],
  ["another content type", { kind: "content-type" }, unharmed, unharmed],
  ["no content type", { kind: "content-type", type: null }, unharmed, unharmed],
  ["fields that nobody knows", { kind: "unknown-fields" }, unharmed, unharmed],
  [
    "a connection that breaks before the write",
    { kind: "reset-before" },
    unharmed,
    never("network", "unknown: network"),
  ],
  [
    "a connection that breaks after the write",
    { kind: "reset-after" },
    { ...unharmed, creates: "adopted" },
    never("network", "adopted", "done"),
  ],
  [
    "a body that is cut off",
    { kind: "truncate" },
    { ...unharmed, creates: "adopted" },
    never("network", "adopted", "done"),
  ],
  [
    "half a body as if it were all",
    { kind: "partial-json" },
    unharmed,
    { ...unharmed, lists: "reading fails: bad-response", look: "failed: bad-response" },
  ],
];

function status(code: number, more: object = {}): object {
  return { kind: "status", status: code, ...more };
}

/** What must hold however it ended: nothing was made twice, and once the faults are gone an apply does the rest. */
async function settles(opened: Opened): Promise<void> {
  await opened.control("DELETE", "/faults");
  expect(await outcomeOf(opened)).toBe("done");
  const left = planOf(WANT, await opened.service.reader.read(MERCHANT, []));
  expect(left.changes).toEqual([]);
  const { items } = (await opened.control("GET", "/requests")) as { readonly items: readonly Logged[] };
  const made = items
    .filter(({ committed, method }) => committed && method === "POST")
    .map(({ name }) => name);
  expect(made.sort()).toEqual(["New", "cy@example.com"]);
}

interface Logged {
  readonly method: string;
  readonly committed: boolean;
  readonly name: string | null;
}

describe.each([
  ["lists", LISTS],
  ["look", ["members.retrieve"]],
  ["creates", CREATES],
  ["changes", CHANGES],
] as const)("%s", (group, operations) => {
  const rows = operations.flatMap((operation) =>
    FAULTS.flatMap(([name, fault, once, always]) => [
      { name, operation, often: "once", rule: { ...fault, operation, times: 1 }, ends: once[group] },
      // For ever, one operation of a group stands for the others: what differs is how long it is retried.
      ...(operation === operations[0] || operation === "members.create"
        ? [{ name, operation, often: "every time", rule: { ...fault, operation }, ends: always[group] }]
        : []),
    ]).map((row) => {
      // The limit of an address is its own: everything else is done.
      const isInvitation = operation === "members.create" && row.ends === "failed: rate-limited";
      return isInvitation ? { ...row, ends: "failed: invitation-limited" } : row;
    }),
  );
  test.each(rows)("$name, $often, at $operation: $ends", async ({ rule, ends }) => {
    const opened = await open([rule]);
    expect(await outcomeOf(opened)).toBe(ends);
    await settles(opened);
  });
});

describe("whatever happens to a request about the caller's own memberships", () => {
  test.each(FAULTS)("%s: the apply is done all the same", async (_, fault) => {
    const opened = await open([{ ...fault, operation: "memberships.list" }]);
    expect(await outcomeOf(opened)).toBe("done");
    await settles(opened);
  });
});

describe("somebody else is at work", () => {
  test.each([
    ["removes the member that is looked at", "delete", "members.retrieve", "stale: stale"],
    ["gives the member that is looked at other roles", "roles", "members.retrieve", "stale: stale"],
    ["changes the metadata of the member that is looked at", "metadata", "members.retrieve", "stale: stale"],
    ["changes the role that is about to be changed", "permissions", "roles.retrieve", "stale: stale"],
    ["creates the member just before", "create", "members.create", "failed: conflict"],
    ["creates the role just before", "create", "roles.create", "failed: conflict"],
    ["removes the member between look and write", "delete", "members.update", "failed: not-found"],
    ["removes the role between look and write", "delete", "roles.delete", "done"],
  ])("and %s: nothing is overwritten", async (_, edit, operation, ends) => {
    const rule = {
      kind: "concurrent-edit",
      edit,
      operation,
      ...(operation === "roles.retrieve" ? { nth: 2 } : { nth: 1 }),
    };
    expect(await outcomeOf(await open([rule]))).toBe(ends);
  });

  test("and a list that moves while it is read is read again", async () => {
    const opened = await open([{ kind: "shift", operation: "members.list", times: 1 }]);
    expect(await outcomeOf(opened)).toBe("done");
  });
});
