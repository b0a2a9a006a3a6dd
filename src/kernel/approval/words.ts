import { listText } from "../../lib/text.ts";
import type { RefusedChange } from "../../model/approval-account.ts";
import type { JsonValue } from "../../model/json.ts";
import { EVERYTHING } from "../plan/reviewed-state.ts";
import type { Item, SubjectKind } from "./rows.ts";

/** An item of a subject, with readable names. */
export interface NamedItem {
  readonly kind: SubjectKind;
  /** `null` if it is sealed and belongs to no live or listed person. */
  readonly name: string | null;
  readonly item: Item;
  /** The name of the role that an element of a member's roles identifies. */
  readonly role: string;
}

export const UNKNOWN_PERSON = "somebody who is not live or listed";

/** Says what a change would do to an item. */
export function reviewedChangeText(
  { kind, name, item, role }: NamedItem,
  value: JsonValue | undefined,
): string {
  const who = nameText(kind, name);
  const { field, element } = item;
  if (field === null) return value === true ? `${who} would be added` : `${who} would be removed`;
  if (element === undefined) return `the ${fieldText(field)} of ${who} would change`;
  if (kind === "role")
    return value === true ? `${who} would grant ${element}` : `${who} would no longer grant ${element}`;
  return value === true ? `${who} would get the role ${role}` : `${who} would lose the role ${role}`;
}

/** Says that the files no longer list somebody whose creation was reviewed. */
export function notListedText(name: string): string {
  return `the files do not list ${name}`;
}

/** Says how an item differs from its review. */
export function deviationText(
  { kind, name, item, role }: NamedItem,
  reviewed: JsonValue | undefined,
): string {
  const who = nameText(kind, name);
  const { field, element } = item;
  if (field === null) return reviewed === true ? `${who} is not there` : `${who} is still there`;
  if (element === undefined) return `the ${fieldText(field)} of ${who} is not the reviewed one`;
  if (kind === "role") {
    return reviewed === true ? `${who} does not grant ${element}` : `${who} still grants ${element}`;
  }
  if (kind === "person")
    return reviewed === true ? `${who} does not hold ${element}` : `${who} still holds ${element}`;
  return reviewed === true ? `${who} does not have the role ${role}` : `${who} still has the role ${role}`;
}

function nameText(kind: SubjectKind, name: string | null): string {
  if (name === null) return UNKNOWN_PERSON;
  if (kind === "role") return `the role ${name}`;
  return kind === "leftover" ? `the expired invitation ${name}` : name;
}

/** Names a field. */
export function fieldText(field: string): string {
  return field === "passwordEnv" ? "password variable" : field;
}

/** The ways in which a change affects somebody's permissions. */
export type ReviewedEffect = "gain" | "loss" | "reach";

/** Says what somebody would gain, lose or be able to gain, and through which roles. */
export function effectText(
  effect: ReviewedEffect,
  name: string | null,
  permissions: readonly string[],
  roles: readonly string[],
): string {
  const who = nameText("person", name);
  const what = listText(
    permissions.map((permission) => (permission === EVERYTHING ? "any permission" : permission)),
  );
  const through = roles.length === 0 ? "" : ` through ${listText(roles)}`;
  switch (effect) {
    case "gain":
      return `${who} would get ${what}${through}`;
    case "loss":
      return `${who} would lose ${what}`;
    case "reach":
      return `${who} could give themselves ${what}`;
    default:
      return effect satisfies never;
  }
}

/** Appends that no review shows it, or which review shows something else. */
export function unseenText(text: string, review: string | null): string {
  return review === null ? `${text}, which no review shows` : `${text}, but ${review} shows something else`;
}

/** Says that a review shows the removal of an earlier membership of the same address. */
export function newerMembershipText(review: string): string {
  return `the membership that ${review} removes is gone, and no review shows this newer one`;
}

/** Says that a change is not approved, and why. */
export function refusalSentence({ change: { kind, resource, name }, reasons }: RefusedChange): string {
  return `not approved: ${kind} ${resource} ${name}: ${reasons.join("; ")}.`;
}
