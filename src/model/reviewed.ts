import type { Environment } from "./desired.ts";
import type { JsonValue } from "./json.ts";

/** A value before and after a plan. */
export interface Reviewed<Value> {
  readonly before: Value;
  readonly after: Value;
  /** The value after a plan of the base branch's files; absent if it is the same, or if there is no base. */
  readonly base?: Value;
}

/**
 * The values of a role's or member's fields: JSON, in which a list is a set of texts. Members' roles are ids, or `new`
 * and a name.
 */
export type FieldValues = Readonly<Record<string, JsonValue>>;

/** A role or membership that a plan changes; its values are `null` while it does not exist. */
export interface ReviewedResource extends Reviewed<FieldValues | null> {
  /** The live id; `null` if the plan creates it. */
  readonly id: string | null;
  /** A role's name; a member's address in lower case, or its id without one. */
  readonly name: string;
  /** Set if a new role or member replaces `id`. */
  readonly replaced?: true;
  /** Set if `id` is an expired invitation beside a membership of the same address, which stays. */
  readonly leftover?: true;
  /** Set if the change is deferred: `after` is the state once it is made. */
  readonly deferred?: true;
}

/** The permissions of a person whose membership or roles a plan changes, as indexes of `permissionSets`. */
export interface ReviewedPerson {
  /** The address in lower case, else the id of the membership. */
  readonly name: string;
  readonly held: Reviewed<number>;
  /** Permissions that the person holds or could give themselves; `*` stands for every permission. */
  readonly reach: Reviewed<number>;
  /** Set if `after` counts a change that is deferred. */
  readonly deferred?: true;
}

/** A change that a date in the files causes after the review. */
export interface ReviewedDate {
  /** In ms since the epoch. */
  readonly at: number;
  /** The address in lower case. */
  readonly name: string;
  readonly what: "leaves" | "ends" | "begins" | "suspended" | "back";
  /** The roles that end or begin, as named in the file; empty for the whole membership. */
  readonly roles: readonly string[];
  /**
   * What the membership has from then on besides `roles`, as JSON: the fields of somebody who joins, and the roles of
   * somebody who is back. Absent: nothing.
   */
  readonly fields?: string;
  /** Set if it has no effect, because the person leaves, or the membership ends, before. */
  readonly hidden?: true;
  /** The permissions that begin: an index of `permissionSets`. */
  readonly brings: number;
  /** Permissions that the person then holds or could give themselves: an index of `permissionSets`. */
  readonly reach: number;
}

/**
 * The content of a plan of one merchant: the state before and after of each role and person that it touches, when it
 * was made, and what dates change later.
 */
export interface ReviewedState {
  readonly merchant: string;
  readonly environment: Environment | null;
  /** Base URL of the service that was read. */
  readonly service: string;
  /** The time as of which the plan was made, in ms since the epoch. */
  readonly at: number;
  /** `true` if it was compared with a plan of the base branch's files; then only rows with `base` are changes of the files. */
  readonly hasBase: boolean;
  /** Sets of permissions, each once and sorted; the first is empty. */
  readonly permissionSets: readonly (readonly string[])[];
  readonly roles: readonly ReviewedResource[];
  readonly members: readonly ReviewedResource[];
  /** Everybody whose membership or permissions change. */
  readonly people: readonly ReviewedPerson[];
  readonly dates: readonly ReviewedDate[];
  /** The dates in the base branch's files; absent if they are the same, or if there is no base. */
  readonly baseDates?: readonly ReviewedDate[];
}
