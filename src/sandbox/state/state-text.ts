import { CHANGE_MARK, parseChange, type Snapshot, type StateChange, snapshotSchema } from "./snapshot.ts";
import type { Account, Store } from "./store.ts";

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
  const known = written.get(record);
  if (known !== undefined) return known;
  const text = JSON.stringify(record);
  written.set(record, text);
  return text;
}

function listText(records: Iterable<object>): string {
  return `[\n${[...records].map(recordText).join(",\n")}\n]`;
}

function accountText(account: Account): string {
  const { type, id, name, sandbox, parent, createdAt, updatedAt, roles, members } = account;
  const head = { type, id, name, sandbox, parent, createdAt, updatedAt };
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
  // A line without a line break was cut off by a crash; its write was never answered.
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line, at) => {
    const change = parseChange(line);
    if (change === null) throw new StateInvalid(`change ${at + 1} is damaged`);
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
