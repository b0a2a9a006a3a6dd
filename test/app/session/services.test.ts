import { describe, expect, test } from "vitest";
import { resolveConnection } from "../../../src/app/session/connection.ts";
import { openServices, type Services, startPrefetch } from "../../../src/app/session/services.ts";
import type { FileHeader } from "../../../src/kernel/read/file-header.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { desired } from "../../support/build.ts";
import { testIo } from "../../support/io.ts";

interface Reading {
  readonly merchant: string;
  readonly members: number | undefined;
  /** What the reading was told of roles, or why it ended. */
  readonly roleIds: Promise<unknown>;
}

const ENV = { ROLECALL_BASE_URL: "https://api.example.com", ROLECALL_API_KEY: "sk_test_1" };

function setUp(env: Readonly<Record<string, string>> = ENV, most = 100) {
  const { io } = testIo({ env });
  const readings: Reading[] = [];
  const read = async (
    merchant: string,
    roleIds: readonly string[] | Promise<readonly string[]>,
    members?: number,
  ): Promise<LiveState> => {
    const named = Promise.resolve(roleIds);
    readings.push({ merchant, members, roleIds: named.catch((error: Error) => error.message) });
    await named;
    return { merchant, roles: [], members: [], callerId: null };
  };
  const services = { of: () => ({ reader: { read } }) } as unknown as Services;
  const isWanted = (merchant: string): boolean => merchant !== "MC9";
  return { ahead: startPrefetch(services, { isWanted, most }, io), readings, io };
}

const head = (merchant: string, more: Partial<FileHeader> = {}): FileHeader => ({
  merchant,
  members: 40,
  origin: { file: "a.yaml", path: [] },
  ...more,
});

describe("what is read ahead", () => {
  test("is claimed once, and then gets the roles that the file names", async () => {
    const { ahead, readings, io } = setUp();
    ahead.start(head("MC1"));
    ahead.start(head("MC1"));
    expect(readings).toMatchObject([{ merchant: "MC1", members: 40 }]);
    const state = desired();
    const access = resolveConnection(state, undefined, io.env);
    expect(await ahead.claim(state, access, ["role_a"])).toMatchObject({ merchant: "MC1" });
    expect(await readings[0]?.roleIds).toEqual(["role_a"]);
    expect(ahead.claim(state, access, [])).toBeNull();
  });

  test.each([
    ["with another address", { baseUrl: "https://elsewhere.example.com" }, ENV],
    ["with another key", { keyEnv: "OTHER" }, { ...ENV, OTHER: "sk_test_2" }],
  ])("is not used if the whole file requires reading %s", async (_, more, env) => {
    const { ahead, readings, io } = setUp(env);
    ahead.start(head("MC1"));
    const state = { ...desired(), ...more };
    expect(ahead.claim(state, resolveConnection(state, undefined, io.env), [])).toBeNull();
    ahead.cancel();
    expect(await readings[0]?.roleIds).toMatch(/cancelled/);
  });

  test("is cancelled if nobody claims it", async () => {
    const { ahead, readings } = setUp();
    ahead.start(head("MC1"));
    ahead.cancel();
    expect(await readings[0]?.roleIds).toMatch(/cancelled/);
  });

  test("is bounded by members until some are claimed, but one merchant may always be read", async () => {
    const { ahead, readings, io } = setUp(ENV, 100);
    const started = () => readings.map(({ merchant }) => merchant);
    ahead.start(head("MC1", { members: 5_000 }));
    ahead.start(head("MC2"));
    expect(started()).toEqual(["MC1"]);
    const state = desired();
    await ahead.claim(state, resolveConnection(state, undefined, io.env), []);
    for (const code of ["MC2", "MC3", "MC4", "MC5"]) ahead.start(head(code));
    expect(started()).toEqual(["MC1", "MC2", "MC3"]);
    ahead.cancel(new Set(["MC3"]));
    expect(await readings[1]?.roleIds).toMatch(/cancelled/);
    ahead.start(head("MC6"));
    expect(started()).toEqual(["MC1", "MC2", "MC3", "MC6"]);
  });

  test("does not start for merchants that are not selected, or without a key or a base URL", () => {
    const wanted = setUp();
    wanted.ahead.start(head("MC9"));
    const keyless = setUp({ ROLECALL_BASE_URL: "https://api.example.com" });
    keyless.ahead.start(head("MC1"));
    const nowhere = setUp({ ROLECALL_API_KEY: "sk_test_1" });
    nowhere.ahead.start(head("MC1"));
    const otherKind = setUp();
    otherKind.ahead.start(head("MC1", { environment: "live" }));
    expect([wanted, keyless, nowhere, otherKind].flatMap(({ readings }) => readings)).toEqual([]);
  });

  test("does not start at a URL that would send the key unencrypted", async () => {
    const { io } = testIo({ env: { ...ENV, ROLECALL_BASE_URL: "http://api.example.com" } });
    const options = { concurrency: 1, retryFor: 1, emit: () => undefined };
    const services = await openServices(options, io);
    const ahead = startPrefetch(services, { isWanted: () => true, most: 100 }, io);
    ahead.start(head("MC1"));
    const state = desired();
    expect(ahead.claim(state, resolveConnection(state, undefined, io.env), [])).toBeNull();
  });
});
