import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { textsOf } from "../../src/store/git-refs.ts";
import type { RecordStore } from "../../src/store/open-records.ts";
import { type Applied, type BareRepository, bareRepository, type Role } from "./support/bare-repository.ts";

let repository: BareRepository;

beforeEach(() => {
  repository = bareRepository();
});

afterEach(() => {
  repository.remove();
});

const run = (head: string, grants: readonly string[], earlier: readonly number[] = []) => ({
  head,
  base: "main",
  earlier,
  comment: null,
  refused: [],
  merchants: new Map([["MC1", { grants }]]),
});
const count = (store: RecordStore<Role, Applied>, merchant: string): Promise<void> =>
  store.updateStates((states) => new Map([[merchant, { count: (states.get(merchant)?.count ?? 0) + 1 }]]));

/** Rewrites a file of a ref, as anybody can who may push. */
const rewrite = async (ref: string, edit: (path: string, text: string) => string | null): Promise<void> => {
  const refs = repository.refs();
  const from = (await refs.fetch()).get(ref) ?? null;
  const files = await textsOf(from ?? undefined, refs);
  const edits = new Map([...files].map(([path, text]) => [path, edit(path, text)]));
  await refs.push([{ ref, from, to: await refs.commit(from, edits, "Rewrite") }]);
};

describe("recorded reviews", () => {
  test("are read back as they were added, run by run", async () => {
    const store = repository.store();
    await store.editRuns("reviews/7", run("a1", ["view"]), () => true);
    await repository.store().editRuns("reviews/7", run("b2", ["view", "edit"], [5]), () => true);
    const records = await store.read();
    expect(records.names).toEqual(["reviews/7"]);
    expect(await records.runsOf("reviews/7")).toEqual([
      { ...run("a1", ["view"]), number: 1 },
      { ...run("b2", ["view", "edit"], [5]), number: 2 },
    ]);
    expect(repository.git("rev-list", "--count", "refs/rolecall/reviews/7")).toBe("2");
    expect(repository.git("for-each-ref", "refs/heads")).toBe("");
  });

  test("that are not to be kept make room for the next run", async () => {
    const store = repository.store();
    await store.editRuns("reviews/7", run("a1", ["view"]), () => true);
    await store.editRuns("reviews/7", run("b2", ["edit"]), ({ head }) => head !== "a1");
    const runs = await (await store.read()).runsOf("reviews/7");
    expect(runs.map(({ head, number }) => [head, number])).toEqual([["b2", 2]]);
  });

  test("do not count if they were edited, moved or signed with another key", async () => {
    await repository.store().editRuns("reviews/7", run("a1", ["view"]), () => true);
    await repository
      .store({ key: "another key of 32 characters....." })
      .editRuns("reviews/8", run("a1", ["edit"]), () => true);
    const records = await repository.store().read();
    expect(await records.runsOf("reviews/8")).toEqual([]);
    await rewrite("reviews/7", (_, text) => text.replace("view", "edit"));
    const [edited] = await (await repository.store().read()).runsOf("reviews/7");
    expect(edited?.merchants).toEqual(new Map());
    await rewrite("reviews/7", (path, text) => (path.endsWith("run.json") ? text.replace("a1", "b2") : text));
    expect(await (await repository.store().read()).runsOf("reviews/7")).toEqual([]);
  });

  test("of another pull request or merchant are not taken for these", async () => {
    const store = repository.store();
    await store.editRuns("reviews/7", run("a1", ["view"]), () => true);
    const refs = repository.refs();
    const found = await refs.fetch();
    const commit = found.get("reviews/7") ?? "";
    const files = await textsOf(commit, refs);
    const renamed = new Map([...files].map(([path, text]) => [path.replace("MC1", "MC2"), text]));
    await refs.push([
      { ref: "reviews/8", from: null, to: commit },
      { ref: "reviews/9", from: null, to: await refs.commit(null, renamed, "Copy") },
    ]);
    await refs.push([{ ref: "reviews/7", from: commit, to: found.get("reviews/7") ?? null }]);
    const records = await store.read();
    expect(await records.runsOf("reviews/8")).toEqual([]);
    expect(await records.runsOf("reviews/9")).toEqual([]);
  });

  test("are removed without those of another label", async () => {
    await repository.store().editRuns("reviews/7", run("a1", ["view"]), () => true);
    await repository.store({ family: "e11" }).editRuns("reviews/7", run("a1", ["edit"]), () => true);
    await repository.store().remove(["reviews/7", "reviews/8"]);
    const other = await repository.store({ family: "e11" }).read();
    expect(await other.runsOf("reviews/7")).toHaveLength(1);
    expect(await (await repository.store().read()).runsOf("reviews/7")).toEqual([]);
    await repository.store({ family: "e11" }).remove(["reviews/7"]);
    expect(repository.git("for-each-ref")).toBe("");
  });
});

describe("states", () => {
  test("of two writers at once are both written", async () => {
    const merchants = ["MC0", "MC9", "MC1", "MC9", "MC9"];
    await Promise.all(merchants.map((merchant) => count(repository.store(), merchant)));
    const { states } = await repository.store().read();
    expect(Object.fromEntries(states)).toEqual({
      MC0: { count: 1 },
      MC1: { count: 1 },
      MC9: { count: 3 },
    });
  });

  test("are compared before they are swapped: a ref that moved is left as it is", async () => {
    await count(repository.store(), "MC1");
    const refs = repository.refs();
    const from = (await refs.fetch()).get("state") ?? null;
    const late = await refs.commit(from, new Map([["late.json", "late"]]), "Late");
    await count(repository.store(), "MC2");
    expect(await refs.push([{ ref: "state", from, to: late }])).toBe(false);
    expect(await refs.push([{ ref: "state", from: null, to: late }])).toBe(false);
    const { states } = await repository.store().read();
    expect([...states.keys()]).toEqual(["MC1", "MC2"]);
  });

  test("that are missing, edited or signed with another key are not those of an apply", async () => {
    const store = repository.store();
    expect((await store.read()).states).toEqual(new Map());
    await count(store, "MC1");
    await count(store, "MC2");
    await rewrite("state", (path, text) =>
      path.includes("MC1") ? text.replace('"count":1', '"count":2') : text,
    );
    const { states } = await store.read();
    expect(Object.fromEntries(states)).toEqual({ MC1: null, MC2: { count: 1 } });
    const other = await repository.store({ key: "another key of 32 characters....." }).read();
    expect(Object.fromEntries(other.states)).toEqual({ MC1: null, MC2: null });
  });

  test("that stay as they are make no commit", async () => {
    await count(repository.store(), "MC1");
    const before = repository.git("rev-parse", "refs/rolecall/state");
    await repository.store().updateStates((states) => states);
    expect(repository.git("rev-parse", "refs/rolecall/state")).toBe(before);
  });

  test("that nobody has moved are not read again", async () => {
    await count(repository.store(), "MC1");
    const trace = `${repository.url}-trace`;
    const store = repository.store({ env: { GIT_TRACE: trace } });
    await store.read();
    const first = readFileSync(trace, "utf8");
    expect(first).toContain("git ls-tree");
    // What was fetched is there.
    expect(first).not.toContain("^{tree}");
    rmSync(trace);
    await store.updateStates((states) => states);
    const second = readFileSync(trace, "utf8");
    expect(second).toContain("git fetch");
    expect(second).not.toContain("git ls-tree");
    await count(repository.store(), "MC1");
    expect((await store.read()).states).toEqual(new Map([["MC1", { count: 2 }]]));
  });

  test("are read with all reviews in one fetch, however large a chain is", { timeout: 60_000 }, async () => {
    const person = {
      permissions: ["catalog_view", "refunds_create"],
      roles: ["Cashier"],
      hash: "0".repeat(32),
    };
    const people = Array.from({ length: 40 }, (_, index) => JSON.stringify({ ...person, index }));
    const merchants = new Map(
      Array.from({ length: 1_200 }, (_, at) => [`MC${at}`, { grants: people }] as const),
    );
    const store = repository.store();
    await store.editRuns("reviews/7", { ...run("a1", []), merchants }, () => true);
    const many = new Map(Array.from({ length: 5_000 }, (_, at) => [`MC${at}`, { count: at }] as const));
    await store.updateStates(() => many);
    const records = await repository.store().read();
    expect(records.states).toEqual(many);
    expect((await records.runsOf("reviews/7"))[0]?.merchants).toEqual(merchants);
  });
});

describe("git", () => {
  test("tells a refusal from a lost connection, without a stack trace", async () => {
    writeFileSync(join(repository.url, "hooks/pre-receive"), "#!/bin/sh\necho Read only. >&2\nexit 1\n", {
      mode: 0o755,
    });
    const added = repository.store().editRuns("reviews/7", run("a1", ["view"]), () => true);
    await expect(added).rejects.toMatchObject({ code: "forbidden" });
    repository.remove();
    await expect(repository.store().read()).rejects.toMatchObject({ code: "network" });
    repository = bareRepository();
  });

  test("gives the files of any commit, and leaves index and branches alone", async () => {
    const refs = repository.refs();
    const first = await refs.commit(null, new Map([["access/mc1.yaml", "version: 1\n"]]), "Files");
    const second = await refs.commit(first, new Map([["access/mc1.yaml", null]]), "None");
    await refs.push([{ ref: "some", from: null, to: second }]);
    const other = repository.refs();
    expect(await textsOf(first, other)).toEqual(new Map([["access/mc1.yaml", "version: 1\n"]]));
    expect(await textsOf(second, other)).toEqual(new Map());
    expect(await other.parents(second)).toEqual([first]);
    expect(repository.git("for-each-ref", "--format=%(refname)")).toBe("refs/rolecall/some");
  });

  test("fetches no commit that a clone has whole", async () => {
    const refs = repository.refs();
    const commit = await refs.commit(null, new Map([["access/mc1.yaml", "version: 1\n"]]), "Files");
    await refs.push([{ ref: "some", from: null, to: commit }]);
    const clone = `${repository.url}-clone`;
    repository.git("clone", "--quiet", "--mirror", repository.url, clone);
    const blob = repository.git("rev-parse", `${commit}:access/mc1.yaml`);
    const path = join("objects", blob.slice(0, 2), blob.slice(2));
    rmSync(join(repository.url, path));
    expect((await textsOf(commit, repository.refs(clone))).size).toBe(1);
    // A part of it is not enough.
    rmSync(join(clone, path));
    await expect(textsOf(commit, repository.refs(clone))).rejects.toThrow("git: ");
    await expect(textsOf(commit, repository.refs())).rejects.toThrow("git: ");
  });

  test("tells from a clone which commit changed a file last, unless that is shallow", async () => {
    const refs = repository.refs();
    const [changed, other] = ["access/[mc]1.yaml", "access/m1.yaml"];
    const first = await refs.commit(null, new Map([[changed, "version: 1\n"]]), "Files");
    const second = await refs.commit(first, new Map([[other, "version: 1\n"]]), "Another");
    const third = await refs.commit(second, new Map([["notes.txt", "Notes\n"]]), "Notes");
    await refs.push([{ ref: "some", from: null, to: third }]);
    const [clone, shallow] = [`${repository.url}-clone`, `${repository.url}-shallow`];
    repository.git("clone", "--quiet", "--mirror", repository.url, clone);
    expect(await repository.refs(clone).lastCommitOf(changed, third)).toBe(first);
    expect(await repository.refs(clone).lastCommitOf(other, third)).toBe(second);
    expect(await repository.refs(clone).lastCommitOf("missing.yaml", third)).toBeNull();
    repository.git("clone", "--quiet", "--mirror", "--depth=1", `file://${repository.url}`, shallow);
    expect(await repository.refs(shallow).lastCommitOf(changed, third)).toBeNull();
    expect(await repository.refs().lastCommitOf(changed, third)).toBeNull();
  });
});
