import type { Account } from "../state/store.ts";
import { type AdminRequest, type HitRequest, isOwner, pick } from "./concurrent-edits.ts";

/** Ways in which a list changes between two of its pages. */
export const SHIFTS = ["remove", "add", "move"] as const;
export type Shift = (typeof SHIFTS)[number];

/** Checks whether a request is for a later page of the unfiltered members, where a shift is noticeable. */
export function isLaterPage(operation: string, query: URLSearchParams): boolean {
  const filtered = [...query.keys()].some((name) => !["offset", "limit", "scroll"].includes(name));
  return operation === "members.list" && !filtered && Number(query.get("offset") ?? 0) > 0;
}

/**
 * Returns the concurrent requests to make between two pages: `remove` deletes a member of an earlier page (the next
 * one is skipped), `add` inserts one in front (the last one is repeated), `move` moves one from a later page to the front
 * (it is skipped, another is repeated, and the count is unchanged). Empty if nothing can move.
 */
export function driftRequests(
  shift: Shift,
  hit: HitRequest,
  account: Account,
  chance: number,
): readonly AdminRequest[] {
  const offset = Number(hit.query.get("offset") ?? 0);
  const members = `/merchants/${hit.merchant}/members`;
  const toFront = (member: string): AdminRequest => ({
    method: "POST",
    path: `${members}/${member}/to-front`,
  });
  switch (shift) {
    case "remove": {
      const earlier = account.memberIds.slice(0, offset).filter((id) => !isOwner(account, id));
      const id = pick(earlier, chance);
      return id === undefined ? [] : [{ method: "DELETE", path: `/v0.1${members}/${id}` }];
    }
    case "add": {
      const email = `shift-${hit.number}@example.com`;
      return [{ method: "POST", path: `/v0.1${members}`, body: { email, roles: [] } }, toFront(email)];
    }
    case "move": {
      const id = pick(account.memberIds.slice(offset), chance);
      return id === undefined ? [] : [toFront(id)];
    }
    default:
      return shift satisfies never;
  }
}
