import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { textsOf } from "../../src/store/git-refs.ts";
import {
  type NewRunRecord,
  openRunRecords,
  type RunRecords,
  recordProblems,
  unlistedRecords,
} from "../../src/store/run-records.ts";
import { type BareRepository, bareRepository } from "./support/bare-repository.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const ID = "2026-11-21T13-05-00-123Z";

let repository: BareRepository;
let folder: string;

beforeEach(() => {
  repository = bareRepository();
  folder = mkdtempSync(join(tmpdir(), "rolecall-run-records-"));
});

afterEach(() => {
  repository.remove();
  rmSync(folder, { recursive: true });
});

/** Makes a clone whose main is pushed; returns how to run git in it. */
function clone(): (...args: readonly string[]) => string {
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@example.com", ...args], {
      encoding: "utf8",
    }).trim();
  git("init", "--quiet", "--initial-branch=main");
  git("remote", "add", "origin", repository.url);
  writeFileSync(join(folder, "mc1.yaml"), "version: 1\n");
  git("add", ".");
  git("commit", "--quiet", "--message=first");
  git("push", "--quiet", "origin", "main");
  return git;
}

function machine(key = KEY, cloned?: string): RunRecords {
  return openRunRecords(repository.refs(cloned), key, async () => undefined);
}

function record(rest: Partial<NewRunRecord> = {}): NewRunRecord {
  return {
    run: ID,
    merchants: ["MC1", "MC2"],
    outcome: "done",
    by: "ada@till",
    actor: null,
    job: null,
    applied: null,
    pulls: [7, 8],
    files: new Map([[`${ID}-MC1.jsonl`, '{"type":"run"}\n']]),
    ...rest,
  };
}

const problemsFor = async (records: RunRecords): Promise<readonly string[]> =>
  recordProblems(await records.fetch()).map(({ kind, name }) => `${kind} ${name}`);

describe("a record", () => {
  test("is one commit on the applied one with the journals alone, and replaces the note of its beginning", async () => {
    const git = clone();
    const applied = git("rev-parse", "HEAD");
    const records = machine(KEY, join(folder, ".git"));
    const before = repository.git("for-each-ref", "refs/heads", "refs/tags");
    const began = await records.write(
      record({ outcome: "began", applied, files: new Map([["a.jsonl", ""]]) }),
      null,
    );
    const ended = await records.write(record({ applied }), began);
    expect(ended.name).toBe(ID);
    expect(repository.git("for-each-ref", "--format=%(refname)", "refs/rolecall")).toBe(
      `refs/rolecall/runs/${ID}`,
    );
    expect(
      repository.git("rev-list", "--parents", "--max-count=1", `refs/rolecall/runs/${ID}`).split(" "),
    ).toEqual([ended.commit, applied]);
    expect(repository.git("ls-tree", "-r", "--name-only", ended.commit)).toBe(`${ID}-MC1.jsonl`);
    expect(repository.git("log", "--max-count=1", "--format=%(trailers:only,unfold)", ended.commit)).toMatch(
      /^Run: .*\nMerchant: MC1\nMerchant: MC2\nOutcome: done\nRan-By: ada@till\nApplied-Commit: \w+\nPull-Request: #7\nPull-Request: #8\nSignature: \w+ \w+$/,
    );
    expect(repository.git("for-each-ref", "refs/heads", "refs/tags")).toBe(before);
    expect(repository.git("fsck", "--no-dangling")).toBe("");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("for-each-ref", "--format=%(refname)")).not.toContain("rolecall");
  });

  test("is on the applied commit also from a shallow clone, and where the branch has moved on", async () => {
    const git = clone();
    const applied = git("rev-parse", "HEAD");
    git("commit", "--quiet", "--allow-empty", "--message=second");
    git("commit", "--quiet", "--allow-empty", "--message=third");
    git("push", "--quiet", "origin", "main");
    const shallow = join(folder, "shallow");
    execFileSync("git", ["clone", "--quiet", "--depth=2", `file://${repository.url}`, shallow]);
    for (const [index, commit] of [applied, git("rev-parse", "HEAD~1"), git("rev-parse", "HEAD")].entries()) {
      for (const cloned of [undefined, join(shallow, ".git")]) {
        const written = await machine(KEY, cloned).write(
          record({ applied: commit, files: new Map([["a.jsonl", `${index} ${cloned}`]]) }),
          null,
        );
        expect(repository.git("rev-parse", `${written.commit}^`)).toBe(commit);
      }
    }
    expect(repository.git("fsck", "--no-dangling")).toBe("");
  });

  test("publishes no commit that was never pushed: it names the commit, and has no parent", async () => {
    const git = clone();
    git("commit", "--quiet", "--allow-empty", "--message=secret plans");
    const applied = git("rev-parse", "HEAD");
    const { commit } = await machine(KEY, join(folder, ".git")).write(record({ applied }), null);
    expect(repository.git("rev-list", "--parents", commit)).toBe(commit);
    expect(repository.git("log", "--format=%B", commit)).toContain(`Applied-Commit: ${applied}`);
    expect(() => repository.git("cat-file", "-e", applied)).toThrow();
  });

  test("of two machines that begin in the same millisecond are two, and a push whose answer was lost is not repeated", async () => {
    const [one, two] = [machine(), machine()];
    const first = await one.write(record(), null);
    const other = await two.write(record({ by: "ben@bar", files: new Map([["b.jsonl", ""]]) }), null);
    expect([first.name, other.name]).toEqual([ID, `${ID}-2`]);
    expect(await one.write(record(), null)).toEqual(first);
    expect(repository.git("for-each-ref", "refs/rolecall/runs").split("\n")).toHaveLength(2);
  });

  test("takes the place of its own beginning also if the machine died before it knew of it, and of nothing else", async () => {
    const path = `${ID}-MC1.jsonl`;
    const began = new Map([[path, '{"type":"run","pid":7}\n']]);
    await machine().write(record({ outcome: "began", files: began }), null);
    const ended = new Map([[path, '{"type":"run","pid":7}\n{"type":"end"}\n']]);
    expect((await machine().write(record({ files: ended }), null)).name).toBe(ID);
    const other = new Map([[path, '{"type":"run","pid":8}\n{"type":"end"}\n']]);
    expect((await machine().write(record({ files: other }), null)).name).toBe(`${ID}-2`);
    expect(repository.git("show", `refs/rolecall/runs/${ID}:${path}`)).toContain('"pid":7');
  });

  test("has the outcome of a run that was killed before its first write, with the journal of its beginning", async () => {
    await machine().write(record({ outcome: "began" }), null);
    const written = await machine().write(record({ outcome: "interrupted" }), null);
    const { records } = await machine().fetch();
    expect(records).toMatchObject([{ ...written, summary: { outcome: "interrupted" } }]);
  });

  test("that a text tries to forge trailers in stays one of its run", async () => {
    const records = machine();
    await records.write(record({ by: "ada\nOutcome: stopped\nMerchant: MC9" }), null);
    const [found] = (await records.fetch()).records;
    expect(found?.summary).toMatchObject({ outcome: "done", merchants: ["MC1", "MC2"] });
  });
});

describe("the list of records", () => {
  test("makes a removed, an edited and an invented record known, and one that was rolled back to its beginning", async () => {
    const records = machine();
    const ids = [1, 2, 3, 4].map((number) => `2026-11-21T13-05-00-00${number}Z`);
    const began = await records.write(
      record({ run: ids[3] ?? "", outcome: "began", files: new Map() }),
      null,
    );
    const written = [];
    for (const run of ids) {
      const files = new Map([[`${run}-MC1.jsonl`, run]]);
      written.push(await records.write(record({ run, files }), run === ids[3] ? began : null));
    }
    await records.list(written);
    expect(await problemsFor(records)).toEqual([]);
    repository.git("update-ref", "-d", `refs/rolecall/runs/${ids[0]}`);
    repository.git("update-ref", `refs/rolecall/runs/${ids[3]}`, began.commit);
    // Somebody without the key, who can push.
    const attacker = machine("");
    const fetched = await attacker.fetch();
    const edited = fetched.records.find(({ name }) => name === ids[1]);
    const { commit: from = "" } = edited ?? {};
    const git = repository.refs();
    const message = repository.git("log", "--max-count=1", "--format=%B", from);
    const tree = await git.writeTree(new Map([[`${ids[1]}-MC1.jsonl`, "other"]]));
    await git.push([{ ref: `runs/${ids[1]}`, from, to: await git.commitTree(tree, null, `${message}\n\n`) }]);
    await attacker.write(record({ run: "2026-11-22T00-00-00-000Z" }), null);
    expect(await problemsFor(records)).toEqual([
      `missing ${ids[0]}`,
      `altered ${ids[1]}`,
      `altered ${ids[3]}`,
      "extra 2026-11-22T00-00-00-000Z",
    ]);
    const trusts = (await records.fetch()).records.map(({ name, trust }) => `${name} ${trust}`);
    expect(trusts).toContain(`${ids[2]} verified`);
    expect(trusts).toContain(`${ids[1]} altered`);
    expect(fetched.records.map(({ trust }) => trust)).toEqual(Array(3).fill("unchecked"));
  });

  test("cannot be edited without the key, and a signature counts only for its own name", async () => {
    const records = machine();
    const first = await records.write(record(), null);
    await records.list([first]);
    repository.git("update-ref", "refs/rolecall/runs/2026-11-30T00-00-00-000Z", first.commit);
    expect(await problemsFor(records)).toEqual(["altered 2026-11-30T00-00-00-000Z"]);
    const git = repository.refs();
    const state = (await git.fetch()).get("state") ?? "";
    const [[path = "", text = ""] = []] = await textsOf(state, git);
    const forged = await git.commit(
      state,
      new Map([[path, text.replace(first.tree, "f".repeat(40))]]),
      "Runs",
    );
    await git.push([{ ref: "state", from: state, to: forged }]);
    expect((await records.fetch()).list).toBe("invalid");
    await expect(records.list([first])).rejects.toThrow("does not match its signature");
  });

  test("tells deleted records from lost ones, and those that could not be listed from invented ones", async () => {
    const records = machine();
    const written = await records.write(record(), null);
    await records.list([written]);
    const { records: found } = await records.fetch();
    await records.list([], [ID]);
    await records.remove(found);
    expect(await problemsFor(records)).toEqual([]);
    repository.git("update-ref", `refs/rolecall/runs/${ID}`, written.commit);
    expect(await problemsFor(records)).toEqual([`extra ${ID}`]);
    await records.write(record({ run: "2026-11-22T00-00-00-000Z" }), null);
    expect(unlistedRecords(await records.fetch()).map(({ name }) => name)).toEqual([
      "2026-11-22T00-00-00-000Z",
    ]);
  });

  test("holds what several machines sign at once", async () => {
    const ids = Array.from(
      { length: 6 },
      (_, index) => `2026-11-21T13-05-00-${String(index).padStart(3, "0")}Z`,
    );
    await Promise.all(
      ids.map(async (run) => {
        const own = machine();
        await own.list([await own.write(record({ run, files: new Map([["a", run]]) }), null)]);
      }),
    );
    const fetched = await machine().fetch();
    expect(recordProblems(fetched)).toEqual([]);
    expect(unlistedRecords(fetched)).toEqual([]);
    expect(fetched.records.map(({ name }) => name)).toEqual(ids);
  });
});
