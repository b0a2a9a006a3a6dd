import { describe, expect, test } from "vitest";
import { RolecallError } from "../../src/model/errors.ts";
import type { Recheck } from "../../src/model/ports.ts";
import { LostResponse } from "../../src/service/http/transport.ts";
import { connectTo, failureOf, type Handler, json, problem, ROLES, wireRole } from "./support.ts";

const PATCH = { description: "Till" };
const refused = (seconds: string) => problem(429, {}, { "retry-after": seconds });
const lost = (): never => {
  throw new LostResponse("network", "it broke", true);
};
const stale: Recheck = async () => {
  throw new RolecallError("stale", "role A has changed since it was planned.");
};

/** A look that notes whether there was doubt each time, and says what it is told to. */
function noting(says: Recheck = async () => "go"): {
  readonly look: Recheck;
  readonly doubts: boolean[];
} {
  const doubts: boolean[] = [];
  return {
    doubts,
    look: (doubt) => {
      doubts.push(doubt);
      return says(doubt);
    },
  };
}

describe("a write with a recheck", () => {
  test("is not rechecked again if it is sent at once, or retried soon", async () => {
    const { writer, clock } = connectTo((_, count) => (count < 5 ? problem(503) : json({})));
    const { look, doubts } = noting();
    const began = clock.now();
    await writer("MC1").updateRole("role_a", PATCH, { recheck: look });
    expect(clock.now() - began).toBeLessThan(5_000);
    expect(doubts).toEqual([]);
  });

  test("is rechecked again after a minute's pause, and then sent", async () => {
    const { writer, seen } = connectTo((_, count) => (count === 1 ? refused("60") : json({})));
    const { look, doubts } = noting();
    await writer("MC1").updateRole("role_a", PATCH, { recheck: look });
    expect(doubts).toEqual([false]);
    expect(seen).toHaveLength(2);
  });

  test.each(["updateRole", "deleteRole", "updateMember", "deleteMember"] as const)(
    "is not sent on an old look: %s that waits while others are refused is stale, and nothing goes out",
    async (method) => {
      const { writer, seen } = connectTo(
        ({ path }, count) => (path.endsWith("role_other") && count === 1 ? refused("60") : json({})),
        { concurrency: 1 },
      );
      const write = writer("MC1");
      const calls = {
        updateRole: () => write.updateRole("role_a", PATCH, { recheck: stale }),
        deleteRole: () => write.deleteRole("role_a", { recheck: stale }),
        updateMember: () => write.updateMember("mem_a", { roles: [], metadata: {} }, { recheck: stale }),
        deleteMember: () => write.deleteMember("mem_a", { recheck: stale }),
      };
      const other = write.deleteRole("role_other");
      const failure = await failureOf(calls[method]());
      await other;
      expect(failure).toMatchObject({ code: "stale", message: "role A has changed since it was planned." });
      expect(seen.map(({ path }) => path)).toEqual([`${ROLES}/role_other`, `${ROLES}/role_other`]);
    },
  );

  test("is stale, not unknown, if all attempts were refused", async () => {
    const { writer, seen } = connectTo(() => refused("60"));
    const failure = await failureOf(writer("MC1").updateRole("role_a", PATCH, { recheck: stale }));
    expect(failure.code).toBe("stale");
    expect(failure.request?.uncertain).toBeUndefined();
    expect(seen).toHaveLength(1);
  });

  test("is done, and not sent, if the recheck finds it applied", async () => {
    const { writer, seen } = connectTo(() => refused("60"));
    await writer("MC1").updateRole("role_a", PATCH, { recheck: async () => "done" });
    expect(seen).toHaveLength(1);
  });

  test("takes precedence over queued requests, so that its recheck stays recent", async () => {
    const { writer, lookup, seen } = connectTo(({ path }) => json(wireRole(path.slice(ROLES.length + 1))), {
      concurrency: 1,
    });
    const reads = ["b", "c", "d"].map((id) => lookup("MC1").getRole(id));
    await Promise.all([...reads, writer("MC1").updateRole("role_a", PATCH, { recheck: noting().look })]);
    expect(seen.map(({ method }) => method)).toEqual(["GET", "PATCH", "GET", "GET"]);
  });

  test("needs no second permit for the recheck: a concurrency of one does not deadlock", async () => {
    const connected = connectTo(
      ({ method }, count) => {
        if (method === "GET") return json(wireRole("role_a"));
        return count === 1 ? refused("60") : json({});
      },
      { concurrency: 1 },
    );
    const { writer, lookup, seen } = connected;
    const look: Recheck = async () => {
      await lookup("MC1").getRole("role_a");
      return "go";
    };
    const ids = ["role_a", "role_b", "role_c"];
    await Promise.all(ids.map((id) => writer("MC1").updateRole(id, PATCH, { recheck: look })));
    expect(seen.filter(({ method }) => method === "PATCH")).toHaveLength(6);
    expect(connected.clock.now()).toBeLessThan(Date.parse("2026-06-01T12:10:00Z"));
  });

  test("is sent although the service is so slow that each recheck is outdated before the next permit", async () => {
    const connected = connectTo(
      async ({ method, path }) => {
        await connected.clock.sleep(7_000);
        return method === "GET" ? json(wireRole(path.slice(ROLES.length + 1))) : json({});
      },
      { concurrency: 1 },
    );
    const { writer, lookup, seen } = connected;
    const one = async (id: string) => {
      const look: Recheck = async () => {
        await lookup("MC1").getRole(id);
        return "go";
      };
      await look(false);
      await writer("MC1").updateRole(id, PATCH, { recheck: look });
    };
    await Promise.all(["role_a", "role_b", "role_c"].map(one));
    expect(seen.filter(({ method }) => method === "PATCH")).toHaveLength(3);
  });

  test("ends if the service asks for a wait after each recheck, and reports that it was not sent", async () => {
    const handler: Handler = ({ path, method }) =>
      method === "GET" && path.endsWith("role_a") ? json(wireRole("role_a")) : refused("50");
    const { writer, lookup, seen, events, clock } = connectTo(handler, {
      concurrency: 1,
      retryForMs: 120_000,
    });
    const pauses = () => events.filter(({ type }) => type === "wait").length;
    // As soon as it has been looked at, something else is refused.
    const look: Recheck = async () => {
      await lookup("MC1").getRole("role_a");
      const before = pauses();
      lookup("MC1")
        .getRole("role_other")
        .catch(() => undefined);
      while (pauses() === before) await new Promise(setImmediate);
      return "go";
    };
    await look(false);
    const began = clock.now();
    const failure = await failureOf(writer("MC1").updateRole("role_a", PATCH, { recheck: look }));
    expect(failure).toMatchObject({
      code: "rate-limited",
      message: "PATCH /v0.1/merchants/MC1/roles/role_a was not sent: the service repeatedly asked to wait.",
      hint: "It was retried for 2 min; use --retry-for to allow more.",
      request: { attempts: 0 },
    });
    expect(seen.filter(({ method }) => method === "PATCH")).toEqual([]);
    expect(clock.now() - began).toBeLessThan(600_000);
  });
});

describe("a write whose response was lost, retried much later", () => {
  test("is done if the recheck finds it applied", async () => {
    const { writer, seen, clock } = connectTo(lost);
    const { look, doubts } = noting(async () => "done");
    const began = clock.now();
    await writer("MC1").updateRole("role_a", PATCH, { recheck: look });
    expect(doubts).toEqual([true]);
    expect(seen.length).toBeGreaterThan(1);
    expect(clock.now() - began).toBeGreaterThan(5_000);
  });

  test("is sent again if the recheck finds no change", async () => {
    const { writer } = connectTo((_, count) => (count < 9 ? lost() : json({})));
    const { look, doubts } = noting();
    await writer("MC1").updateRole("role_a", PATCH, { recheck: look });
    expect(doubts.length).toBeGreaterThan(0);
    expect(new Set(doubts)).toEqual(new Set([true]));
  });

  test("stays unknown if somebody else has changed it, and is not sent again", async () => {
    const { writer, seen } = connectTo(lost);
    const failure = await failureOf(writer("MC1").updateRole("role_a", PATCH, { recheck: stale }));
    expect(failure).toMatchObject({
      code: "network",
      message:
        "PATCH /v0.1/merchants/MC1/roles/role_a got no response: it broke. Its outcome can no longer be determined: role A has changed since it was planned.",
      hint: 'The change may have taken effect. Run "rolecall plan" to see whether it has.',
      request: { method: "PATCH", uncertain: true, attempts: seen.length },
    });
  });

  test("stays unknown if the later responses are refusals", async () => {
    const { writer } = connectTo((_, count) => (count === 1 ? lost() : refused("60")));
    const failure = await failureOf(writer("MC1").updateRole("role_a", PATCH, { recheck: stale }));
    expect(failure).toMatchObject({ code: "rate-limited", request: { uncertain: true } });
  });

  test("stays unknown if the recheck fails", async () => {
    const { writer } = connectTo(lost);
    const look: Recheck = async () => {
      throw new RolecallError("forbidden", "GET returned 403.", {
        request: { method: "GET", path: "/", attempts: 1 },
      });
    };
    const failure = await failureOf(writer("MC1").updateRole("role_a", PATCH, { recheck: look }));
    expect(failure.message).toMatch(/A lookup of its outcome failed: GET returned 403\.$/);
    expect(failure.request).toMatchObject({ method: "PATCH", uncertain: true });
  });
});
