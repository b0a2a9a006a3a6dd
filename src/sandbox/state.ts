import { type Snapshot, snapshotSchema } from "./data.ts";
import type { Account, Store } from "./store.ts";

/** A state file that cannot be used. */
export class StateInvalid extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "StateInvalid";
  }
}

// Records never change, only their places do: each is written out once, however often the state is saved.
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
  const { roles, members, memberIds: _ids, byAddress: _index, ...head } = account;
  return `${JSON.stringify(head).slice(0, -1)},"roles":${listText(roles.values())},"members":${listText(members.values())}}`;
}

/** The text of a state file: JSON with one record on each line. */
export function stateText(store: Store): string {
  const head = JSON.stringify({ format: "rolecall-sandbox", version: 1, counter: store.counter });
  const accounts = [...store.merchants.values(), ...store.organizations.values()].map(accountText);
  const keys = listText(store.keys.values());
  return `${head.slice(0, -1)},"keys":${keys},"accounts":[\n${accounts.join(",\n")}\n]}\n`;
}

/** Reads a state file's text; throws `StateInvalid`. */
export function parseState(text: string): Snapshot {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new StateInvalid("it is not valid JSON");
  }
  const result = snapshotSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new StateInvalid(`${issue?.path.join(".") || "the whole"}: ${issue?.message}`);
}
