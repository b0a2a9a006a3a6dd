import type { Account } from "../state/store.ts";
import { type HitRequest, isOwner, pick } from "./concurrent-edits.ts";

/** How a listing moves under whoever pages through it. */
export const SHIFTS = ["remove", "add", "move"] as const;

/** One way in which a listing moves. */
export type Shift = (typeof SHIFTS)[number];

/** Says whether a request asks for a later page of all the members: only there a shift can be noticed. */
export function isLaterPage(operation: string, query: URLSearchParams): boolean {
  const filtered = [...query.keys()].some((name) => !["offset", "limit", "scroll"].includes(name));
  return operation === "members.list" && !filtered && Number(query.get("offset") ?? 0) > 0;
}

/**
 * What somebody else does between two pages: `remove` takes a member away that was on an earlier page (the next one
 * is skipped), `add` puts one in front (the last one comes again), `move` brings one from a later page to the front
 * (it is skipped, another comes again, and the count stays the same).
 */
export type ShiftStep =
  | { readonly kind: "remove"; readonly id: string }
  | { readonly kind: "add"; readonly email: string }
  | { readonly kind: "move"; readonly id: string };

/** Decides what moves; null where nothing can. */
export function shiftStep(
  shift: Shift,
  hit: HitRequest,
  account: Account | undefined,
  chance: number,
): ShiftStep | null {
  if (account === undefined) return null;
  const offset = Number(hit.query.get("offset") ?? 0);
  switch (shift) {
    case "remove": {
      const earlier = account.memberIds.slice(0, offset).filter((id) => !isOwner(account, id));
      const id = pick(earlier, chance);
      return id === undefined ? null : { kind: shift, id };
    }
    case "add":
      return { kind: shift, email: `shift-${hit.number}@example.com` };
    case "move": {
      const id = pick(account.memberIds.slice(offset), chance);
      return id === undefined ? null : { kind: shift, id };
    }
    default:
      return shift satisfies never;
  }
}
