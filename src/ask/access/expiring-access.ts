import { byCodeUnit } from "../../lib/text.ts";
import type { AccessEnd, AccessSnapshot, ExpiringAccess } from "../../model/questions.ts";

/** A period of time, in ms since the epoch: from after `now` until and with `last`. */
interface Period {
  readonly now: number;
  readonly last: number;
  /** Parses ISO 8601; NaN if it is invalid. */
  readonly timeOf: (text: string) => number;
}

/** Returns the ends of access in a period: the earliest first. */
export function endsOfAccess(
  snapshots: readonly AccessSnapshot[],
  { now, last, timeOf }: Period,
): readonly ExpiringAccess[] {
  return snapshots
    .flatMap((snapshot) => endsIn(snapshot, timeOf))
    .filter(({ ends }) => ends > now && ends <= last)
    .sort(
      (a, b) =>
        a.ends - b.ends ||
        byCodeUnit(a.member.name.toLowerCase(), b.member.name.toLowerCase()) ||
        byCodeUnit(a.merchant, b.merchant),
    );
}

function endsIn(
  { merchant, environment, roles, members }: AccessSnapshot,
  timeOf: Period["timeOf"],
): readonly ExpiringAccess[] {
  const names = new Map(roles.map(({ key, name }) => [key, name]));
  return members.flatMap((member): readonly ExpiringAccess[] => {
    const { name, email, id, end, held, origin, invitedUntil } = member;
    const subject = { merchant, environment, member: { name, email, id } };
    const origins = origin === null ? [] : [origin];
    const grants = held.flatMap(({ role, end: ending }) =>
      // The membership's end is one end, whatever is held.
      ending === null || ending.by !== "grant" ? [] : { ...endOf(ending), role: names.get(role) ?? role },
    );
    return [
      ...grants,
      ...(end === null ? [] : [{ ...endOf(end), role: null }]),
      ...(invitedUntil === null
        ? []
        : [
            {
              what: "invitation" as const,
              text: invitedUntil,
              ends: timeOf(invitedUntil),
              role: null,
              origins: origins,
            },
          ]),
    ].map((ending) => ({ ...subject, ...ending }));
  });
}

function endOf({ by, ...end }: AccessEnd): Pick<ExpiringAccess, "what" | "text" | "ends" | "origins"> {
  return { what: by, ...end };
}
