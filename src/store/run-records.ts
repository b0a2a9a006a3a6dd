import { oneLine } from "../lib/escape.ts";
import { RolecallError } from "../model/errors.ts";
import { changeRef, STATE } from "./change-ref.ts";
import { type CommitObject, type GitRefs, textsOf } from "./git-refs.ts";
import { GitError } from "./run-git.ts";
import { keyedHash, macOf, seal, unseal } from "./sealed-json.ts";

/** Facts about a run, which the commit of its record has as trailers. */
export interface RunSummary {
  /** The run's id. */
  readonly run: string;
  readonly merchants: readonly string[];
  /** `began` until the run has ended. */
  readonly outcome: string;
  /** User and host. */
  readonly by: string;
  /** Who started the job; `null` outside CI. */
  readonly actor: string | null;
  readonly job: string | null;
  /** The commit that was applied. */
  readonly applied: string | null;
  /** Set if the working tree had uncommitted changes. */
  readonly uncommitted?: true;
  /** Numbers of the pull requests that it merged. */
  readonly pulls: readonly number[];
}

/** A run to record, with its journals by file name. */
export interface NewRunRecord extends RunSummary {
  readonly files: ReadonlyMap<string, string>;
}

/** A record that this machine has written. */
export interface WrittenRecord {
  /** Name below `runs/`: the run's id, with a number if several machines began a run at the same time. */
  readonly name: string;
  readonly commit: string;
  readonly tree: string;
}

/**
 * The result of checking a record: `verified` if it is signed with the key and as it was listed, `altered` if not as
 * signed or listed, `unsigned`, `foreign` if signed with another key, `unchecked` if signed and there is no key.
 */
export type RecordTrust = "verified" | "altered" | "unsigned" | "foreign" | "unchecked";

/** A record in the repository. Unless it is verified, anybody who can push may have written any of it. */
export interface RunRecord extends WrittenRecord {
  readonly summary: RunSummary;
  readonly trust: RecordTrust;
}

/** The list of records that a key has signed: their trees by name, `null` for one that was deleted on purpose. */
export type RunList = ReadonlyMap<string, string | null>;

/** The records as they were fetched, sorted by name. */
export interface FetchedRuns {
  readonly records: readonly RunRecord[];
  /** `null` if there is none, "invalid" if it is not signed with this key. */
  readonly list: RunList | "invalid" | null;
}

/** The records of runs in a repository. Every method throws RolecallError. */
export interface RunRecords {
  /** Pushes a record, in the place of what was pushed of the run before. */
  write(record: NewRunRecord, earlier: WrittenRecord | null): Promise<WrittenRecord>;
  /** Signs the names and trees of records into the list; `deleted` are marked as such. Does nothing without a key. */
  list(written: readonly WrittenRecord[], deleted?: readonly string[]): Promise<void>;
  fetch(): Promise<FetchedRuns>;
  /** Returns the journals of a record by file name. */
  journalsOf(record: RunRecord): Promise<ReadonlyMap<string, string>>;
  remove(records: readonly RunRecord[]): Promise<void>;
}

/** The folder of refs, and of the lists in the ref of states. */
const RUNS = "runs/";

/** Machines that may begin a run in the same millisecond. */
const MAX_SAME_ID = 100;

/** Refs of one push: the arguments of a process have a limit. */
const MAX_MOVES = 500;

/** Opens the records of runs; nothing is fetched yet. `key` signs them; empty for none. */
export function openRunRecords(refs: GitRefs, key: string, sleep: (ms: number) => Promise<void>): RunRecords {
  const keyId = key === "" ? null : keyedHash("runs", key);
  const listPath = `${RUNS}${keyId}.json`;
  const listIn = async (commit: string | undefined): Promise<FetchedRuns["list"]> => {
    if (keyId === null || commit === undefined) return null;
    const text = (await textsOf(commit, refs)).get(listPath);
    if (text === undefined) return null;
    const value = unseal(text, listPath, key);
    return value === null ? "invalid" : new Map(Object.entries(value as Record<string, string | null>));
  };
  const signatureOf = (signed: SignedRecord): string => macOf(signed, RUNS, key);
  /** Pushes a record under a name; returns `null` if another run has it. */
  const writeAs = async (
    name: string,
    tree: string,
    record: NewRunRecord,
    earlier: WrittenRecord | null,
  ): Promise<WrittenRecord | null> => {
    const text = messageOf(record);
    const signature = keyId === null ? "" : `Signature: ${keyId} ${signatureOf({ name, tree, text })}\n`;
    const ref = `${RUNS}${name}`;
    const from = earlier?.commit ?? null;
    const pushOn = async (parent: string | null) => {
      const commit = await refs.commitTree(tree, parent, `${text}${signature}`);
      return { isPushed: await refs.push([{ ref, from, to: commit }]), commit };
    };
    const { isPushed, commit } = await pushOn(record.applied).catch((error: unknown) => {
      // A server may have the commit in no branch any more, and refuse what is on it.
      if (error instanceof GitError && record.applied !== null) return pushOn(null);
      throw error;
    });
    const written = { name, commit, tree };
    if (isPushed) return written;
    // The answer to an earlier push may have been lost, or what it has left was deleted.
    const now = (await refs.fetch([`${ref}*`])).get(ref);
    if (now === undefined) {
      if (await refs.push([{ ref, from: null, to: commit }])) return written;
      throw new RolecallError("conflict", `The ref of ${name} could not be created.`);
    }
    const [found] = await refs.describe([now]);
    if (found?.tree === tree && partsOf(found.message).text === text) return { ...written, commit: now };
    const theirs = { name, commit: now, tree: found?.tree ?? "" };
    return isBeginningOf(record.files, await textsOf(now, refs)) ? writeAs(name, tree, record, theirs) : null;
  };
  return {
    write: async (record, earlier) => {
      const tree = await refs.writeTree(record.files);
      const first = earlier && (await writeAs(earlier.name, tree, record, earlier));
      if (first) return first;
      for (let count = 1; count <= MAX_SAME_ID; count += 1) {
        const name = count === 1 ? record.run : `${record.run}-${count}`;
        const written = await writeAs(name, tree, record, null);
        if (written) return written;
      }
      throw new RolecallError("conflict", `Too many records are called ${record.run}.`);
    },
    list: async (written, deleted = []) => {
      if (keyId === null) return;
      const update = async (from: string | undefined) => {
        const list = await listIn(from);
        if (list === "invalid") {
          throw new RolecallError("conflict", `The list of runs in ${STATE} does not match its signature.`, {
            hint: "Somebody has changed it without the key, or it is signed with another key.",
          });
        }
        const next = new Map([
          ...(list ?? []),
          ...written.map(({ name, tree }) => [name, tree] as const),
          ...deleted.map((name) => [name, null] as const),
        ]);
        return new Map([[listPath, seal(Object.fromEntries(next), listPath, key)]]);
      };
      if (written.length + deleted.length > 0) await changeRef(refs, STATE, "Runs", update, sleep);
    },
    fetch: async () => {
      const fetched = await refs.fetch([`${RUNS}*`, `${STATE}*`]);
      const names = [...fetched.keys()].filter((ref) => ref.startsWith(RUNS)).sort();
      const list = await listIn(fetched.get(STATE));
      const commits = await refs.describe(names.map((ref) => fetched.get(ref) ?? ""));
      const trustOf = (name: string, { tree, parents, message }: CommitObject): RecordTrust => {
        const { text, signature } = partsOf(message);
        if (signature === null) return "unsigned";
        if (keyId === null) return "unchecked";
        if (signature.keyId !== keyId) return "foreign";
        const { applied } = summaryIn(text);
        const isSigned = signature.mac === signatureOf({ name, tree, text });
        if (!isSigned || parents.some((parent) => parent !== applied)) return "altered";
        const listed = list === "invalid" ? undefined : list?.get(name);
        return typeof listed === "string" && listed !== tree ? "altered" : "verified";
      };
      const records = commits.map((commit, index): RunRecord => {
        const ref = names[index] ?? "";
        const name = ref.slice(RUNS.length);
        const summary = summaryIn(partsOf(commit.message).text);
        return {
          name,
          commit: fetched.get(ref) ?? "",
          tree: commit.tree,
          summary,
          trust: trustOf(name, commit),
        };
      });
      return { records, list };
    },
    journalsOf: async ({ commit }) => textsOf(commit, refs),
    remove: async (records) => {
      const moves = records.map(({ name, commit }) => ({ ref: `${RUNS}${name}`, from: commit, to: null }));
      for (let start = 0; start < moves.length; start += MAX_MOVES) {
        if (await refs.push(moves.slice(start, start + MAX_MOVES))) continue;
        throw new RolecallError("conflict", "Somebody else changed a record at the same time.", {
          hint: "Run the command again: it deletes the rest.",
        });
      }
    },
  };
}

/** Returns whether files are an earlier state of those of a record: journals only grow, and no two runs begin with one line. */
function isBeginningOf(files: NewRunRecord["files"], earlier: ReadonlyMap<string, string>): boolean {
  return (
    earlier.size > 0 && [...earlier].every(([path, text]) => text !== "" && files.get(path)?.startsWith(text))
  );
}

/** What is wrong with a record. */
export interface RecordProblem {
  readonly name: string;
  readonly kind: "missing" | "altered" | "extra";
  readonly reason: string;
}

const REASONS = {
  altered: "its journals or trailers do not match its signature",
  unsigned: "it is not signed",
  foreign: "it is signed with another key",
} as const;

/** Compares the records with the list of those that the key has signed. */
export function recordProblems({ records, list }: FetchedRuns): readonly RecordProblem[] {
  const listed: RunList = list === "invalid" || list === null ? new Map() : list;
  const names = new Set(records.map(({ name }) => name));
  const missing = [...listed].flatMap(([name, tree]): readonly RecordProblem[] =>
    tree === null || names.has(name)
      ? []
      : [{ name, kind: "missing", reason: "it is in the list, but the record does not exist" }],
  );
  const wrong = records.flatMap(({ name, trust }): readonly RecordProblem[] => {
    // Where the list names it, somebody has put something else in its place.
    if (trust === "unsigned" || trust === "foreign") {
      const kind = typeof listed.get(name) === "string" ? "altered" : "extra";
      return [{ name, kind, reason: REASONS[trust] }];
    }
    if (trust === "altered") return [{ name, kind: "altered", reason: REASONS.altered }];
    return listed.get(name) === null
      ? [{ name, kind: "extra", reason: "it was deleted by runs prune, but exists again" }]
      : [];
  });
  return [...missing, ...wrong].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the records that are signed and not listed: their runs were ended before they could be. */
export function unlistedRecords({ records, list }: FetchedRuns): readonly RunRecord[] {
  if (list === "invalid") return [];
  return records.filter(({ name, trust }) => trust === "verified" && !list?.has(name));
}

/** What the signature of a record is made for. */
interface SignedRecord {
  readonly name: string;
  readonly tree: string;
  /** The message of its commit, without the signature. */
  readonly text: string;
}

function messageOf({
  run,
  merchants,
  outcome,
  by,
  actor,
  job,
  applied,
  uncommitted,
  pulls,
}: RunSummary): string {
  const trailers: readonly (readonly [string, string | null])[] = [
    ["Run", run],
    ...merchants.map((merchant) => ["Merchant", merchant] as const),
    ["Outcome", outcome],
    ["Ran-By", by],
    ["Actor", actor],
    ["Job", job],
    ["Applied-Commit", applied],
    ["Uncommitted-Changes", uncommitted ? "yes" : null],
    ...pulls.map((number) => ["Pull-Request", `#${number}`] as const),
  ];
  const lines = trailers.flatMap(([name, value]) => (value === null ? [] : `${name}: ${oneLine(value)}\n`));
  return `Run ${run}: ${outcome}\n\n${lines.join("")}`;
}

interface MessageParts {
  /** What is signed. */
  readonly text: string;
  readonly signature: { readonly keyId: string; readonly mac: string } | null;
}

function partsOf(message: string): MessageParts {
  const [, text, keyId, mac] = /^(.*\n)Signature: (\w+) (\w+)\n+$/s.exec(message) ?? [];
  if (text === undefined || keyId === undefined || mac === undefined)
    return { text: message, signature: null };
  return { text, signature: { keyId, mac } };
}

function summaryIn(text: string): RunSummary {
  const values = (name: string): readonly string[] =>
    [...text.matchAll(/^([A-Z][\w-]*): (.*)$/gm)].flatMap(([, key, value = ""]) =>
      key === name ? value : [],
    );
  const value = (name: string): string | null => values(name)[0] ?? null;
  return {
    run: value("Run") ?? "",
    merchants: values("Merchant"),
    outcome: value("Outcome") ?? "",
    by: value("Ran-By") ?? "",
    actor: value("Actor"),
    job: value("Job"),
    applied: value("Applied-Commit"),
    ...(value("Uncommitted-Changes") === "yes" && { uncommitted: true as const }),
    pulls: values("Pull-Request")
      .map((number) => Number(number.slice(1)))
      .filter(Number.isSafeInteger),
  };
}
