import { canonicalJson } from "../lib/json-text.ts";
import { changeRef, STATE } from "./change-ref.ts";
import { type FileEdits, type GitRefs, type RefMove, textsOf } from "./git-refs.ts";
import { seal, unseal } from "./sealed-json.ts";

/** Common properties of the records of a service and label in a repository. */
export interface RecordScope {
  /** Hexadecimal digest of service and label: records of others are not touched. */
  readonly family: string;
  /** The key of all signatures. */
  readonly key: string;
}

/** Facts about the run that made the reviewed states of a pull request. */
export interface RecordedRun {
  /** Head commit that was planned. */
  readonly head: string;
  /** Branch that it is to be merged into, whose rules have judged the plan. */
  readonly base: string;
  /** Ids of the reviews that had been submitted by then, or environments that were approved: none is of this plan. */
  readonly earlier: readonly (number | string)[];
  /** Id of the comment that shows the plan; `null` if there is none. */
  readonly comment: number | null;
  /** The merchants whose plans a rule of the base branch refused: nothing of them is recorded. */
  readonly refused: readonly string[];
}

export interface RecordedStates<Reviewed> extends RecordedRun {
  readonly number: number;
  readonly merchants: ReadonlyMap<string, Reviewed>;
}

export type NewRun<Reviewed> = Omit<RecordedStates<Reviewed>, "number">;

/** The records of a repository as they were fetched. */
export interface Records<Reviewed, State> {
  /** Names of the recorded reviews, such as `reviews/7`. */
  readonly names: readonly string[];
  /** Returns what was recorded under a name, the oldest run first; without runs that this key has not signed. */
  runsOf(name: string): Promise<readonly RecordedStates<Reviewed>[]>;
  /** The state by merchant; `null` for one that this key has not signed. */
  readonly states: ReadonlyMap<string, State | null>;
}

/** The records of one service and label. Every method throws RolecallError. */
export interface RecordStore<Reviewed, State> {
  read(): Promise<Records<Reviewed, State>>;
  /** Adds a run to a recorded review, or none; drops the runs that are not to be kept. */
  editRuns(
    name: string,
    added: NewRun<Reviewed> | null,
    keep: (run: RecordedStates<Reviewed>) => boolean,
  ): Promise<void>;
  /** Changes states by what they are at that moment, also if others change them; `null` removes one. */
  updateStates(
    change: (states: ReadonlyMap<string, State | null>) => ReadonlyMap<string, State | null>,
  ): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
}

/** The refs of reviews and states; those of runs are not needed here. */
const NAMES: readonly string[] = [`${STATE}*`, "reviews/*", "waiting/*"];

/** Opens the records of a service and label; nothing is fetched yet. */
export function openRecords<Reviewed extends object, State extends object>(
  refs: GitRefs,
  { family, key }: RecordScope,
  sleep: (ms: number) => Promise<void>,
): RecordStore<Reviewed, State> {
  /** The files that each ref had when it was read last. */
  const known = new Map<string, { readonly commit: string; readonly files: ReadonlyMap<string, string> }>();
  const filesOf = async (ref: string, commit: string | undefined): Promise<ReadonlyMap<string, string>> => {
    if (commit === undefined) return new Map();
    const last = known.get(ref);
    if (last?.commit === commit) return last.files;
    const files = await textsOf(commit, refs);
    known.set(ref, { commit, files });
    return files;
  };
  const statesIn = (files: ReadonlyMap<string, string>): ReadonlyMap<string, State | null> =>
    new Map(
      [...files].flatMap(([path, text]) => {
        const merchant = codeIn(path, `${family}/`);
        const place = placeOf(STATE, family, merchant ?? "");
        return merchant === null ? [] : [[merchant, unseal(text, place, key) as State | null] as const];
      }),
    );
  const runsIn = (name: string, files: ReadonlyMap<string, string>): readonly RecordedStates<Reviewed>[] =>
    runNumbers(files, family).flatMap((number) => {
      const folder = `${family}/${number}/`;
      const about = unseal(files.get(`${folder}${RUN}`) ?? "", placeOf(name, family, String(number)), key);
      if (about === null) return [];
      const run = about as RecordedRun;
      const merchants = [...files].flatMap(([path, text]) => {
        const merchant = path.endsWith(RUN) ? null : codeIn(path, folder);
        const value = merchant && unseal(text, placeOf(name, family, number, merchant, run), key);
        return value ? [[merchant, value as Reviewed] as const] : [];
      });
      return [{ ...run, number, merchants: new Map(merchants) }];
    });
  const change = async (
    ref: string,
    message: string,
    edit: (files: ReadonlyMap<string, string>) => FileEdits,
  ): Promise<void> => {
    await changeRef(refs, ref, message, (from) => filesOf(ref, from).then(edit), sleep);
  };
  return {
    read: async () => {
      const fetched = await refs.fetch(NAMES);
      return {
        names: [...fetched.keys()].filter((name) => name !== STATE),
        runsOf: async (name) => runsIn(name, await filesOf(name, fetched.get(name))),
        states: statesIn(await filesOf(STATE, fetched.get(STATE))),
      };
    },
    editRuns: async (name, added, keep) =>
      change(name, added === null ? "Drop a plan" : `Plan of ${added.head}`, (files) => {
        const kept = new Set(runsIn(name, files).flatMap((record) => (keep(record) ? [record.number] : [])));
        const dropped = [...files.keys()].filter((path) => isDropped(path, family, kept));
        const edits = new Map<string, string | null>(dropped.map((path) => [path, null]));
        if (added === null) return edits;
        const number = Math.max(0, ...runNumbers(files, family)) + 1;
        const folder = `${family}/${number}/`;
        const { head, base, earlier, comment, refused } = added;
        const about: RecordedRun = { head, base, earlier, comment, refused };
        edits.set(`${folder}${RUN}`, seal(about, placeOf(name, family, String(number)), key));
        for (const [merchant, value] of added.merchants) {
          edits.set(
            `${folder}${merchant}.json`,
            seal(value, placeOf(name, family, number, merchant, about), key),
          );
        }
        return edits;
      }),
    updateStates: async (update) =>
      change(STATE, "Apply", (files) => {
        const edits = new Map<string, string | null>();
        for (const [merchant, state] of update(statesIn(files))) {
          const path = `${family}/${merchant}.json`;
          const text = state && seal(state, placeOf(STATE, family, merchant), key);
          if ((files.get(path) ?? null) !== text) edits.set(path, text);
        }
        return edits;
      }),
    remove: async (names) => {
      if (names.length === 0) return;
      const fetched = await refs.fetch(NAMES);
      const moves: RefMove[] = [];
      for (const ref of names) {
        const from = fetched.get(ref);
        const paths = [...(await filesOf(ref, from)).keys()];
        const familyPaths = paths.filter((path) => path.startsWith(`${family}/`));
        if (from === undefined || familyPaths.length === 0) continue;
        const edits = new Map(familyPaths.map((path) => [path, null]));
        const rest = familyPaths.length < paths.length ? await refs.commit(from, edits, "Applied") : null;
        moves.push({ ref, from, to: rest });
      }
      // One that a plan has moved meanwhile is removed by a later run.
      await refs.push(moves);
    },
  };
}

const RUN = "run.json";

function placeOf(...parts: readonly unknown[]): string {
  return canonicalJson(parts);
}

function runNumbers(files: ReadonlyMap<string, string>, family: string): readonly number[] {
  const names = [...files.keys()].flatMap((path) => {
    const [folder, number, file] = path.split("/");
    return folder === family && file === RUN ? Number(number) : [];
  });
  return names.filter(Number.isSafeInteger).sort((a, b) => a - b);
}

function isDropped(path: string, family: string, kept: ReadonlySet<number>): boolean {
  const [folder, number] = path.split("/");
  return folder === family && !kept.has(Number(number));
}

/** Returns the merchant that a file of a folder is of; `null` for another file. */
function codeIn(path: string, folder: string): string | null {
  const name = path.startsWith(folder) && path.endsWith(".json") ? path.slice(folder.length, -5) : "";
  return name === "" || name.includes("/") ? null : name;
}
