import { entryOf } from "../../kernel/plan/due-since.ts";
import type { TimedState } from "../../kernel/plan/upcoming-dates.ts";
import type { RoleRef } from "../../model/field-values.ts";
import type { MemberChange } from "../../model/plan.ts";
import type { AccessHistory } from "./access-history.ts";

/** Access that was live after its end in the files. */
export interface LateEnd {
  readonly name: string;
  /** Its names of roles; the whole membership if all of them ended. */
  readonly roles: readonly string[];
  /** The first moment without access by the files, in ms since the epoch. */
  readonly ended: number;
  /** The time at which the access is known to have been live still, in ms since the epoch. */
  readonly liveAt: number;
  /** The run that took it away; `null` if no run has. */
  readonly run: string | null;
  /** True if it was still live at the end of what is known. */
  readonly isLive: boolean;
}

/** Time for a nightly run to take access away, in ms. */
const GRACE = 24 * 3_600_000;

/** Returns what the files of a merchant declared at a moment; `null` if that is unknown. */
export type DeclaredAt = (moment: number) => Promise<TimedState | null>;

/** Returns the access that outlived its end in the files by more than a day, by what took it away and what is still known. */
export async function lateEnds(
  { changes, known, seenAt }: AccessHistory,
  declaredAt: DeclaredAt,
): Promise<readonly LateEnd[]> {
  const late: LateEnd[] = [];
  for (const { at, since, change, run } of changes) {
    const removed = change.resource === "member" ? removedRoles(change) : [];
    if (change.resource !== "member" || removed.length === 0) continue;
    const liveAt = since ?? at;
    late.push(
      ...(await endedBefore(change, removed, liveAt, declaredAt)).map((end) => ({
        ...end,
        run,
        isLive: false,
      })),
    );
  }
  for (const { resource, id, name, image } of known) {
    if (resource !== "member" || image === null || seenAt === null) continue;
    const member = { id, name } as MemberChange;
    const ends = await endedBefore(member, image.roles, seenAt, declaredAt);
    late.push(...ends.map((end) => ({ ...end, run: null, isLive: true })));
  }
  return late;
}

function removedRoles({ kind, before, fields }: MemberChange): readonly RoleRef[] {
  if (kind === "delete") return before.roles;
  return fields.flatMap((diff) => (diff.field === "roles" ? diff.removed : []));
}

/** Returns the ends of roles of a member that had come more than a day before a moment, with one end for those of one time. */
async function endedBefore(
  member: MemberChange,
  roles: readonly RoleRef[],
  liveAt: number,
  declaredAt: DeclaredAt,
): Promise<readonly Pick<LateEnd, "name" | "roles" | "ended" | "liveAt">[]> {
  const declared = await declaredAt(liveAt);
  if (declared === null) return [];
  const byEnd = new Map<number, string[]>();
  for (const role of roles) {
    const ended = endOf(role, member, declared);
    if (ended === null || liveAt - ended <= GRACE) continue;
    // An end that was declared later than it came is not late by it.
    const then = await declaredAt(ended);
    if (then === null || endOf(role, member, then) !== ended) continue;
    byEnd.set(ended, [...(byEnd.get(ended) ?? []), role.name]);
  }
  return [...byEnd].map(([ended, names]) => ({ name: member.name, roles: names, ended, liveAt }));
}

/** Returns the first end of a member's role by the files; `null` if they set none. */
function endOf({ id, name }: RoleRef, member: MemberChange, declared: TimedState): number | null {
  const entry = entryOf(member, declared);
  const leaver = declared.leavers?.find(({ email }) => email.toLowerCase() === member.name.toLowerCase());
  const grants = (entry?.roles ?? []).filter(({ role }) => role === name || role === id);
  const ends = grants.map(({ until }) => until?.ends ?? Number.POSITIVE_INFINITY);
  const times = [
    ...(ends.length === 0 ? [] : [Math.max(...ends)]),
    entry?.until?.ends,
    entry?.suspended?.from?.starts,
    leaver?.from.starts,
  ].filter((time) => time !== undefined);
  const first = Math.min(...times);
  return Number.isFinite(first) ? first : null;
}
