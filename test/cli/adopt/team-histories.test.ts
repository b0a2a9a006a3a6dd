import fc from "fast-check";
import { expect, test } from "vitest";
import { adoptPlanned } from "../../../src/app/adopt/adopt-planned.ts";
import { globMatcher, type PlannedMerchant } from "../../../src/app/session/session.ts";
import { adoptNew, newFileText } from "../../../src/edit/adopt/new-file-text.ts";
import { parseMerchantFile } from "../../../src/index.ts";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import { canonicalJson } from "../../../src/lib/json-text.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { NOW } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";
import { type HistorySize, teamHistory } from "../../support/team-history.ts";

const FILE = "access/team.yaml";
const matches = globMatcher();

function stateOf(text: string): DesiredState {
  const { state, diagnostics } = parseMerchantFile(FILE, text, { now: NOW });
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (state === null || errors.length > 0) expect({ text, errors }).toEqual({ text, errors: [] });
  return state as DesiredState;
}

function planned(state: DesiredState, live: LiveState): PlannedMerchant {
  const plan = buildPlan({ desired: state, live, service: "https://service.example", now: NOW, matches });
  return { status: "planned", session: { state }, live, plan } as unknown as PlannedMerchant;
}

/** A file that was read, and its plan. */
interface PlannedFile {
  readonly text: string;
  readonly live: LiveState;
  readonly planned: PlannedMerchant;
  readonly state: DesiredState;
}

function planFile(text: string, live: LiveState, state: DesiredState = stateOf(text)): PlannedFile {
  return { text, live, state, planned: planned(state, live) };
}

/** Pulls a merchant into its file; returns the new text. */
function pulled({ text, planned, state }: PlannedFile): string {
  const { patches, conflicts } = adoptPlanned(
    [{ planned, wants: () => true }],
    { all: [state], sources: [{ file: FILE, text }] },
    NOW,
  );
  expect(conflicts).toEqual([]);
  return patches[0]?.after ?? text;
}

/** Expects a file to declare what is live, for plans and for another pull. */
function expectPulled(file: PlannedFile): void {
  const { text } = file;
  const { changes, refusals, findings } = file.planned.plan;
  const errors = findings.filter(({ severity }) => severity === "error");
  if (changes.length + refusals.length + errors.length > 0)
    expect({ text, changes, refusals, errors }).toEqual({ text, changes: [], refusals: [], errors: [] });
  expect(pulled(file)).toBe(text);
}

/** Adds comments of somebody's own to a file: above entries, behind their first lines, and at the file's ends. */
function annotated(text: string): string {
  const lines = text.split("\n").flatMap((line, at, all) => {
    if (all[at - 1]?.startsWith("  #") || !/^ {2}- (name|email): [^|>#]*$/.test(line)) return line;
    if (at % 5 === 0) return ["", `  # Above ${at}: asked for in the ticket.`, line];
    return at % 7 === 0 ? `${line} # behind ${at}` : line;
  });
  return `# The team's own file.\n\n${lines.join("\n")}# The end.\n`;
}

/** Returns the lines of each entry, with what is above it, by its section and first line. */
function blocksOf(text: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>();
  let [section, key, above, entry] = ["", "", "", ""];
  const close = (): void => {
    if (key !== "") blocks.set(key, entry);
    [key, entry] = ["", ""];
  };
  for (const line of text.split("\n")) {
    if (/^\w+:/.test(line)) {
      close();
      [section, above] = [line, ""];
    } else if (/^ {2}- (name|email): /.test(line)) {
      close();
      key = `${section} ${line.replace(/ +#.*$/, "")}`;
      entry = `${above}${line}\n`;
      above = "";
    } else if (/^ {3}/.test(line) && key !== "") entry += `${line}\n`;
    else if (line !== "") {
      close();
      above += `${line}\n`;
    }
  }
  close();
  return blocks;
}

/** Returns what a file says of each live entry that is told apart by its name or address alone. */
function factsOf({ roles, members }: LiveState): ReadonlyMap<string, string> {
  const custom = roles.filter(({ predefined }) => !predefined);
  const nameOf = new Map(roles.map(({ id, name }) => [id, name]));
  const names = counts(custom.map(({ name }) => name));
  const emails = counts(
    members.map(({ user, invite }) => (user?.email ?? invite?.email ?? "").toLowerCase()),
  );
  const ofRoles = custom
    .filter(({ name }) => names.get(name) === 1)
    .map(({ id, updatedAt: _, ...role }) => [`role ${role.name}`, canonicalJson({ ...role, id })] as const);
  const ofMembers = members.flatMap(({ user, invite, roles: held, metadata, status, id }) => {
    const email = user?.email ?? invite?.email ?? "";
    const words = held.map((role) => nameOf.get(role) ?? "");
    const isAlone =
      emails.get(email.toLowerCase()) === 1 && words.every((word) => (names.get(word) ?? 1) === 1);
    const type = user?.type ?? "user";
    const facts = { id, words, held, metadata, type, status, nickname: user?.nickname ?? "" };
    return isAlone ? [[`member ${email}`, canonicalJson(facts)] as const] : [];
  });
  return new Map([...ofRoles, ...ofMembers]);
}

function commentsIn(block: string): readonly string[] {
  return block.match(/# (?:Above|behind) \d+/g) ?? [];
}

function counts(texts: readonly string[]): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const text of texts) all.set(text, (all.get(text) ?? 0) + 1);
  return all;
}

/** Expects every entry with the same facts before and after to have kept its bytes, and returns how many these are. */
function expectKept(before: PlannedFile, after: PlannedFile): number {
  const [old, now] = [blocksOf(before.text), blocksOf(after.text)];
  const [was, is] = [factsOf(before.live), factsOf(after.live)];
  const { roles = [], members = [] } = before.state;
  const declared = [
    // A former name goes once another role has it.
    ...roles.map(({ name, previously }) => (previously === undefined ? `role ${name}` : "")),
    ...members.map(({ email }) => `member ${email}`),
  ];
  expect(old.size).toBe(declared.length);
  const blocks = [...old];
  const same = declared.flatMap((key, at) => {
    const block = blocks[at];
    return block !== undefined && was.has(key) && was.get(key) === is.get(key) ? [block] : [];
  });
  for (const [key, block] of same) {
    const result = now.get(key);
    if (result !== block)
      expect({ before: before.text, after: after.text, block: result }).toMatchObject({ block });
  }
  const lost = blocks.flatMap(([key, block]) => {
    const result = now.get(key);
    return result === undefined ? [] : commentsIn(block).filter((text) => !result.includes(text));
  });
  expect(lost).toEqual([]);
  expect(after.text.startsWith("# The team's own file.\n\nversion: 1\n")).toBe(true);
  expect(after.text.endsWith("# The end.\n")).toBe(true);
  return same.length;
}

/** Pulls a history step by step, and counts what it saw. */
function pullHistory(seed: number, size: HistorySize) {
  const seen = { merchants: 0, pulls: 0, changed: 0, entries: 0, kept: 0 };
  const files = new Map<string, PlannedFile>();
  for (const live of teamHistory(seed, size).flat()) {
    const { merchant } = live;
    const file = files.get(merchant);
    if (file === undefined) {
      const fresh = newFileText(adoptNew(live, NOW), { merchant, environment: "live" });
      expectPulled(planFile(fresh, live));
      const own = planFile(annotated(fresh), live);
      expectPulled(own);
      files.set(merchant, own);
      seen.merchants += 1;
      continue;
    }
    const before = planFile(file.text, live, file.state);
    const result = pulled(before);
    const after = result === file.text ? before : planFile(result, live);
    expectPulled(after);
    if (after !== before) seen.changed += 1;
    seen.kept += after === before ? 0 : expectKept(file, after);
    seen.pulls += 1;
    seen.entries += live.roles.length + live.members.length;
    files.set(merchant, after);
  }
  return seen;
}

test("the files of an organisation's teams follow its history, and keep what did not change", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0 }), (seed) => {
      const seen = pullHistory(seed, { teams: 40, steps: 3 });
      expect(seen.changed).toBeGreaterThan(40);
      expect(seen.kept).toBeGreaterThan(300);
    }),
    // A history is not made simpler by a smaller seed.
    { numRuns: runs(1), endOnFailure: true },
  );
});
