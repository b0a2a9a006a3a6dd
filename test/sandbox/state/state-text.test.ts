import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseState, StateInvalid } from "../../../src/sandbox/state/persistence.ts";
import { runs } from "../../support/property-runs.ts";
import { type Harness, MEMBERS, type MemberBody, ROLES, start } from "../support.ts";

/** A disk that writes only when the test lets it. */
function slowDisk() {
  let waiting: (() => void) | null = null;
  const saves: string[] = [];
  return {
    saves,
    save: (text: string) =>
      new Promise<void>((resolve) => {
        waiting = () => {
          saves.push(text);
          resolve();
        };
      }),
    /** Lets the write that waits end; says whether there was one. */
    write: (): boolean => {
      const ready = waiting;
      waiting = null;
      ready?.();
      return ready !== null;
    },
  };
}

/** Lets everything happen that needs no time. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function everything({ call }: Harness): Promise<string> {
  const paths = [ROLES, `${MEMBERS}?limit=25`];
  const texts = await Promise.all(paths.map((path) => call("GET", `/_sandbox${path}`, { key: null })));
  const memberships = await call("GET", "/v0.1/memberships");
  return [...texts, memberships].map(({ text }) => text).join("\n");
}

/** The last owner cannot be removed. */
const TWO_MEMBERS = `
merchants:
  - code: MC0DEMO1
    members: [{ email: ada@example.com }, { email: owner@example.com, roles: [role_owner] }]
`;

describe("a saved state", () => {
  test("restores everything, and continues with new ids", async () => {
    let state = "";
    const save = async (text: string) => {
      state = text;
    };
    const first = start({ save });
    const role = await first.call("POST", ROLES, {
      body: {
        name: 'Ä \u2028 "x"',
        permissions: ["a"],
        description: "d",
        metadata: { a: [1, null, { b: "c" }] },
      },
    });
    const managed = {
      email: "t@x.example",
      roles: [role.body.id],
      is_managed_user: true,
      password: "secret-12",
    };
    await first.call("POST", MEMBERS, { body: { ...managed, nickname: "Till" } });
    const bob = await first.call("POST", MEMBERS, {
      body: { email: "b@x.example", roles: [], metadata: {} },
    });
    await first.call("POST", `/_sandbox/merchants/MC0DEMO1/members/${bob.body.id}/expire`, { key: null });
    await first.call("PUT", `${MEMBERS}/${bob.body.id}`, { body: { roles: ["role_admin"] } });
    expect(state).not.toContain("secret-12");
    const second = start({ state, seed: "merchants: [{ code: MC9 }]" });
    expect(await everything(second)).toBe(await everything(first));
    const next = { body: { name: "Next", permissions: [] } };
    const [one, two] = await Promise.all([first.call("POST", ROLES, next), second.call("POST", ROLES, next)]);
    expect(one.body.id).toBe(two.body.id);
    expect(one.body.id).not.toBe(role.body.id);
  });

  test("goes back to the seed on a reset, and is saved so", async () => {
    let state = "";
    const save = async (text: string) => {
      state = text;
    };
    const { call, sandbox } = start({ save });
    await sandbox.save();
    const before = state;
    await call("POST", ROLES, { body: { name: "A", permissions: [] } });
    expect(state).not.toBe(before);
    await call("POST", "/_sandbox/reset", { key: null });
    expect(state).toBe(before);
  });

  test.each([
    ["", "not valid JSON"],
    ['{"format":"rolecall-sandbox","ver', "not valid JSON"],
    ["[]", "the root"],
    ['{"format":"something else"}', "format"],
    ['{"format":"rolecall-sandbox","version":2,"counter":0,"keys":[],"accounts":[]}', "version"],
    ['{"format":"rolecall-sandbox","version":1,"counter":0,"keys":[],"accounts":[{}]}', "accounts.0"],
  ])("that reads %j is refused with a reason", (text, reason) => {
    expect(() => parseState(text)).toThrow(StateInvalid);
    expect(() => parseState(text)).toThrow(reason);
  });
});

describe("a write", () => {
  test("gets its response only when it is saved", async () => {
    const disk = slowDisk();
    const { call } = start({ save: disk.save });
    let answered = false;
    const write = call("POST", ROLES, { body: { name: "A", permissions: [] } }).then((got) => {
      answered = true;
      return got;
    });
    await settle();
    expect(answered).toBe(false);
    disk.write();
    expect((await write).status).toBe(201);
    expect(disk.saves).toHaveLength(1);
    expect(disk.saves[0]).toContain('"name":"A"');
  });

  test.each([
    ["PUT", `${MEMBERS}/ID`, { roles: [] }],
    ["DELETE", `${MEMBERS}/ID`, undefined],
    ["POST", "/_sandbox/merchants/MC0DEMO1/members/ID/disable", undefined],
    ["PUT", "/_sandbox/merchants/MC0DEMO1/members/ID/status", { status: "unknown" }],
  ])("by %s %s is saved too", async (method, path, body) => {
    const saves: string[] = [];
    const { call } = start({ seed: TWO_MEMBERS, save: async (text) => void saves.push(text) });
    const { items } = (await call("GET", MEMBERS)).body;
    expect(saves).toHaveLength(0);
    await call(method, path.replace("ID", items[0].id), body && { body });
    expect(saves).toHaveLength(1);
  });

  test("shares its save with all that come while another save runs", async () => {
    const disk = slowDisk();
    const { call } = start({ save: disk.save });
    const writes = Array.from({ length: 50 }, (_, i) =>
      call("POST", ROLES, { body: { name: `Role ${i}`, permissions: [] } }),
    );
    await settle();
    disk.write();
    await settle();
    disk.write();
    const got = await Promise.all(writes);
    expect(got.every(({ status }) => status === 201)).toBe(true);
    expect(disk.saves.length).toBeLessThanOrEqual(2);
  });

  test("that cannot be saved is a 500, and the next one is tried again", async () => {
    let broken = true;
    const save = async () => {
      if (broken) throw new Error("disk full");
    };
    const { call, lines } = start({ save });
    const failed = await call("POST", ROLES, { body: { name: "A", permissions: [] } });
    expect(failed.status).toBe(500);
    expect(failed.body.type).toBe("https://rolecall.invalid/problem/internal-error");
    expect(failed.text).not.toContain("disk full");
    expect(lines.join("\n")).toContain("disk full");
    broken = false;
    expect((await call("POST", ROLES, { body: { name: "B", permissions: [] } })).status).toBe(201);
  });

  test("that changes nothing waits until the earlier write is saved", async () => {
    const disk = slowDisk();
    const { call } = start({ seed: TWO_MEMBERS, save: disk.save });
    const { items } = (await call("GET", MEMBERS)).body;
    const ended: number[] = [];
    for (let i = 0; i < 2; i += 1) {
      void call("DELETE", `${MEMBERS}/${items[0].id}`).then(({ status }) => ended.push(status));
    }
    await settle();
    expect(ended).toEqual([]);
    while (disk.write()) await settle();
    expect(ended).toEqual([200, 404]);
  });

  test("that got a response is saved, whenever the process is killed", async () => {
    const steps = fc.array(fc.constantFrom("create", "delete", "disk"), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const run = await killable();
        for (const step of script) {
          run.step(step);
          await settle();
          // Here the process could be killed: what is on the disk has to hold every answer.
          const kept = await run.onDisk();
          for (const id of run.created) expect(kept.has(id) || run.asked.has(id)).toBe(true);
          for (const id of run.deleted) expect(kept.has(id)).toBe(false);
        }
      }),
      { numRuns: runs(30) },
    );
  });
});

/** A file in memory that takes whole states and lines behind them, and says how often each came. */
function memoryFile() {
  const file = { text: "", saves: 0, appends: 0, broken: false };
  return {
    file,
    save: async (text: string) => {
      file.saves += 1;
      file.text = text;
    },
    append: async (lines: string) => {
      if (file.broken) {
        file.text += lines.slice(0, lines.length / 2);
        throw new Error("disk full");
      }
      file.appends += 1;
      file.text += lines;
    },
  };
}

describe("a state file that changes are appended to", () => {
  test("restores everything after any requests, truncated anywhere, and continues with new ids", async () => {
    const step = fc.record({ what: fc.nat(9), which: fc.nat(9) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(200), async (steps, torn) => {
        const { file, ...disk } = memoryFile();
        const first = start({ ...disk });
        await first.sandbox.save();
        for (const { what, which } of steps) await anyRequest(first, what, which);
        const again = start({ state: file.text });
        expect(await everything(again)).toBe(await everything(first));
        const next = { body: { name: "Next", permissions: [] } };
        const [one, two] = await Promise.all([
          first.call("POST", ROLES, next),
          again.call("POST", ROLES, next),
        ]);
        expect(one.body.id).toBe(two.body.id);
        // A crash can cut the last line off: everything answered before it is there.
        const before = await everything(again);
        const kept = file.text;
        await first.call("POST", MEMBERS, { body: { email: "last@x.example", roles: [] } });
        const added = file.text.length - kept.length;
        const cut = file.text.slice(0, kept.length + (torn % added));
        const late = start({ state: cut });
        expect(await everything(late)).toBe(before);
      }),
      { numRuns: runs(40) },
    );
  });

  test("is written whole once, and then takes only what changes", async () => {
    const { file, ...disk } = memoryFile();
    const { call, sandbox } = start({ ...disk, generate: 2000 });
    await sandbox.save();
    const size = file.text.length;
    for (let i = 0; i < 20; i += 1) {
      await call("POST", ROLES, { body: { name: `Role ${i}`, permissions: [] } });
    }
    expect([file.saves, file.appends]).toEqual([1, 20]);
    expect(file.text.length - size).toBeLessThan(20 * 400);
    expect(file.text.split("\n").at(-2)).toMatch(/^\{"change":"merchant","of":"MC0DEMO1","role":/);
  });

  test("is folded when the changes have grown as big as the state, and at the end", async () => {
    const { file, ...disk } = memoryFile();
    const { call, sandbox } = start({ ...disk });
    const { items } = (await call("GET", MEMBERS)).body;
    const metadata = { note: "x".repeat(100_000) };
    for (let i = 0; i < 25; i += 1) {
      await call("PUT", `${MEMBERS}/${items[0].id}`, { body: { metadata: { ...metadata, i } } });
    }
    expect(file.saves).toBeGreaterThan(1);
    expect(file.text.length).toBeLessThan(1_500_000);
    await sandbox.save();
    expect(JSON.parse(file.text)).toMatchObject({ format: "rolecall-sandbox" });
  });

  test("is written whole where a line could not be added", async () => {
    const { file, ...disk } = memoryFile();
    const { call } = start({ ...disk });
    await call("POST", ROLES, { body: { name: "A", permissions: [] } });
    file.broken = true;
    expect((await call("POST", ROLES, { body: { name: "B", permissions: [] } })).status).toBe(201);
    expect(file.saves).toBe(2);
    const { items } = (await start({ state: file.text }).call("GET", ROLES)).body;
    expect(items).toMatchObject([{ name: "A" }, { name: "B" }]);
  });

  test("is refused when a line inside is damaged or does not fit", async () => {
    const { file, ...disk } = memoryFile();
    await start({ ...disk }).call("POST", ROLES, { body: { name: "A", permissions: [] } });
    expect(() => start({ state: `${file.text}{"change":"x"}\n` })).toThrow(/change \d+ is damaged/);
    const strange = '{"change":"merchant","of":"MC9","gone":"mem_1"}\n';
    expect(() => start({ state: `${file.text}${strange}` })).toThrow(/change \d+ does not fit/);
  });
});

/** One of all the ways to change something, which may be refused. */
async function anyRequest({ call }: Harness, what: number, which: number): Promise<void> {
  const one = async (path: string): Promise<string> => {
    const { items } = (await call("GET", `/_sandbox${path}`, { key: null })).body;
    return items.length === 0 ? "none" : items[which % items.length].id;
  };
  const control = { key: null };
  const members = "/_sandbox/merchants/MC0DEMO1/members";
  const requests: readonly (() => Promise<unknown>)[] = [
    () => call("POST", MEMBERS, { body: { email: `m${which}@x.example`, roles: [], metadata: { which } } }),
    () => call("POST", ROLES, { body: { name: `Role ${which}`, permissions: ["a"] } }),
    async () => call("PUT", `${MEMBERS}/${await one(MEMBERS)}`, { body: { roles: ["role_admin"] } }),
    async () => call("PATCH", `${ROLES}/${await one(ROLES)}`, { body: { description: `d${which}` } }),
    async () => call("DELETE", `${MEMBERS}/${await one(MEMBERS)}`),
    async () => call("DELETE", `${ROLES}/${await one(ROLES)}`),
    async () => call("POST", `${members}/${await one(MEMBERS)}/accept`, control),
    async () => call("POST", `${members}/${await one(MEMBERS)}/to-front`, control),
    async () =>
      call("PUT", `${members}/${await one(MEMBERS)}/status`, { ...control, body: { status: "disabled" } }),
    () => (which === 0 ? call("POST", "/_sandbox/reset", control) : Promise.resolve()),
  ];
  await requests[what]?.();
}

/** A sandbox on a slow disk, and what it has answered so far. */
async function killable() {
  const disk = slowDisk();
  const { call, sandbox } = start({ save: disk.save });
  void sandbox.save();
  disk.write();
  const created = new Set<string>();
  const deleted = new Set<string>();
  /** Deletes that were sent: from then on the member may be there or not. */
  const asked = new Set<string>();
  let next = 0;
  const create = async () => {
    next += 1;
    const got = await call("POST", MEMBERS, { body: { email: `m${next}@x.example`, roles: [] } });
    created.add(got.body.id);
  };
  const remove = async () => {
    const id = [...created].find((one) => !deleted.has(one));
    if (id === undefined) return;
    asked.add(id);
    await call("DELETE", `${MEMBERS}/${id}`);
    deleted.add(id);
  };
  const steps = { create, delete: remove, disk: async () => void disk.write() };
  return {
    created,
    deleted,
    asked,
    step: (name: keyof typeof steps) => void steps[name](),
    onDisk: async () => {
      const after = start({ state: disk.saves.at(-1) ?? "" });
      const { items } = (await after.call("GET", `${MEMBERS}?limit=25&email=m`)).body;
      return new Set<string>(items.map((one: MemberBody) => one.id));
    },
  };
}
