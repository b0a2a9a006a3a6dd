import fc from "fast-check";
import { expect, test } from "vitest";
import { adoptLive } from "../../../src/edit/adopt/adopt-live.ts";
import { type DividedMemberships, divideMemberships } from "../../../src/kernel/diff/entry-memberships.ts";
import type { DesiredMember } from "../../../src/model/desired.ts";
import type { LiveMember, MemberStatus } from "../../../src/model/live.ts";
import { desired, live, liveMember, liveRole, matches, member, NOW, planOf } from "../../support/build.ts";

const PEOPLE = ["ada", "bob", "cy", "di"].map((name) => `${name}@example.com`);
const IDS = [0, 1, 2, 3, 4, 5].map((number) => `mem_${number}`);
const STATUSES: readonly MemberStatus[] = ["accepted", "pending", "expired", "disabled"];

const memberships: fc.Arbitrary<readonly LiveMember[]> = fc
  .array(fc.tuple(fc.constantFrom(...PEOPLE), fc.constantFrom(...STATUSES)), { maxLength: IDS.length })
  .map((all) => all.map(([email, status], at) => liveMember(`mem_${at}`, email, { status })));

/** Entries of different people, of which one may have a previous address. */
const entries: fc.Arbitrary<readonly DesiredMember[]> = fc
  .record({
    emails: fc.shuffledSubarray(PEOPLE.slice(1)),
    ids: fc.shuffledSubarray([...IDS, "mem_gone", undefined, undefined]),
    isRenamed: fc.boolean(),
  })
  .map(({ emails, ids, isRenamed }) =>
    emails.map((email, at) => ({
      ...member(email),
      ...(ids[at] !== undefined && { id: ids[at] }),
      ...(isRenamed && at === 0 && { previously: PEOPLE.slice(0, 1) }),
    })),
  );

/** Returns the ids of memberships with a place of their own. */
function placed({ entries: listed, leaving, unlisted }: DividedMemberships): readonly string[] {
  const own = listed.flatMap(({ match, formers }) =>
    match.found === "one" ? [match.live, ...match.leftovers, ...formers] : formers,
  );
  return [...leaving, ...unlisted, ...own].map(({ id }) => id);
}

test("every membership belongs to one entry, to nobody, or to several that the plan reports", () => {
  fc.assert(
    fc.property(entries, memberships, fc.subarray(PEOPLE, { maxLength: 1 }), (listed, is, left) => {
      const divided = divideMemberships(listed, { members: is, ignoredMembers: [] }, new Set(left));
      const ids = placed(divided);
      expect(new Set(ids).size).toBe(ids.length);
      const unclear = divided.entries.flatMap(({ entry, match }) =>
        match.found === "many" || match.found === "pin-missing"
          ? [...match.live.map(({ id }) => id), ...is.flatMap(({ id }) => (id === entry.id ? id : []))]
          : [],
      );
      expect(new Set([...ids, ...unclear])).toEqual(new Set(is.map(({ id }) => id)));
    }),
  );
});

test("the order of entries and memberships does not matter", () => {
  fc.assert(
    fc.property(entries, memberships, (listed, is) => {
      const scope = { members: is, ignoredMembers: [] };
      const { entries: divided } = divideMemberships(listed, scope, new Set());
      const reversed = { ...scope, members: [...is].reverse() };
      const again = divideMemberships([...listed].reverse(), reversed, new Set());
      const ids = (one: DividedMemberships["entries"][number]) => ({
        ...one,
        formers: one.formers.map(({ id }) => id).sort(),
      });
      expect(again.entries.map(ids)).toEqual(divided.map(ids));
    }),
  );
});

test("a pull moves a pin from the membership of a previous address to that of the new one", () => {
  const is = live(
    [liveRole("role_1", "Cashier")],
    [
      liveMember("mem_1", "ada@old.example", { roles: ["role_1"] }),
      liveMember("mem_2", "ada@new.example", { roles: ["role_1"] }),
    ],
  );
  const entry = member("ada@new.example", {
    roles: ["Cashier"],
    id: "mem_1",
    previously: ["ada@old.example"],
  });
  const state = desired({ members: [entry] });
  const { findings } = planOf(state, is);
  expect(findings.map(({ code }) => code)).toContain("member-pin-former");
  const { edits } = adoptLive({ desired: state, live: is, findings, now: NOW, matches, unwritable: NOTHING });
  expect(edits).toEqual([{ kind: "update-member", member: entry, fields: { id: "mem_2" } }]);
});

const NOTHING = { roles: new Map(), members: new Map() };
