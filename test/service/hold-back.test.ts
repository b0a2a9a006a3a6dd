import { describe, expect, test } from "vitest";
import type { RolecallError } from "../../src/model/errors.ts";
import type { HoldBack } from "../../src/model/ports.ts";
import { connectTo, type Handler, json, problem } from "./support.ts";

const ADA = { email: "ada@example.com", roles: [] };

/** Refuses the first invitations, as long as `times` says. */
function refusing(times: number, headers: Readonly<Record<string, string>>): Handler {
  return (_, count) =>
    count <= times ? problem(429, { detail: "Too many invitations." }, headers) : json({ id: "mem_1" }, 201);
}

/** Invites an address; `held` is called when it waits beside everything else. */
function invite(
  handler: Handler,
  {
    held = () => undefined,
    ...rest
  }: Partial<HoldBack> & { readonly cancelled?: AbortSignal; readonly retryForMs?: number } = {},
) {
  const { cancelled, retryForMs, ...signals } = rest;
  const harness = connectTo(handler, {
    ...(cancelled && { signal: cancelled }),
    ...(retryForMs !== undefined && { retryForMs }),
  });
  const none = new AbortController().signal;
  const sent = harness
    .writer("MC1")
    .createMember(ADA, { holdBack: { held, ending: none, stop: none, ...signals } });
  return { harness, sent };
}

async function failureOf(sent: Promise<unknown>): Promise<RolecallError> {
  return sent.then(
    () => expect.unreachable("it was refused"),
    (error: RolecallError) => error,
  );
}

describe("an invitation that is refused for its address", () => {
  test("waits as long as the service asks, and is sent again", async () => {
    let held = 0;
    const { harness, sent } = invite(refusing(2, { "retry-after": "30" }), { held: () => void held++ });
    expect(await sent).toMatchObject({ id: "mem_1" });
    expect([held, harness.clock.slept]).toEqual([2, [30_000, 30_000]]);
    expect(harness.events.find(({ type }) => type === "wait")).toMatchObject({
      reason: "the service asks for fewer invitations of ada@example.com (429)",
    });
  });

  test.each([
    ["3600", "try again after 13:00 UTC", "2026-06-01T13:00:00.000Z"],
    ["61", "try again after 12:02 UTC", "2026-06-01T12:01:01.000Z"],
    ["86400", "try again after 2026-06-02, 12:00 UTC", "2026-06-02T12:00:00.000Z"],
    ["Mon, 01 Jun 2026 14:05:00 GMT", "try again after 14:05 UTC", "2026-06-01T14:05:00.000Z"],
    ["99999999999", "the service asks for a wait of more than 1000 years", undefined],
    ["99999999999999999999", "the service asks for a wait of more than 1000 years", undefined],
    ["100000000", "the service asks for a wait of 3 years", undefined],
  ])("says when to try again (Retry-After: %s)", async (header, when, retryAt) => {
    const stop = AbortSignal.abort();
    const { harness, sent } = invite(refusing(1, { "retry-after": header }), { stop });
    const error = await failureOf(sent);
    expect(error).toMatchObject({ code: "invitation-limited", retryAt });
    expect(error.message).toBe(`ada@example.com: too many invitations were sent to this address; ${when}.`);
    expect(harness.clock.slept).toEqual([]);
  });

  test.each([
    ["Too many invitations were sent to that user.", "too many invitations were sent to this address"],
    ["The quota of this key is used up.", "not invited for now: The quota of this key is used up"],
    [undefined, "too many invitations were sent to this address"],
  ])("names the limit, as the service reports it (%s)", async (detail, limit) => {
    const refused = problem(429, detail === undefined ? {} : { detail }, { "retry-after": "3600" });
    const { sent } = invite(() => refused, { stop: AbortSignal.abort() });
    expect((await failureOf(sent)).message).toBe(`ada@example.com: ${limit}; try again after 13:00 UTC.`);
  });

  test("is given up at once if the service asks for an hour", async () => {
    let held = 0;
    const { harness, sent } = invite(refusing(1, { "retry-after": "3600" }), { held: () => void held++ });
    expect(await failureOf(sent)).toMatchObject({ code: "invitation-limited", request: { attempts: 1 } });
    expect([held, harness.clock.slept]).toEqual([0, []]);
  });

  test("is given up at the end, unless its wait is nearly over", async () => {
    for (const [seconds, attempts] of [
      [60, 1],
      [4, 3],
    ] as const) {
      const ending = new AbortController();
      const handler = refusing(9, { "retry-after": `${seconds}` });
      const { sent } = invite(handler, { held: () => ending.abort(), ending: ending.signal });
      expect(await failureOf(sent)).toMatchObject({ code: "invitation-limited", request: { attempts } });
    }
  });

  test("waits for as long as --retry-for allows, also at the end", async () => {
    const ending = AbortSignal.abort();
    const retryForMs = 100_000;
    const { harness, sent } = invite(refusing(2, { "retry-after": "40" }), { ending, retryForMs });
    expect(await sent).toMatchObject({ id: "mem_1" });
    expect(harness.clock.slept).toEqual([40_000, 40_000]);
    const longer = invite(refusing(3, { "retry-after": "40" }), { ending, retryForMs });
    expect(await failureOf(longer.sent)).toMatchObject({
      code: "invitation-limited",
      request: { attempts: 3 },
    });
  });

  test("is not sent again once the run has stopped, or is to end", async () => {
    for (const stops of ["stop", "cancelled"] as const) {
      const end = new AbortController();
      const { harness, sent } = invite(refusing(1, { "retry-after": "30" }), {
        held: () => queueMicrotask(() => end.abort()),
        [stops]: end.signal,
      });
      expect(await failureOf(sent)).toMatchObject({ code: "invitation-limited" });
      expect(harness.seen).toHaveLength(1);
    }
  });

  test("waits longer each time if the service does not say how long", async () => {
    const { harness, sent } = invite(refusing(4, {}));
    await sent;
    expect(harness.clock.slept).toEqual([125, 250, 500, 1000]);
  });
});

test("a refused creation of a managed user pauses all: it is not invited", async () => {
  const harness = connectTo(refusing(1, { "retry-after": "3600" }));
  const sent = harness.writer("MC1").createMember({ ...ADA, managed: { password: "correct horse" } });
  expect(await failureOf(sent)).toMatchObject({ code: "rate-limited" });
});
