import { describe, expect, test } from "vitest";
import { INVITATION_MS } from "../../../src/sandbox/routes/member-operations.ts";
import { kindOf, MEMBERS, START, start } from "../support.ts";

const BOB = { email: "Bob@x.example", roles: ["role_employee"] };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("creating a member", () => {
  test("invites it for seven days and answers 201", async () => {
    const { call } = start();
    const got = await call("POST", MEMBERS, { body: { ...BOB, metadata: { employee_id: "7" } } });
    expect(got.status).toBe(201);
    const now = new Date(START).toISOString();
    expect(got.body).toEqual({
      id: expect.stringMatching(/^mem_[A-Za-z0-9]+$/),
      roles: ["role_employee"],
      permissions: [],
      status: "pending",
      invite: { email: "Bob@x.example", expires_at: new Date(START + INVITATION_MS).toISOString() },
      metadata: { employee_id: "7" },
      created_at: now,
      updated_at: now,
    });
    expect((await call("GET", `${MEMBERS}/${got.body.id}`)).body).toEqual(got.body);
  });

  test("that the merchant manages is accepted at once, and never returns its password", async () => {
    const { call } = start();
    const body = { ...BOB, is_managed_user: true, password: "correct horse", nickname: "Till 7" };
    const got = await call("POST", MEMBERS, { body });
    expect(got.status).toBe(201);
    expect(got.body.status).toBe("accepted");
    expect(got.body).not.toHaveProperty("invite");
    expect(got.body.user).toEqual({
      id: expect.stringMatching(UUID),
      email: "Bob@x.example",
      mfa_on_login_enabled: false,
      type: "managed_user",
      virtual_user: true,
      service_account_user: false,
      nickname: "Till 7",
      classic: { user_id: expect.any(Number) },
    });
    expect(got.text).not.toContain("correct horse");
  });

  test("ignores password and nickname of a user that is not managed", async () => {
    const got = await start().call("POST", MEMBERS, {
      body: { ...BOB, password: "12345678", nickname: "B" },
    });
    expect(got.status).toBe(201);
    expect(got.text).not.toContain("nickname");
  });

  test("keeps each role once", async () => {
    const body = { ...BOB, roles: ["role_admin", "role_employee", "role_admin"] };
    const got = await start().call("POST", MEMBERS, { body });
    expect(got.body.roles).toEqual(["role_admin", "role_employee"]);
  });

  test.each(["pending", "accepted", "disabled", "unknown"])(
    "is a 409 beside one that is %s, whatever the case of its address",
    async (status) => {
      const { call } = start();
      const { body } = await call("POST", MEMBERS, { body: BOB });
      await call("PUT", `/_sandbox/merchants/MC0DEMO1/members/${body.id}/status`, { body: { status } });
      const again = await call("POST", MEMBERS, { body: { ...BOB, email: "bOB@X.example" } });
      expect([again.status, kindOf(again)]).toEqual([409, "conflict"]);
      expect(again.body.detail).toContain(body.id);
    },
  );

  test("beside an expired invitation gives a second membership", async () => {
    const { call, clock } = start();
    const { body: first } = await call("POST", MEMBERS, { body: BOB });
    clock.now += INVITATION_MS;
    const second = await call("POST", MEMBERS, { body: BOB });
    expect(second.status).toBe(201);
    const { body } = await call("GET", `${MEMBERS}?email=bob@x.example`);
    expect(body.items.map((one: { id: string; status: string }) => [one.id, one.status])).toEqual([
      [first.id, "expired"],
      [second.body.id, "pending"],
    ]);
    expect((await call("POST", MEMBERS, { body: BOB })).status).toBe(409);
  });

  test.each([
    ["conflict", 409, [["first", "expired"]]],
    ["replace", 201, [["second", "pending"]]],
    ["renew", 201, [["first", "pending"]]],
  ])("beside an expired invitation may get another response: %s", async (answer, status, expected) => {
    const { call, clock } = start();
    const { body: first } = await call("POST", MEMBERS, { body: BOB });
    clock.now += INVITATION_MS;
    const rules = [{ kind: "expired-invitation", answer }];
    await call("PUT", "/_sandbox/faults", { body: { rules } });
    const second = await call("POST", MEMBERS, { body: { ...BOB, roles: [], metadata: { again: true } } });
    expect(second.status).toBe(status);
    const { body } = await call("GET", `${MEMBERS}?email=bob@x.example`);
    expect(
      body.items.map((one: { id: string; status: string }) => [
        one.id === first.id ? "first" : "second",
        one.status,
      ]),
    ).toEqual(expected);
    if (status === 201) expect(body.items[0]).toMatchObject({ roles: [], metadata: { again: true } });
    if (answer === "conflict") {
      expect(second.body.detail).toContain(first.id);
      await call("DELETE", `${MEMBERS}/${first.id}`);
    }
    expect((await call("POST", MEMBERS, { body: BOB })).status).toBe(answer === "conflict" ? 201 : 409);
  });

  test("with a role that does not exist is a 422 that names it", async () => {
    const got = await start().call("POST", MEMBERS, {
      body: { ...BOB, roles: ["role_employee", "role_no"] },
    });
    expect([got.status, kindOf(got)]).toEqual([422, "unprocessable-entity"]);
    expect(got.body.detail).toContain("role_no");
  });

  test("that is managed needs a password: 422", async () => {
    const got = await start().call("POST", MEMBERS, { body: { ...BOB, is_managed_user: true } });
    expect(got.status).toBe(422);
  });

  test("with attributes is a 403: only the service's own applications set them", async () => {
    const got = await start().call("POST", MEMBERS, { body: { ...BOB, attributes: {} } });
    expect(got.status).toBe(403);
    expect(got.body.detail).toContain("attributes");
  });

  test.each([
    ["no email", { roles: [] }, "email"],
    ["an email without a domain", { ...BOB, email: "bob@" }, "email"],
    ["an email with a space", { ...BOB, email: "bob smith@x.example" }, "email"],
    ["an email with a control character", { ...BOB, email: "bob\u0007@x.example" }, "email"],
    ["no roles", { email: "bob@x.example" }, "roles"],
    ["roles that are a string", { ...BOB, roles: "role_admin" }, "roles"],
    ["a password of 7 characters", { ...BOB, is_managed_user: true, password: "1234567" }, "password"],
    ["metadata that is a string", { ...BOB, metadata: "x" }, "metadata"],
    ["a field that does not exist", { ...BOB, role: "x" }, "role"],
  ])("with %s is a 400 that says so", async (_what, body, named) => {
    const { call } = start();
    const got = await call("POST", MEMBERS, { body });
    expect([got.status, kindOf(got)]).toEqual([400, "bad-request"]);
    expect(got.body.detail).toContain(named);
    expect((await call("GET", MEMBERS)).body.total_count).toBe(1);
  });
});

describe("updating a member", () => {
  test("changes what is sent, leaves the rest, and moves updated_at", async () => {
    const { call, clock } = start();
    const { body: before } = await call("POST", MEMBERS, { body: { ...BOB, metadata: { a: 1, b: 2 } } });
    clock.now += 1000;
    const roles = await call("PUT", `${MEMBERS}/${before.id}`, { body: { roles: ["role_admin"] } });
    expect(roles.status).toBe(200);
    const updated_at = new Date(clock.now).toISOString();
    expect(roles.body).toEqual({ ...before, roles: ["role_admin"], updated_at });
    const metadata = await call("PUT", `${MEMBERS}/${before.id}`, { body: { metadata: { c: 3 } } });
    expect(metadata.body).toMatchObject({ roles: ["role_admin"], metadata: { c: 3 } });
    expect(metadata.body.metadata).not.toHaveProperty("a");
    expect(metadata.body.updated_at > updated_at).toBe(true);
  });

  test("changes nickname and password of a managed user", async () => {
    const { call } = start();
    const managed = { ...BOB, is_managed_user: true, password: "12345678", nickname: "Till 7" };
    const { body } = await call("POST", MEMBERS, { body: managed });
    const path = `${MEMBERS}/${body.id}`;
    const got = await call("PUT", path, { body: { user: { nickname: "Till 8", password: "abcdefgh" } } });
    expect(got.body.user.nickname).toBe("Till 8");
    const kept = await call("PUT", path, { body: { user: { password: "abcdefgh-2" } } });
    expect(kept.body.user.nickname).toBe("Till 8");
    expect((await call("PUT", path, { body: { user: { password: "short" } } })).status).toBe(400);
    expect((await call("PUT", path, { body: { user: { email: "x@x.example" } } })).status).toBe(400);
  });

  test("enables a disabled managed user with a new password", async () => {
    const { call } = start();
    const { body } = await call("POST", MEMBERS, {
      body: { ...BOB, is_managed_user: true, password: "12345678" },
    });
    const path = `${MEMBERS}/${body.id}`;
    const disabled = await call("POST", `/_sandbox/merchants/MC0DEMO1/members/${body.id}/disable`);
    expect(disabled.body).toMatchObject({ status: "disabled", user: { disabled_at: expect.any(String) } });
    const renamed = await call("PUT", path, { body: { user: { nickname: "Till 7" } } });
    expect(renamed.body).toMatchObject({ status: "disabled", user: { disabled_at: expect.any(String) } });
    const enabled = await call("PUT", path, { body: { user: { password: "abcdefgh" } } });
    expect(enabled.body.status).toBe("accepted");
    expect(enabled.body.user).not.toHaveProperty("disabled_at");
  });

  test("counts the characters of a password, not its UTF-16 code units", async () => {
    const { call } = start();
    const managed = (password: string) => ({ ...BOB, is_managed_user: true, password });
    expect((await call("POST", MEMBERS, { body: managed("🔑".repeat(7)) })).status).toBe(400);
    expect((await call("POST", MEMBERS, { body: managed("🔑".repeat(8)) })).status).toBe(201);
  });

  test("refuses a password that was used before, and only for the same user: 403", async () => {
    const { call } = start();
    const managed = (email: string) => ({ email, roles: [], is_managed_user: true, password: "password-1" });
    const { body: till } = await call("POST", MEMBERS, { body: managed("till-1@x.example") });
    expect((await call("POST", MEMBERS, { body: managed("till-2@x.example") })).status).toBe(201);
    const set = async (password: string) =>
      (await call("PUT", `${MEMBERS}/${till.id}`, { body: { user: { password } } })).status;
    expect([await set("password-1"), await set("password-2"), await set("password-2")]).toEqual([
      403, 200, 403,
    ]);
    expect(await set("password-1")).toBe(403);
    expect((await call("PUT", `${MEMBERS}/${till.id}`, { body: { user: { nickname: "T" } } })).status).toBe(
      200,
    );
  });

  test("refuses user data of somebody who is only invited: 400", async () => {
    const { call } = start();
    const { body: bob } = await call("POST", MEMBERS, { body: BOB });
    const got = await call("PUT", `${MEMBERS}/${bob.id}`, { body: { user: { nickname: "Bob" } } });
    expect([got.status, kindOf(got)]).toEqual([400, "bad-request"]);
  });

  test("refuses user data of somebody who is not managed: 422", async () => {
    const { call } = start();
    const { body } = await call("GET", MEMBERS);
    const got = await call("PUT", `${MEMBERS}/${body.items[0].id}`, { body: { user: { nickname: "B" } } });
    expect(got.status).toBe(422);
  });

  test("refuses unknown roles (422), attributes (403) and unknown members (404)", async () => {
    const { call } = start();
    const { body } = await call("POST", MEMBERS, { body: BOB });
    const path = `${MEMBERS}/${body.id}`;
    expect((await call("PUT", path, { body: { roles: ["role_no"] } })).status).toBe(422);
    expect((await call("PUT", path, { body: { attributes: {} } })).status).toBe(403);
    expect((await call("PUT", path, { body: { email: "new@x.example" } })).status).toBe(400);
    expect((await call("PUT", `${MEMBERS}/mem_none`, { body: {} })).status).toBe(404);
    expect((await call("GET", path)).body).toEqual(body);
  });
});

describe("deleting a member", () => {
  test("answers 200 with an empty body and frees the address", async () => {
    const { call } = start();
    const { body } = await call("POST", MEMBERS, { body: BOB });
    const got = await call("DELETE", `${MEMBERS}/${body.id}`);
    expect([got.status, got.text]).toEqual([200, ""]);
    expect((await call("GET", `${MEMBERS}/${body.id}`)).status).toBe(404);
    expect((await call("DELETE", `${MEMBERS}/${body.id}`)).status).toBe(404);
    const again = await call("POST", MEMBERS, { body: BOB });
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(body.id);
  });

  test("refuses the last owner who has accepted: 403", async () => {
    const { call } = start();
    const { body } = await call("GET", MEMBERS);
    const owner = `${MEMBERS}/${body.items[0].id}`;
    const { body: bob } = await call("POST", MEMBERS, { body: { ...BOB, roles: ["role_owner"] } });
    expect((await call("DELETE", owner)).status).toBe(403);
    await call("POST", `/_sandbox/merchants/MC0DEMO1/members/${bob.id}/accept`, { key: null });
    expect((await call("DELETE", owner)).status).toBe(200);
  });

  test("takes it out of the list and leaves the others in their order", async () => {
    const { call } = start();
    const ids: string[] = [];
    for (const name of ["a", "b", "c"]) {
      ids.push((await call("POST", MEMBERS, { body: { email: `${name}@x.example`, roles: [] } })).body.id);
    }
    await call("DELETE", `${MEMBERS}/${ids[1]}`);
    const { body } = await call("GET", `${MEMBERS}?email=`);
    expect(body.items.slice(1).map((one: { id: string }) => one.id)).toEqual([ids[0], ids[2]]);
    expect(body.total_count).toBe(3);
  });
});
