import { describe, expect, test } from "vitest";
import { applyPlan } from "../../../src/kernel/apply/apply-plan.ts";
import { unknownPutSemantics } from "../../../src/kernel/apply/update-member.ts";
import type { PasswordChange } from "../../../src/model/apply.ts";
import type { ApplyEvent } from "../../../src/model/events.ts";
import type { Metadata } from "../../../src/model/json.ts";
import type { Plan } from "../../../src/model/plan.ts";
import { connectTo, json, problem, type Seen, wireMember } from "../../service/support.ts";
import { applyPorts } from "../../support/apply-ports.ts";
import { desired, image, live, liveMember, liveRole, member, planOf } from "../../support/build.ts";
import { memoryJournal } from "../../support/memory-journal.ts";

interface Fields {
  roles: readonly string[];
  metadata: Metadata;
  nickname?: string | undefined;
}

/** How a service treats an update, and what goes on beside it. */
interface Behaviour {
  /** Empties what an update does not hold. */
  readonly replaces?: boolean;
  /** What an update answers with; absent: the member. */
  readonly answers?: (member: object) => Response;
  /** Called before each update with its number, from 1; an answer stands for the service's own. */
  readonly before?: (update: number, members: Map<string, Fields>) => Response | undefined;
  /** Answers a retrieve in the service's place, with its number, from 1. */
  readonly retrieve?: (count: number) => Response | undefined;
  readonly recheck?: boolean;
  readonly concurrency?: number;
}

const ROLES = [liveRole("role_1", "Cashier"), liveRole("role_2", "Courier")];
const BEFORE: Fields = { roles: ["role_1"], metadata: { team: "a" } };

/** Applies a plan to a service that holds these members, and gives what was sent and what is there in the end. */
async function apply(
  plan: Plan,
  start: Readonly<Record<string, Fields>>,
  { replaces = false, answers, before, retrieve, recheck = true, concurrency = 1 }: Behaviour = {},
  passwords: readonly PasswordChange[] = [],
) {
  const members = new Map(Object.entries(start));
  const wire = (id: string): object => {
    const { roles = [], metadata = {}, nickname } = members.get(id) ?? {};
    const user = {
      id,
      email: emailOf(id),
      virtual_user: nickname !== undefined,
      nickname: nickname || undefined,
    };
    return wireMember(id, { roles, metadata, user });
  };
  let updates = 0;
  const put = (id: string, { body }: Seen): Response => {
    updates += 1;
    const answer = before?.(updates, members);
    if (answer) return answer;
    const was = members.get(id) ?? BEFORE;
    const absent: Fields = replaces
      ? { roles: [], metadata: {}, nickname: was.nickname === undefined ? undefined : "" }
      : was;
    members.set(id, {
      roles: body.roles ?? absent.roles,
      metadata: body.metadata ?? absent.metadata,
      nickname: body.user?.nickname ?? absent.nickname,
    });
    return answers?.(wire(id)) ?? json(wire(id));
  };
  let retrieves = 0;
  const { writer, lookup, seen } = connectTo(
    (one) => {
      const id = one.path.split("/").at(-1) ?? "";
      if (one.method === "PUT") return put(id, one);
      retrieves += 1;
      return retrieve?.(retrieves) ?? json(wire(id));
    },
    { concurrency: 8 },
  );
  const journal = memoryJournal();
  const events: ApplyEvent[] = [];
  const ports = applyPorts(
    { writer: writer("MC1"), lookup: lookup("MC1") },
    { journal, recheck, concurrency, emit: (event) => events.push(event), password: () => "correct horse" },
  );
  const result = await applyPlan(plan, ports, passwords);
  return {
    result,
    outcome: result.outcomes[0],
    members: Object.fromEntries(members),
    sent: seen.filter(({ method }) => method === "PUT").map(({ body }) => body),
    order: seen.map(({ method, path }) => `${method} ${path.split("/").at(-1)}`),
    journal: journal.entries.map((entry) =>
      entry.type === "intent"
        ? `intent ${entry.part}`
        : entry.type === "outcome"
          ? `outcome ${entry.status}`
          : entry.type,
    ),
    intents: journal.entries.filter((entry) => entry.type === "intent"),
    emptied: events.filter((event) => event.type === "fields-emptied"),
  };
}

const emailOf = (id: string): string => `${id}@example.com`;

/** A plan for members who are as `BEFORE`, or as given, and are to have these fields. */
function planFor(
  wanted: Readonly<Record<string, { readonly roles?: readonly string[]; readonly metadata?: Metadata }>>,
  is: Fields = BEFORE,
): Plan {
  const ids = Object.keys(wanted);
  return planOf(
    desired({
      merchant: "MC1",
      members: ids.map((id) => {
        const { roles, metadata } = wanted[id] ?? {};
        const { roles: _, ...unmanaged } = member(emailOf(id));
        return {
          ...unmanaged,
          ...(roles && { roles: roles.map((role) => ({ role })) }),
          ...(metadata && { metadata }),
        };
      }),
    }),
    {
      ...live(
        ROLES,
        ids.map((id) => liveMember(id, emailOf(id), is)),
      ),
      merchant: "MC1",
    },
  );
}

const METADATA = planFor({ mem_1: { metadata: { team: "b" } } });
const ROLE = planFor({ mem_1: { roles: ["Courier"] } });

describe("an update of a member", () => {
  test("sends what it changes and nothing else", async () => {
    expect((await apply(METADATA, { mem_1: BEFORE })).sent).toEqual([{ metadata: { team: "b" } }]);
    expect((await apply(ROLE, { mem_1: BEFORE })).sent).toEqual([{ roles: ["role_2"] }]);
  });

  test("does not give back a role that somebody takes away right before it", async () => {
    const two: Fields = { roles: ["role_1", "role_2"], metadata: { team: "a" } };
    const plan = planFor({ mem_1: { metadata: { team: "b" } } }, two);
    const takeAway = (_: number, members: Map<string, Fields>): undefined => {
      members.set("mem_1", { ...two, roles: ["role_2"] });
    };
    const { members, emptied } = await apply(plan, { mem_1: two }, { before: takeAway });
    expect(members["mem_1"]).toMatchObject({ roles: ["role_2"], metadata: { team: "b" } });
    expect(emptied).toEqual([]);
  });

  test("makes no other request if the response has the member", async () => {
    const { order } = await apply(METADATA, { mem_1: BEFORE });
    expect(order).toEqual(["GET mem_1", "PUT mem_1"]);
  });

  test.each([
    ["empty", () => new Response(null, { status: 204 })],
    ["something else", () => json({ ok: true })],
    ["another member", () => json(wireMember("mem_9"))],
  ])("reads the member back if the response is %s, once in a run", async (_, answers) => {
    const plan = planFor({ mem_1: { metadata: { team: "b" } }, mem_2: { metadata: { team: "b" } } });
    const { order, result } = await apply(plan, { mem_1: BEFORE, mem_2: BEFORE }, { answers });
    expect(order).toEqual(["GET mem_1", "PUT mem_1", "GET mem_1", "GET mem_2", "PUT mem_2"]);
    expect(result.status).toBe("done");
  });

  test("is sent one by one until the service's behaviour is known, then concurrently", async () => {
    const ids = ["mem_1", "mem_2", "mem_3"];
    const wanted = Object.fromEntries(ids.map((id) => [id, { metadata: { team: "b" } }]));
    const start = Object.fromEntries(ids.map((id) => [id, BEFORE]));
    const { order } = await apply(planFor(wanted), start, { concurrency: 3 });
    expect(order.slice(0, 4)).toEqual(["GET mem_1", "PUT mem_1", "GET mem_2", "GET mem_3"]);
  });

  test("is sent one by one until that is known of every field that it leaves out", async () => {
    const was = { ...BEFORE, nickname: "Till 7" };
    const metadata = { team: "b" };
    const plan = planFor({
      mem_1: { roles: ["Courier"], metadata },
      mem_2: { metadata },
      mem_3: { metadata },
    });
    const managed = { nickname: "Till 7", passwordEnv: null };
    const changes = plan.changes.map((change) => ({
      ...change,
      before: { ...change.before, managed },
      after: { ...change.after, managed },
    }));
    const start = { mem_1: was, mem_2: was, mem_3: was };
    const { order } = await apply({ ...plan, changes } as Plan, start, { concurrency: 3 });
    const requests = ["mem_1", "mem_2", "mem_3"].flatMap((id) => [`GET ${id}`, `PUT ${id}`]);
    expect(order).toEqual(requests);
  });
});

describe("a service that empties what an update does not hold", () => {
  test("has the field restored at once and reported; members are then sent whole", async () => {
    const ids = ["mem_1", "mem_2", "mem_3"];
    const wanted = Object.fromEntries(ids.map((id) => [id, { metadata: { team: "b" } }]));
    const start = Object.fromEntries(ids.map((id) => [id, BEFORE]));
    const ran = await apply(planFor(wanted), start, { replaces: true, concurrency: 3 });
    const whole = { roles: ["role_1"], metadata: { team: "b" } };
    expect(ran.sent).toEqual([{ metadata: { team: "b" } }, whole, whole, whole]);
    expect(ran.members).toMatchObject({ mem_1: whole, mem_2: whole, mem_3: whole });
    expect(ran.emptied).toMatchObject([{ change: { name: emailOf("mem_1") }, fields: ["roles"] }]);
    expect(ran.result).toMatchObject({ status: "done", writes: 4 });
    expect(ran.intents.map(({ part, id }) => `${part} ${id}`)).toEqual([
      "whole mem_1",
      "restore mem_1",
      "whole mem_2",
      "whole mem_3",
    ]);
  });

  test("leaves a journal that tells of the restore before the update is recorded as done", async () => {
    const { journal } = await apply(ROLE, { mem_1: BEFORE }, { replaces: true });
    expect(journal).toEqual(["intent whole", "intent restore", "outcome done", "outcome done", "end"]);
  });

  test("has unmanaged metadata restored", async () => {
    const { members, emptied } = await apply(ROLE, { mem_1: BEFORE }, { replaces: true });
    expect(members["mem_1"]).toMatchObject({ roles: ["role_2"], metadata: { team: "a" } });
    expect(emptied).toMatchObject([{ fields: ["metadata"] }]);
  });

  test("is detected by one retrieve if the response is empty", async () => {
    const answers = (): Response => new Response(null, { status: 204 });
    const { members, order } = await apply(ROLE, { mem_1: BEFORE }, { replaces: true, answers });
    expect(members["mem_1"]).toMatchObject({ roles: ["role_2"], metadata: { team: "a" } });
    expect(order).toEqual(["GET mem_1", "PUT mem_1", "GET mem_1", "PUT mem_1", "GET mem_1"]);
  });

  test("is detected with --no-recheck, without restoring a role that was removed since the plan", async () => {
    const now: Fields = { roles: [], metadata: { team: "a", since: 2 } };
    const plan = planFor({ mem_1: { roles: ["Courier"] } });
    const { members } = await apply(plan, { mem_1: now }, { replaces: true, recheck: false });
    expect(members["mem_1"]).toMatchObject({ roles: ["role_2"], metadata: { team: "a", since: 2 } });
    const metadata = await apply(METADATA, { mem_1: now }, { replaces: true, recheck: false });
    expect(metadata.members["mem_1"]).toMatchObject({ roles: [], metadata: { team: "b" } });
  });

  test("is detected if the response to the update was lost", async () => {
    let lost = false;
    const answers = (wire: object): Response => {
      if (lost) return json(wire);
      lost = true;
      return problem(503);
    };
    const { members, result, emptied } = await apply(ROLE, { mem_1: BEFORE }, { replaces: true, answers });
    expect(members["mem_1"]).toMatchObject({ roles: ["role_2"], metadata: { team: "a" } });
    expect(emptied).toHaveLength(1);
    expect(result.status).toBe("done");
  });

  test("is not assumed if a response only omits a field", async () => {
    const answers = (wire: object): Response => json({ ...wire, metadata: undefined });
    const { sent, emptied } = await apply(ROLE, { mem_1: BEFORE }, { answers });
    expect(sent).toEqual([{ roles: ["role_2"] }]);
    expect(emptied).toEqual([]);
  });

  test("is detected if the response shows the member as it was before", async () => {
    let stale = true;
    const answers = (wire: object): Response => {
      if (!stale) return json(wire);
      stale = false;
      return json({ ...wire, ...BEFORE });
    };
    const { members, order } = await apply(ROLE, { mem_1: BEFORE }, { replaces: true, answers });
    expect(members["mem_1"]).toMatchObject({ roles: ["role_2"], metadata: { team: "a" } });
    expect(order).toEqual(["GET mem_1", "PUT mem_1", "GET mem_1", "PUT mem_1"]);
  });

  test("and that empties it again on the restore is reported: nothing is restored", async () => {
    const lose = (_: number, members: Map<string, Fields>): Response => {
      const now: Fields = { roles: ["role_2"], metadata: {} };
      members.set("mem_1", now);
      return json(wireMember("mem_1", { ...now, user: { id: "mem_1", email: emailOf("mem_1") } }));
    };
    const { outcome, journal } = await apply(ROLE, { mem_1: BEFORE }, { before: lose });
    expect(outcome).toMatchObject({
      status: "failed",
      failure: {
        code: "not-restored",
        message: expect.stringContaining(
          "They were not restored: the service accepted the update that restores them, but metadata is still empty.",
        ),
        hint: expect.stringContaining("rolecall undo latest -m MC1"),
      },
    });
    expect(journal).toEqual(["intent whole", "intent restore", "outcome done", "outcome failed", "end"]);
  });

  test("is known for all fields: a nickname goes along, too", async () => {
    const till: Fields = { roles: ["role_1"], metadata: {}, nickname: "Till 7" };
    const plan = {
      ...ROLE,
      changes: ROLE.changes.map((change) => ({
        ...change,
        before: { ...change.before, metadata: {}, managed: { nickname: "Till 7", passwordEnv: null } },
        after: { ...change.after, metadata: {}, managed: { nickname: "Till 7", passwordEnv: null } },
      })),
    } as Plan;
    const { members } = await apply(plan, { mem_1: till }, { replaces: true });
    expect(members["mem_1"]).toEqual({ roles: ["role_2"], metadata: {}, nickname: "Till 7" });
  });

  test("has no rounded number restored: the rest is, and the run stops with a message", async () => {
    const text = '{"n": 12345678901234567890, "team": "a"}';
    const is: Fields = { roles: ["role_1"], metadata: JSON.parse(text) };
    const exact = (): Response =>
      new Response(
        JSON.stringify(wireMember("mem_1", { roles: ["role_1"], metadata: "M" })).replace('"M"', text),
        { headers: { "content-type": "application/json" } },
      );
    const plan = planFor({ mem_1: { roles: ["Courier"] } }, is);
    const retrieve = (count: number): Response | undefined => (count === 1 ? exact() : undefined);
    const { sent, outcome } = await apply(plan, { mem_1: is }, { replaces: true, retrieve });
    expect(sent).toEqual([{ roles: ["role_2"] }, { roles: ["role_2"], metadata: { team: "a" } }]);
    expect(outcome).toMatchObject({
      status: "failed",
      failure: {
        code: "not-restored",
        message: expect.stringMatching(
          /The rest was restored: .* the metadata n \(12345678901234567890\) contains numbers too large/,
        ),
      },
    });
  });

  test("and that refuses the restore stops the run, which reports what is empty and how to restore it", async () => {
    const refuse = (update: number): Response | undefined =>
      update === 2 ? problem(403, { detail: "Not now." }) : undefined;
    const { outcome, result } = await apply(ROLE, { mem_1: BEFORE }, { replaces: true, before: refuse });
    expect(outcome).toMatchObject({
      status: "failed",
      failure: {
        code: "not-restored",
        message: expect.stringMatching(
          /^The service cleared metadata, which the update did not send\. They were not restored: .*Not now\.$/,
        ),
        hint: expect.stringContaining("rolecall undo latest"),
      },
    });
    expect(result.writes).toBe(1);
  });

  test("and that cannot be read after an empty response leaves the change unknown", async () => {
    const answers = (): Response => new Response(null, { status: 204 });
    const retrieve = (count: number): Response | undefined => (count === 2 ? problem(403) : undefined);
    const { outcome } = await apply(ROLE, { mem_1: BEFORE }, { answers, retrieve });
    expect(outcome).toMatchObject({
      status: "unknown",
      failure: {
        message: expect.stringMatching(/^The update was made, but it is unknown whether the service kept /),
      },
    });
  });
});

describe("a new password", () => {
  const till: Fields = { roles: ["role_1"], metadata: { team: "a" }, nickname: "Till 7" };
  const held = image(
    emailOf("mem_1"),
    { metadata: till.metadata, nickname: "Till 7", roles: [{ id: "role_1", name: "Cashier" }] },
    { passwordEnv: null, status: "accepted" },
  );
  const [change] = METADATA.changes;
  const rotation = {
    ...change,
    before: held,
    after: held,
    fields: [],
    passwordEnv: "TILL",
  } as PasswordChange;
  const nothing = { ...METADATA, changes: [] };

  test("is sent alone", async () => {
    const { sent, result } = await apply(nothing, { mem_1: till }, {}, [rotation]);
    expect(sent).toEqual([{ user: { password: "correct horse" } }]);
    expect(result.status).toBe("done");
  });

  const used = (): Response =>
    problem(403, { title: "Forbidden", detail: "This password was used before: choose another one." });

  test.each([true, false])(
    "whose answer was lost, and which is then refused as used before, is set (recheck: %s)",
    async (recheck) => {
      const before = (update: number) => (update === 1 ? problem(502) : used());
      const { outcome, sent, result } = await apply(nothing, { mem_1: till }, { before, recheck }, [
        rotation,
      ]);
      expect(sent).toHaveLength(2);
      expect(outcome).toMatchObject({ status: "done", id: "mem_1", adopted: true });
      expect(result).toMatchObject({ status: "done", writes: 1 });
    },
  );

  test("that is refused at once as used before was set by an earlier run", async () => {
    const { outcome, sent, result } = await apply(nothing, { mem_1: till }, { before: used }, [rotation]);
    expect(sent).toHaveLength(1);
    expect(outcome).toMatchObject({ status: "done", adopted: false, already: true });
    expect(result).toMatchObject({ status: "done", writes: 0 });
  });

  test.each([400, 403, 422])(
    "that is refused for one user (%i) leaves the others to go on",
    async (status) => {
      const before = (update: number) =>
        update === 1 ? problem(status, { detail: "Too simple." }) : undefined;
      const other = { ...rotation, id: "mem_2", before: { ...held, email: emailOf("mem_2") } };
      const second = { ...other, name: emailOf("mem_2"), after: other.before } as PasswordChange;
      const { result, sent } = await apply(nothing, { mem_1: till, mem_2: till }, { before }, [
        rotation,
        second,
      ]);
      expect(sent).toHaveLength(2);
      expect(result.status).toBe("incomplete");
      expect(result.outcomes.map(({ status }) => status)).toEqual(["failed", "done"]);
    },
  );

  test("whose response was lost, and that is then refused for another reason, is unknown", async () => {
    const before = (update: number) =>
      update === 1 ? problem(502) : problem(403, { detail: "The key may not update members." });
    const { outcome } = await apply(nothing, { mem_1: till }, { before }, [rotation]);
    expect(outcome).toMatchObject({ status: "unknown" });
  });

  test("costs a replaced member nothing, and is not sent again", async () => {
    const { sent, members, intents } = await apply(nothing, { mem_1: till }, { replaces: true }, [rotation]);
    expect(members["mem_1"]).toEqual(till);
    expect(sent).toEqual([
      { user: { password: "correct horse" } },
      { roles: ["role_1"], metadata: { team: "a" }, user: { nickname: "Till 7" } },
    ]);
    expect(JSON.stringify(intents)).not.toContain("correct horse");
  });
});

test("the behaviour of a service that one merchant's apply has found is known to the next", async () => {
  const semantics = unknownPutSemantics();
  semantics.replaces = true;
  const { writer, lookup, seen } = connectTo(() =>
    json(wireMember("mem_1", { ...BEFORE, roles: ["role_1"] })),
  );
  const ports = applyPorts(
    { writer: writer("MC1"), lookup: lookup("MC1") },
    { recheck: false, putSemantics: semantics },
  );
  await applyPlan(METADATA, ports);
  const [put] = seen.filter(({ method }) => method === "PUT");
  expect(put?.body).toEqual({ roles: ["role_1"], metadata: { team: "b" } });
});
