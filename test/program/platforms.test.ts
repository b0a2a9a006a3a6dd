import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rolecall, startSandbox } from "../support/program.ts";
import type { RunningSandbox } from "../support/rolecall.ts";

let sandbox: RunningSandbox;
let cwd = "";

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-platforms-"));
  await mkdir(join(cwd, "access"));
  sandbox = await startSandbox();
});

afterEach(async () => {
  await sandbox.stop();
  await rm(cwd, { recursive: true });
});

const writeFileOf = (members: string): Promise<void> =>
  writeFile(
    join(cwd, "access/shop.yaml"),
    `version: 1\nmerchant: MC0DEMO1\nsync: { members: additive }\nroles:\n  - { name: Iı, permissions: [catalog_view] }\n  - { name: ıI, permissions: [refunds_create] }\n  - { name: Zoë, permissions: [refunds_create] }\nmembers:\n${members}`,
  );

/** Where a day begins first and last, half an hour off, with a change of the clock on an end date, and Turkish letters. */
const PLACES = [
  { TZ: "UTC", LC_ALL: "C" },
  { TZ: "Pacific/Kiritimati", LANG: "tr_TR.UTF-8" },
  { TZ: "Pacific/Pago_Pago", LC_ALL: "tr_TR.UTF-8" },
  { TZ: "America/St_Johns", LANG: "C", LC_ALL: "" },
];

test("end dates, and the order of names, are the same in every time zone and language", async () => {
  await writeFileOf(
    [
      "  - { email: ILK@example.com, roles: [{ role: Iı, until: 2027-03-28 }] }",
      "  - { email: ılk@example.com, roles: [{ role: ıI, until: 2027-03-14T02:30:00-05:00 }] }",
      "  - { email: zoë@example.com, roles: [{ role: Zoë, until: 2027-10-31 }] }",
      "  - { email: ada@example.com, roles: [role_employee], until: 2027-03-28 }",
      "",
    ].join("\n"),
  );
  const commands = [
    ["who", "can", "refunds_create"],
    ["plan", "--format", "json", "--as-of", "2027-03-28T23:59:59Z"],
    ["plan", "--as-of", "2027-03-29"],
    ["plan", "--as-of", "2027-11-01"],
  ];
  const outputs = await Promise.all(
    PLACES.map(async (place) => {
      const env = { ...sandbox.env, ...place };
      const ended = await Promise.all(commands.map((command) => rolecall(command, { cwd, env })));
      return ended.map(({ code, stdout }) => `${code} ${stdout}`);
    }),
  );
  const [first = [], ...others] = outputs;
  expect(first.map((text) => text.slice(0, 2))).toEqual(["0 ", "0 ", "0 ", "0 "]);
  // Each passed end takes a grant away: the outputs do differ by date.
  expect(new Set(first).size).toBe(commands.length);
  for (const other of others) expect(other).toEqual(first);
});

describe.each(["000", "022", "077"])("with umask %s", (umask) => {
  test("saved plans, reports and journals are for their owner only", async () => {
    await writeFileOf("  - { email: bob@example.com, roles: [role_employee] }\n");
    const script = `umask ${umask}; exec "$0" "$@"`;
    for (const args of [
      ["plan", "--out", "plan.json"],
      ["report", "--output", "report.html"],
      ["apply", "--yes"],
    ]) {
      const all = ["-c", script, process.execPath, resolve("dist/bin.js"), ...args];
      await promisify(execFile)("sh", all, { cwd, env: { PATH: process.env["PATH"], ...sandbox.env } });
    }
    const runs = join(cwd, ".rolecall/runs");
    const [journal = ""] = await readdir(runs);
    const modes = await Promise.all(
      [join(cwd, "plan.json"), join(cwd, "report.html"), join(runs, journal), runs].map(async (path) =>
        ((await stat(path)).mode & 0o777).toString(8),
      ),
    );
    expect(modes).toEqual(["600", "600", "600", "700"]);
  });
});

test("without a home, and where the cache cannot be written, everything works, and nothing else is written", async () => {
  await writeFileOf("  - { email: bob@example.com, roles: [role_employee] }\n");
  const none = { HOME: join(cwd, "none"), XDG_CACHE_HOME: join(cwd, "access/shop.yaml") };
  for (const home of [none, { HOME: "" }, { HOME: "/dev/null", XDG_CACHE_HOME: "/dev/null/cache" }]) {
    const env = { ...sandbox.env, ...home, NODE_DISABLE_COMPILE_CACHE: "" };
    const { code, stderr } = await rolecall(["plan"], { cwd, env });
    expect([code, stderr]).toEqual([0, ""]);
  }
  expect((await readdir(cwd)).sort()).toEqual(["access"]);
});
