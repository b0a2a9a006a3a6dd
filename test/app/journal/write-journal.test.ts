import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Appendable,
  appendTo,
  fileJournals,
  jobAddress,
} from "../../../src/app/journal/write-journal.ts";
import type { JournalEntry } from "../../../src/model/apply.ts";
import { parseJournal } from "../../../src/runs/journal-file.ts";
import { testIo } from "../../support/io.ts";
import { richPlan } from "../../support/rich-plan.ts";

const NOW = Date.parse("2026-11-21T13:05:00.123Z");
const LEFT: JournalEntry = { type: "verified", left: ["delete role Cashier"], deferred: [] };

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "rolecall-journal-"));
});

afterEach(async () => {
  await chmod(cwd, 0o700);
  await rm(cwd, { recursive: true });
});

function journals(env: Readonly<Record<string, string>> = {}) {
  const { io } = testIo({ cwd, env, now: () => NOW });
  return fileJournals(io);
}

describe("a run's journal", () => {
  test("is a file named by time and merchant, readable by its owner only, and never committed", async () => {
    const journal = await journals()(richPlan());
    await journal.close();
    expect(journal.file).toBe(join(".rolecall", "runs", "2026-11-21T13-05-00-123Z-MC1.jsonl"));
    expect((await stat(join(cwd, journal.file))).mode & 0o777).toBe(0o600);
    expect((await stat(join(cwd, ".rolecall", "runs"))).mode & 0o777).toBe(0o700);
    expect(await readFile(join(cwd, ".rolecall", ".gitignore"), "utf8")).toBe("*\n");
  });

  test("is one of its own for each of many that start in the same millisecond", async () => {
    const open = journals();
    const opened = await Promise.all(Array.from({ length: 20 }, () => open(richPlan())));
    await Promise.all(opened.map((journal) => journal.close()));
    expect(new Set(opened.map(({ file }) => file)).size).toBe(20);
    expect(await readdir(join(cwd, ".rolecall", "runs"))).toHaveLength(20);
  });

  test("shares its run's id with those of the other merchants, and with no other run of that millisecond", async () => {
    const plans = ["MC1", "MC2"].map((merchant) => ({ ...richPlan(), merchant }));
    const names: string[] = [];
    for (const open of [journals(), journals()]) {
      for (const plan of plans) {
        const journal = await open(plan);
        await journal.close();
        names.push(`${journal.run} ${basename(journal.file)}`);
      }
    }
    const [one, two] = ["2026-11-21T13-05-00-123Z", "2026-11-21T13-05-00-124Z"];
    expect(names).toEqual([
      `${one} ${one}-MC1.jsonl`,
      `${one} ${one}-MC2.jsonl`,
      `${two} ${two}-MC1.jsonl`,
      `${two} ${two}-MC2.jsonl`,
    ]);
  });

  test.each([
    ["2100-01-01T00-00-00-000Z", "2100-01-01T00-00-00-001Z"],
    ["2026-11-21T12-00-00-000Z", "2026-11-21T13-05-00-123Z"],
    // The years after 9999 have more digits, which would not be in order.
    ["9999-12-31T23-59-59-999Z", "2026-11-21T13-05-00-123Z"],
    ["notes", "2026-11-21T13-05-00-123Z"],
  ])(
    "has an id after those of earlier runs, even if the clock was ahead: after %s, %s",
    async (earlier, id) => {
      await mkdir(join(cwd, ".rolecall", "runs"), { recursive: true });
      await writeFile(join(cwd, ".rolecall", "runs", `${earlier}-MC1.jsonl`), "");
      const journal = await journals()({ ...richPlan(), merchant: "MC1" });
      await journal.close();
      expect(journal.run).toBe(id);
    },
  );

  test("says who, where and what, and holds what is written to it", async () => {
    const journal = await journals()(richPlan());
    await journal.write(LEFT);
    await journal.close();
    const read = parseJournal(await readFile(join(cwd, journal.file), "utf8"));
    if (!read.ok) throw new Error(read.reason);
    const { run, verified } = read.run;
    expect(run).toMatchObject({
      run: "2026-11-21T13-05-00-123Z",
      merchant: "MC1",
      pid: process.pid,
      commit: null,
      undoes: null,
      changes: richPlan().changes.length,
    });
    expect(verified?.left).toEqual(["delete role Cashier"]);
  });

  test("escapes characters that nobody sees, and reads them back", async () => {
    const left = ["create role \ufeffA\u{e0041}\u202e"];
    const journal = await journals()(richPlan());
    await journal.write({ type: "verified", left, deferred: [] });
    await journal.close();
    const text = await readFile(join(cwd, journal.file), "utf8");
    expect(text).toContain("\\ufeffA\\udb40\\udc41\\u202e");
    expect(text).not.toMatch(/\p{Cf}/u);
    expect(parseJournal(text)).toMatchObject({ run: { verified: { left } } });
  });

  test("keeps no key and no password, whatever the environment holds", async () => {
    const secrets = {
      ROLECALL_API_KEY: "sk_live_secret1",
      TILL_7_PASSWORD: "correct horse secret2",
      BUILD_URL: "https://user:secret3@ci.example/1?token=secret4",
    };
    const journal = await journals(secrets)(richPlan());
    for (const change of richPlan().changes) {
      const { resource, kind, name, id, reason, fingerprint, before, after } = change;
      await journal.write({
        type: "intent",
        write: richPlan().changes.findIndex((one) => one.fingerprint === fingerprint) + 1,
        phase: "write-members",
        part: "whole",
        resource,
        kind,
        name,
        id,
        reason,
        fingerprint,
        before,
        after,
      });
    }
    await journal.close();
    const text = await readFile(join(cwd, journal.file), "utf8");
    expect(text).toContain("TILL_7_PASSWORD");
    expect(text).not.toMatch(/secret\d/);
  });

  test("that cannot be made is an error before anything is changed, which says where and what to do", async () => {
    await writeFile(join(cwd, ".rolecall"), "");
    await expect(journals()(richPlan())).rejects.toMatchObject({
      code: "journal-unwritable",
      message: expect.stringContaining(join(".rolecall", "runs")),
      hint: expect.stringContaining("move it"),
    });
  });
});

test("a journal whose first line finds no room leaves no file behind, and the next one can be kept", async () => {
  const { io } = testIo({ cwd, env: {}, now: () => NOW });
  const folder = join(cwd, ".rolecall", "runs");
  const closed: string[] = [];
  const full = async (path: string): Promise<Appendable> => {
    const file = await open(path, "ax");
    return {
      writeFile: async () => {
        await file.appendFile('{"at":"2026');
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      },
      sync: () => file.sync(),
      close: async () => {
        await file.close();
        closed.push(path);
      },
    };
  };
  await expect(fileJournals(io, { undoes: null, create: full })(richPlan())).rejects.toMatchObject({
    code: "journal-unwritable",
    hint: "The disk is full: free some space. Then plan again to see what remains.",
  });
  expect(closed).toHaveLength(1);
  expect(await readdir(folder)).toEqual([]);
  const journal = await fileJournals(io)(richPlan());
  await journal.close();
  expect(await readdir(folder)).toEqual([basename(journal.file)]);
});

/** A file in memory whose syncs end only when the test says so. */
function slowFile() {
  const writes: string[] = [];
  const ends: (() => void)[] = [];
  const file = {
    writeFile: async (text: string) => void writes.push(text),
    sync: () => new Promise<void>((resolve) => ends.push(resolve)),
    close: async () => undefined,
  } as unknown as Appendable;
  return { file, writes, ends };
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("a link in the place of the folder", () => {
  test.each([".rolecall", join(".rolecall", "runs")])("is not followed (%s)", async (link) => {
    const elsewhere = await mkdtemp(join(tmpdir(), "rolecall-elsewhere-"));
    await mkdir(dirname(join(cwd, link)), { recursive: true });
    await symlink(elsewhere, join(cwd, link));
    await expect(journals()(richPlan())).rejects.toMatchObject({
      code: "journal-unwritable",
      message: expect.stringContaining(`${basename(link)} is a link, or not a folder.`),
      hint: expect.stringContaining("move it"),
    });
    expect(await readdir(elsewhere)).toEqual([]);
    await rm(elsewhere, { recursive: true });
  });
});

describe("entries", () => {
  test("count as written only when they are on the disk, and those that wait go out together, in order", async () => {
    const { file, writes, ends } = slowFile();
    const journal = appendTo(file, "x.jsonl", () => NOW);
    const done: number[] = [];
    const write = (count: number) =>
      journal.write({ ...LEFT, left: [`${count}`] }).then(() => void done.push(count));
    const all = Promise.all([1, 2, 3, 4].map(write));
    await settled();
    expect(done).toEqual([]);
    ends[0]?.();
    await settled();
    expect(done).toEqual([1]);
    ends[1]?.();
    await all;
    expect(done).toEqual([1, 2, 3, 4]);
    expect(writes).toHaveLength(2);
    expect(
      writes
        .join("")
        .match(/"left":\["\d"\]/g)
        ?.join(),
    ).toBe('"left":["1"],"left":["2"],"left":["3"],"left":["4"]');
  });

  test("that do not fit on the disk are an error, and nothing is written after them", async () => {
    const writes: string[] = [];
    const full = {
      writeFile: async (text: string) => {
        writes.push(text);
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      },
      sync: async () => undefined,
      close: async () => undefined,
    } as unknown as Appendable;
    const journal = appendTo(full, "x.jsonl", () => NOW);
    const error = { code: "journal-unwritable", hint: expect.stringContaining("free some space") };
    await expect(journal.write(LEFT)).rejects.toMatchObject(error);
    await expect(journal.write(LEFT)).rejects.toMatchObject(error);
    expect(writes).toHaveLength(1);
    await journal.close();
  });
});

test.each([
  [
    { GITHUB_SERVER_URL: "https://git.example", GITHUB_REPOSITORY: "a/b", GITHUB_RUN_ID: "7" },
    "https://git.example/a/b/actions/runs/7",
  ],
  [{ CI_JOB_URL: "https://ci.example/job/1" }, "https://ci.example/job/1"],
  [{ BUILD_URL: "https://ci.example/1?token=x" }, null],
  [{ BUILD_URL: "https://user:password@ci.example/1" }, null],
  [{ BUILD_URL: "javascript:alert(1)" }, null],
  [{ BUILD_URL: "https://ci.example/1\u001b[2J" }, null],
  [{}, null],
])("the address of a CI run is taken from %o only where it is plain", (env, address) => {
  expect(jobAddress(env)).toBe(address);
});
