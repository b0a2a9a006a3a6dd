import type { DesiredState } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import type { FieldValues } from "../../model/reviewed.ts";
import { memberImageOf } from "../diff/member-changes.ts";
import type { Scope } from "../diff/scope.ts";
import { roleImage } from "../fields/role.ts";
import {
  memberRowValues,
  personPermissions,
  roleRowValues,
  rowsOfChange,
  unknownPermissions,
} from "../plan/reviewed-state.ts";
import { accessBefore } from "../rules/access.ts";
import type { Identities, Memberships } from "./identities.ts";
import {
  memberRows,
  personRow,
  type ReviewedRow,
  type RowSubject,
  replacedInvitation,
  roleRows,
  subjectText,
  withCurrentRoles,
} from "./rows.ts";
import { type Seal, sealedMember, sealedValues } from "./seal.ts";

/** The values of subjects in a state of the service. */
export type EndState = (subject: RowSubject) => FieldValues | null;

/** A row of a new plan, with the change that it comes from; `null` for an indirect effect. */
export interface FreshRow extends ReviewedRow {
  readonly fingerprint: string | null;
}

/**
 * Returns the rows of a plan, without those of people whose change is deferred; with `deferred`, only those of
 * deferred changes.
 */
export function freshRows(
  { changes, deferred, reviewed }: Plan,
  { seal, identities }: { readonly seal: Seal; readonly identities: Identities },
  which: "now" | "deferred" = "now",
): readonly FreshRow[] {
  const selected = which === "now" ? changes : deferred.map(({ change }) => change);
  const place = { list: "roles", index: 0 } as const;
  const rows = selected.flatMap((change): readonly FreshRow[] =>
    rowsOfChange(change).flatMap((row) => {
      const member = sealedMember(row, seal);
      const ownRows =
        change.resource === "role" ? roleRows(row, place, identities) : memberRows(member, place, identities);
      const implied = change.resource === "role" ? [] : replacedInvitation(member, place);
      return [
        ...ownRows.map((row) => ({ ...row, fingerprint: change.fingerprint })),
        ...implied.map((row) => ({ ...row, fingerprint: null })),
      ];
    }),
  );
  const people = reviewed.people.filter((row) => (row.deferred === true) === (which === "deferred"));
  return [
    ...rows,
    ...people.map((row) => ({
      ...personRow({ ...row, name: seal(row.name) }, reviewed, place, false),
      fingerprint: null,
    })),
  ];
}

/** Returns the state that results from applying rows to another one. */
export function endState(rows: readonly ReviewedRow[], live: EndState): EndState {
  const ends = new Map(rows.map((row) => [subjectText(row.subject), row.after]));
  return (subject) => {
    const end = ends.get(subjectText(subject));
    return end === undefined ? live(subject) : end;
  };
}

/** Inputs of a lookup in the live state. */
interface LiveMeans {
  readonly seal: Seal;
  readonly identities: Identities;
  readonly memberships: Memberships;
  /** Returns the name behind a sealed name; `null` if no live or listed person has it. */
  nameOf(sealed: string): string | null;
}

/** Returns the live state of subjects. */
export function liveEndState(
  live: LiveState,
  { policies }: DesiredState,
  { seal, identities, memberships: { byKey, expired }, nameOf }: LiveMeans,
): EndState {
  const roles = new Map(live.roles.map((role) => [role.id, role]));
  const refOf = (id: string): { id: string; name: string } => ({ id, name: roles.get(id)?.name ?? id });
  const access = accessBefore(wholeScope(live), { roles: [], members: [] }, { mergeReplacedRoles: false });
  const people = personPermissions(access, policies.escalation);
  return ({ kind, key }) => {
    switch (kind) {
      case "role": {
        const role = roles.get(key);
        if (role === undefined) return null;
        const isUnknown = role.predefined && role.permissions.length === 0;
        const values = roleRowValues(roleImage(role));
        return isUnknown ? { ...values, permissions: [unknownPermissions(role.name)] } : values;
      }
      case "member": {
        const member = byKey.get(key);
        if (member === undefined) return null;
        const values = memberRowValues(memberImageOf(member, { refOf }));
        return withCurrentRoles(sealedValues(values, seal), identities);
      }
      case "leftover":
        return expired.has(key) ? {} : null;
      case "person": {
        const name = nameOf(key);
        if (name === null) return { held: [], reach: [] };
        return { held: people.held(name), reach: people.reach(name) };
      }
      default:
        return kind satisfies never;
    }
  };
}

/** Returns everything that is live: `ignore` hides it from plans, not from reviews. */
function wholeScope({ roles, members }: LiveState): Scope {
  return {
    roles,
    members,
    temporarilyNamed: new Set(),
    ignoredRoles: new Set(),
    ignoredLiveRoles: [],
    ignoredMembers: [],
  };
}
