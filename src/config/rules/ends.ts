import type { Problem } from "../diagnostics/problem.ts";
import type { Draft, DraftEnd, DraftMember } from "../raw-file.ts";

/** Access that ends does so in the future, and no later than the membership that it belongs to. */
export function futureEnds({ members }: Draft, now: number): readonly Problem[] {
  return members
    .filter(({ end, grants }) => end !== null || grants.some((grant) => grant.end !== null))
    .flatMap((member) => [
      ...pastEnd(member.end, "membership", now),
      ...member.grants.flatMap(({ end }) => [...pastEnd(end, "grant", now), ...lateEnd(end, member)]),
    ]);
}

function pastEnd(end: DraftEnd | null, what: "grant" | "membership", now: number): readonly Problem[] {
  const until = end?.until ?? null;
  return end === null || until === null || until.ends > now
    ? []
    : [{ code: "until-past", until: until.text, what, place: { at: "value", path: end.path } }];
}

function lateEnd(end: DraftEnd | null, { end: membership }: DraftMember): readonly Problem[] {
  const [own, whole] = [end?.until ?? null, membership?.until ?? null];
  return end === null || membership === null || own === null || whole === null || own.ends <= whole.ends
    ? []
    : [
        {
          code: "until-after-membership",
          until: own.text,
          membership: whole.text,
          place: { at: "value", path: end.path },
          first: { at: "value", path: membership.path },
        },
      ];
}
