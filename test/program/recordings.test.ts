import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { onTerminal, type TerminalSession } from "../support/pty.ts";
import { openShop, type Shop } from "../support/shop.ts";

const CROWD = Array.from({ length: 60 }, (_, index) => `crew-${10 + index}@example.com`);

const SEED = `merchants:
  - code: MC4F7K2P
    sandbox: false
    roles:
      - { name: Cashier, permissions: [catalog_view, checkouts_create] }
      - { name: Old Desk, permissions: [customers_view] }
    members:
      - { email: ada@example.com, roles: [role_owner] }
      - { email: bob@example.com, roles: [Cashier] }
      - { email: karim@example.com, roles: [Cashier, Old Desk] }
${CROWD.map((email) => `      - { email: ${email}, roles: [Cashier] }`).join("\n")}
keys:
  - { key: sk_live_demo, owner: ada@example.com }
`;

const FILE = `version: 1
merchant: MC4F7K2P
environment: live
roles:
  - { name: Cashier, permissions: [catalog_view, checkouts_create, rebates_create] }
  - { name: Shift Lead, permissions: [payouts_view, rebates_create] }
members:
  - { email: ada@example.com, roles: [role_owner] }
  - { email: bob@example.com, roles: [Cashier, Shift Lead] }
  - { email: "נועה@example.com", roles: [Shift Lead] }
${CROWD.map((email) => `  - { email: ${email}, roles: [Cashier] }`).join("\n")}
`;

let shop: Shop;
const sessions: TerminalSession[] = [];

/** Ends the latency of the service's responses. */
let respond: () => void = () => undefined;

beforeAll(async () => {
  shop = await openShop(SEED, {
    sleep: () =>
      new Promise((done) => {
        respond = done;
      }),
  });
  await mkdir(join(shop.folder, "access"));
  await shop.write("access/shop.yaml", FILE);
});

beforeEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()));
  await shop.control("POST", "/reset");
  await shop.control("DELETE", "/faults");
  // What an earlier session was ended in the middle of is none of this one's business.
  await rm(join(shop.folder, ".rolecall"), { recursive: true, force: true });
});

afterAll(async () => {
  await Promise.all(sessions.map((session) => session.close()));
  await shop.stop();
});

/** Runs the program on a terminal of its own; that CI is set makes no difference there. */
async function record(
  args: readonly string[],
  {
    columns = 80,
    rows = 60,
    env = {},
  }: { columns?: number; rows?: number; env?: Record<string, string> } = {},
): Promise<TerminalSession> {
  const session = await onTerminal([...args, "--concurrency", "1"], {
    cwd: shop.folder,
    env: { ...shop.sandbox.env, ROLECALL_API_KEY: "sk_live_demo", CI: "true", ...env },
    columns,
    rows,
  });
  sessions.push(session);
  return session;
}

/** A screen without what differs from run to run: the port, numbers of requests, times and rates. */
function steady(screen: string): string {
  return (
    screen
      .replaceAll(/(?<=http:\/\/127\.0\.0\.1:)\d+/g, "4010")
      .replaceAll(/(?<=requests\/)\d+/g, "11")
      .replaceAll(/(?<=\.rolecall\/runs\/)\S+?(?=-MC)/g, "2026-11-21T13-05-00-000Z")
      .replaceAll(/(?<=rolecall undo )\S+/g, "2026-11-21T13-05-00-000Z")
      .replaceAll(/(?<=waiting )\d+ s/g, "60 s")
      .replaceAll(/^([◦▶✓].*?) {2,}(?:waits )?\d+(?:\.\d)? s$/gm, "$1  0.3 s")
      .replaceAll(/ {2,}(?:(?:~[\d:]+ left|waits \d+ s)(?: · )?)?(?:\d\d:\d\d)?$/gm, "  00:03")
      .replaceAll(/[\d.,]+(?= requests\/s|\/s)/g, "5")
      // The limit is learned with time, and beside it there is no room for the number of waits.
      .replaceAll(/ · limit \d+\/s/g, "")
      .replaceAll(/ · \d+ waits?$/gm, "")
  );
}

/** A screen that shows something and has so many lines, the keys on the last one. */
function filled(what: RegExp, count: number): (screen: string) => boolean {
  return (screen) => {
    const lines = screen.trimEnd().split("\n");
    return what.test(screen) && lines.length === count && lines.at(-1)?.includes("q quit") === true;
  };
}

function fault(...rules: readonly object[]): Promise<unknown> {
  return shop.control("PUT", "/faults", { rules });
}

const FEWER = { kind: "status", status: 429 };

describe.each([80, 200])("on a terminal of %i columns", (columns) => {
  const golden = (name: string): string => `recordings/${name}-${columns}.txt`;

  test("a plan is printed, and stays", async () => {
    const session = await record(["plan"], { columns });
    expect(await session.end()).toBe(0);
    await expect(steady(session.scrollback())).toMatchFileSnapshot(golden("plan"));
  });

  test("reading shows how far it is and what it waits for, and Ctrl-C leaves nothing of the board but how far it came", async () => {
    await fault({ ...FEWER, operation: "members.list", nth: 2, wait: 60 });
    const session = await record(["plan"], { columns });
    await expect(steady(await session.see(/waiting \d+ s/))).toMatchFileSnapshot(golden("reading"));
    session.type("\u0003");
    await session.end();
    // The terminal itself echoes the key.
    expect(session.scrollback().replace("^C", "").trim()).toBe(
      "Interrupted: 0 of 1 merchant was read. Nothing was changed.",
    );
  });

  test("an apply asks for the merchant code, and a wrong answer changes nothing", async () => {
    const session = await record(["apply"], { columns });
    await session.see("Type MC4F7K2P to continue");
    await expect(steady(session.scrollback())).toMatchFileSnapshot(golden("prompt"));
    session.type("yes\r");
    expect(await session.end()).toBe(1);
    expect(session.scrollback()).toMatch(/Not confirmed\.\nNothing was changed\.\n$/);
    expect(await shop.writes()).toEqual([]);
  });

  test("an apply shows its board, the wait of a 429, and stops at Ctrl-C when what is under way is over", async () => {
    // The first update of a member only asks for the permission.
    await fault(
      { kind: "latency", operation: "roles.create", nth: 1, ms: 1000 },
      { ...FEWER, operation: "members.update", nth: 2, wait: 60 },
    );
    const session = await record(["apply"], { columns, rows: 24 });
    await session.see("Type MC4F7K2P to continue");
    session.type("MC4F7K2P\r");
    // The lines of what is done before there is a board are above it, and those of what is done then below.
    await session.see("Applying 6 changes");
    respond();
    const board = await session.see(
      (screen) => /waiting \d+ s/.test(screen) && /role Shift Lead created\n$/.test(screen),
    );
    await expect(steady(board)).toMatchFileSnapshot(golden("apply-429"));
    session.type("\u0003");
    await session.see("SIGINT");
  });

  test("after an apply the board is gone, and what was done stays", async () => {
    await fault({ ...FEWER, operation: "members.update", nth: 2, wait: 1 });
    const session = await record(["apply"], { columns });
    await session.see("Type MC4F7K2P to continue");
    session.type("MC4F7K2P\r");
    expect(await session.end()).toBe(0);
    await expect(steady(session.scrollback())).toMatchFileSnapshot(golden("applied"));
  });

  test("an apply that stops says what was done, what was not, and what to do next", async () => {
    await fault({
      kind: "status",
      status: 409,
      operation: "members.update",
      nth: 2,
      detail: "Somebody was faster.",
    });
    const session = await record(["apply"], { columns });
    await session.see("Type MC4F7K2P to continue");
    session.type("MC4F7K2P\r");
    expect(await session.end()).toBe(4);
    const all = session.scrollback();
    await expect(steady(all.slice(all.indexOf("Type MC4F7K2P")))).toMatchFileSnapshot(golden("stopped"));
  });

  test("apply --interactive browses, leaves a change out, and applies the rest", async () => {
    const session = await record(["apply", "--interactive"], { columns, rows: 30 });
    const first = await session.see("q quit");
    session.type("/shift");
    await session.see("/shift▏");
    session.type("\r");
    await session.see(/1\/\d+ "shift"/);
    await session.see(/❯ .*Shift Lead/);
    session.type(" ");
    await session.see("3 selected");
    session.type("\u001b");
    const chosen = await session.see(/3 selected +\d+\/\d+\n[\s\S]*q quit/);
    session.type("?");
    const help = await session.see("any other key returns");
    await expect([first, chosen, help].map(steady).join(`${"=".repeat(columns)}\n`)).toMatchFileSnapshot(
      golden("interactive"),
    );
    session.type("x");
    await session.see("q quit");
    session.type("a");
    await session.see("Type MC4F7K2P to continue");
    session.type("MC4F7K2P\r");
    expect(await session.end()).toBe(0);
    await expect(steady(session.scrollback())).toMatchFileSnapshot(golden("selected"));
    expect((await shop.writes()).filter((write) => write.startsWith("POST"))).toEqual([]);
  });
});

test("plan --interactive leaves the plan behind, as it would be printed without", async () => {
  const plain = await record(["plan"]);
  await plain.end();
  const session = await record(["plan", "--interactive"]);
  await session.see("q quit");
  session.type("q");
  expect(await session.end()).toBe(0);
  expect(session.scrollback()).toBe(plain.scrollback());
});

test("a terminal that is made smaller and larger while somebody browses is filled anew", async () => {
  const session = await record(["plan", "--interactive"], { columns: 120, rows: 40 });
  await session.see("q quit");
  await session.resize(60, 20);
  session.type("j");
  await session.see(filled(/^❯ {3}\[?.*role Cashier/m, 19));
  await session.resize(100, 30);
  session.type("j");
  const large = await session.see(filled(/^❯ .*role Old Desk/m, 29));
  expect(large.match(/q quit/g)).toHaveLength(1);
});

test("e opens the file at the line in the editor, and the browser comes back as it was", async () => {
  const editor = join(shop.folder, "vi");
  await shop.write(
    "vi",
    `#!/bin/sh\necho "Which?"\nread key\n[ $key = no ] || echo "# $key" >> "$2"\necho "$key $@" > '${shop.folder}/opened.txt'\n`,
  );
  await chmod(editor, 0o755);
  const session = await record(["apply", "--interactive"], { env: { EDITOR: editor } });
  await session.see("q quit");
  session.type("jjj");
  await session.see(/❯ .*Shift Lead/);
  session.type(" ");
  await session.see("3 selected");
  session.type("e");
  await session.see("Which?");
  session.type("no\r");
  await session.see("q quit");
  expect(await session.see("3 selected")).not.toMatch(/edited since|before the edit/);
  session.type("e");
  await session.see(/Which\?[\s\S]*Which\?/);
  session.type("yes\r");
  const screen = await session.see(/edited since[\s\S]*before the edit/);
  expect(screen).toMatch(/3 selected[\s\S]*❯ .*\[ \] \+ role Shift Lead/);
  expect(await readFile(join(shop.folder, "opened.txt"), "utf8")).toBe(
    `yes +6 ${join(shop.folder, "access", "shop.yaml")}\n`,
  );
  session.type("q");
  expect(await session.end()).toBe(1);
  // What the editor wrote stays: it has the screen from before.
  expect(session.scrollback()).toBe("Which?\nno\nWhich?\nyes\nNothing was changed.\n");
});

test("Ctrl-C leaves the browser, and the terminal is as it was", async () => {
  const session = await record(["apply", "--interactive"]);
  await session.see("q quit");
  session.type("\u0003");
  expect(await session.end()).toBe(1);
  expect(session.scrollback()).toBe("Nothing was changed.\n");
});

test("SIGTERM leaves the browser, and its last words stay on the screen from before", async () => {
  const session = await record(["apply", "--interactive"]);
  await session.see("q quit");
  await session.signal("TERM");
  expect(await session.end()).toBe(1);
  expect(session.scrollback()).toBe("Interrupted. Nothing was changed.\n");
});

test("the question keeps the history of a window that is lower than it, and of one that is made smaller", async () => {
  const session = await record(["apply"], { columns: 80, rows: 12 });
  await session.see("cancels:");
  const before = session.scrollback();
  await session.resize(80, 4);
  await session.resize(60, 4);
  session.type("y");
  await session.see("cancels: y");
  const after = session.scrollback();
  expect(after.replaceAll(/\s/g, "")).toBe(`${before.replaceAll(/\s/g, "")}y`);
});

test("Ctrl-C at the question ends its line, and says once that nothing was changed", async () => {
  const session = await record(["apply"]);
  await session.see("cancels:");
  session.type("\u0003");
  expect(await session.end()).toBe(1);
  expect(session.scrollback()).toMatch(/cancels: \^C\nInterrupted. Nothing was changed.\n$/);
});

test("NO_COLOR takes the colours away and nothing else", async () => {
  const colours = /\p{Cc}\[(?:\d+;)*(?:3[0-7]|9[0-7])m/u;
  const session = await record(["plan", "--interactive"], { env: { NO_COLOR: "1" } });
  const screen = await session.see("q quit");
  expect(session.written()).not.toMatch(colours);
  const colourful = await record(["plan", "--interactive"]);
  expect(await colourful.see("q quit")).toBe(screen);
  expect(colourful.written()).toMatch(colours);
});

test("a dumb terminal gets plain lines and is asked, but cannot be browsed on", async () => {
  const env = { TERM: "dumb" };
  const browsing = await record(["plan", "--interactive"], { env });
  expect(await browsing.end()).toBe(1);
  expect(browsing.screen()).toContain("--interactive cannot draw on this terminal (TERM=dumb).");
  const session = await record(["apply"], { env });
  await session.see("Type MC4F7K2P to continue");
  session.type("MC4F7K2P\r");
  expect(await session.end()).toBe(0);
  expect(session.written()).not.toContain("\u001b");
});
