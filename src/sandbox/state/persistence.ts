import { CHANGE_MARK, parseChange, type Snapshot, type StateChange, snapshotSchema } from "./snapshot.ts";
import type { Account, Store } from "./store.ts";

/** A file for the state; both methods resolve when the data survives a crash. */
export interface StateFile {
  /** Replaces the content with a whole state. */
  save(state: string): Promise<void>;
  /** Appends lines; absent: every save replaces the whole state. */
  readonly append?: ((lines: string) => Promise<void>) | undefined;
}

/** Writes state changes to a file: appends them and compacts from time to time. */
export interface Persistence {
  /** Queues a change as one line. */
  record(line: () => string): void;
  /** Makes the next flush write the whole state. */
  compactNext(): void;
  /** Writes all queued changes; calls must not overlap. */
  flush(): Promise<void>;
}

/** Compaction is not worthwhile below this, in UTF-16 units of appended lines. */
const MIN_COMPACTION_LENGTH = 1_048_576;

/** Creates a persistence that compacts when the appended lines are as long as the state itself. */
export function createPersistence(file: StateFile, stateText: () => string): Persistence {
  let pending: (() => string)[] = [];
  let whole = true;
  let room = 0;

  async function replace(): Promise<void> {
    const text = stateText();
    // Changes from here on are not part of that text.
    whole = false;
    pending = [];
    room = Math.max(MIN_COMPACTION_LENGTH, text.length);
    try {
      await file.save(text);
    } catch (error) {
      whole = true;
      throw error;
    }
  }

  return {
    record: (line) => {
      if (file.append !== undefined && !whole) pending.push(line);
    },
    compactNext: () => {
      whole = true;
      pending = [];
    },
    flush: async () => {
      if (whole || file.append === undefined) return replace();
      const text = pending.map((line) => `${line()}\n`).join("");
      pending = [];
      if (text === "") return;
      room -= text.length;
      if (room < 0) return replace();
      try {
        await file.append(text);
      } catch {
        // The file may end within a line, or be gone: only a whole state repairs that.
        await replace();
      }
    },
  };
}

/** Batches commits, so that concurrent writes share one save. */
export interface GroupCommit {
  /** Resolves when a save that started after this call is done. */
  commit(): Promise<void>;
  /** Resolves when no commit is pending. */
  whenIdle(): Promise<void>;
}

interface Waiting {
  resolve(): void;
  reject(error: unknown): void;
}

/** Creates a group commit; calls during a save share the next one. */
export function createGroupCommit(save: () => Promise<void>): GroupCommit {
  let waiting: Waiting[] = [];
  let busy = false;

  async function drain(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await save();
        for (const waiter of batch) waiter.resolve();
      } catch (error) {
        for (const waiter of batch) waiter.reject(error);
      }
    }
    busy = false;
  }

  const commit = (): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      if (!busy) void drain();
    });
  return { commit, whenIdle: async () => (busy ? commit() : undefined) };
}

/** Thrown for a state file that cannot be used. */
export class StateInvalid extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "StateInvalid";
  }
}

// Records are immutable, so each is serialized only once, however often the state is saved.
const written = new WeakMap<object, string>();

function recordText(record: object): string {
  const cached = written.get(record);
  if (cached !== undefined) return cached;
  const text = JSON.stringify(record);
  written.set(record, text);
  return text;
}

function listText(records: Iterable<object>): string {
  return `[\n${[...records].map(recordText).join(",\n")}\n]`;
}

function accountText(account: Account): string {
  const { type, id, name, logo, sandbox, parent, createdAt, updatedAt, roles, members } = account;
  const head = { type, id, name, logo, sandbox, parent, createdAt, updatedAt };
  return `${JSON.stringify(head).slice(0, -1)},"roles":${listText(roles.values())},"members":${listText(members.values())}}`;
}

/** Serializes a state as JSON with one record per line. */
export function stateText(store: Store): string {
  const head = JSON.stringify({ format: "rolecall-sandbox", version: 1, counter: store.counter });
  const accounts = [...store.merchants.values(), ...store.organizations.values()].map(accountText);
  const keys = listText(store.keys.values());
  return `${head.slice(0, -1)},"keys":${keys},"accounts":[\n${accounts.join(",\n")}\n]}\n`;
}

/** Serializes a change as one line, without a line break. */
export function changeText(change: StateChange): string {
  if (change.change === "counter") return JSON.stringify(change);
  const { member, role, ...rest } = change;
  const head = JSON.stringify(rest).slice(0, -1);
  if (member !== undefined) return `${head},"member":${recordText(member)}}`;
  return role === undefined ? `${head}}` : `${head},"role":${recordText(role)}}`;
}

/** A parsed state file: a snapshot and the changes since. */
export interface StateFileContent {
  readonly snapshot: Snapshot;
  readonly changes: readonly StateChange[];
}

function parseChanges(text: string): StateChange[] {
  // A line without a line break was cut off by a crash; its write never had a response.
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line, index) => {
    const change = parseChange(line);
    if (change === null) throw new StateInvalid(`change ${index + 1} is damaged`);
    return change;
  });
}

/** Removes a last line that a crash cut off within CHANGE_MARK. */
function withoutTornMark(text: string): string {
  const end = text.lastIndexOf("\n") + 1;
  return end > 0 && CHANGE_MARK.startsWith(text.slice(end)) ? text.slice(0, end) : text;
}

/** Parses a state file; throws `StateInvalid`. */
export function parseState(kept: string): StateFileContent {
  const text = withoutTornMark(kept);
  const end = text.indexOf(`\n${CHANGE_MARK}`);
  const state = end === -1 ? text : text.slice(0, end);
  const changes = end === -1 ? [] : parseChanges(text.slice(end + 1));
  let value: unknown;
  try {
    value = JSON.parse(state);
  } catch {
    throw new StateInvalid("it is not valid JSON");
  }
  const result = snapshotSchema.safeParse(value);
  if (result.success) return { snapshot: result.data, changes };
  const [issue] = result.error.issues;
  throw new StateInvalid(`${issue?.path.join(".") || "the root"}: ${issue?.message}`);
}
