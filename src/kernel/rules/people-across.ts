import { memoized } from "../../lib/memoized.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import { addressOf, wholeScope } from "../diff/scope.ts";
import { openPersonKeys } from "../values/person.ts";
import {
  type Access,
  accessAfter,
  accessBefore,
  granting,
  type PersonAccess,
  splitByResource,
} from "./access.ts";
import { openDeclared } from "./judge-rules.ts";
import { reaching } from "./reach.ts";
import { currentNameIn } from "./renamed-roles.ts";

/** A plan with the states that it was made from. */
export interface PlanInRun {
  readonly plan: Plan;
  readonly files: DesiredState;
  readonly live: LiveState;
  /** False if the plan will not be applied, so that nobody loses anything. */
  readonly isApplied?: false;
}

/** The part of a plan that rules across merchants judge. */
export type CountedPlan = Pick<Plan, "merchant" | "changes" | "deferred" | "refusals" | "findings"> & {
  readonly reviewed: Pick<Plan["reviewed"], "at">;
};

/** Such a part, with the states that the plan was made from. */
export type CountedPart<P extends CountedPlan = CountedPlan> = Omit<PlanInRun, "plan"> & { readonly plan: P };

/** A count of people at each merchant: holders of a role, or those who have a permission or can reach it. */
export interface Counted {
  readonly what: "role" | "permission" | "reach";
  readonly name: string;
}

/** The access at a merchant: live, after its plan, and after the deferred changes. */
export type AccessPhase = "before" | "after" | "settled";

type AccessIn = (phase: AccessPhase) => Access;

/** A merchant whose people count. */
export interface CountedMerchant {
  readonly files: DesiredState;
  readonly isPlanned: boolean;
  /** Returns the keys of the people who hold something that a rule counts. */
  readonly people: (phase: AccessPhase, counted: Counted) => ReadonlySet<string>;
  /** Returns the permissions that its roles grant. */
  readonly permissions: () => readonly string[];
  /** Returns the roles of unknown permissions that somebody holds after the plan, by name. */
  readonly unknownRoles: () => readonly string[];
  /** Returns whether it has a role of a name. */
  readonly hasRole: (name: string) => boolean;
}

/** Opens the merchants of a project; for one without a plan, the declared access counts. */
export function openMerchants(
  planned: readonly CountedPart[],
  declared: readonly DesiredState[],
  now: number,
): readonly CountedMerchant[] {
  const codes = new Set(planned.map(({ plan }) => plan.merchant));
  const unread = declared.filter(({ merchant }) => !codes.has(merchant));
  const liveAddresses = new Map(
    planned.flatMap(({ plan, live }) =>
      live.members.flatMap((member) => {
        const address = addressOf(member);
        return address === null ? [] : [[`${plan.merchant} ${member.id}`, address] as const];
      }),
    ),
  );
  const personOf = openPersonKeys([...planned.map(({ files }) => files), ...unread], (merchant, id) =>
    liveAddresses.get(`${merchant} ${id}`),
  );
  const accesses = planned.map(accessesOf);
  // Files do not say what predefined roles grant, but every merchant has the same ones.
  const predefined = accesses.flatMap((access) =>
    [...access("before").roles].filter(([, { custom }]) => !custom),
  );
  return [
    ...planned.map(({ files }, index) => openMerchant(files, true, accesses[index] as AccessIn, personOf)),
    ...unread.map((files) => {
      const { roles, ...declared } = openDeclared(files, now).access;
      const access = { ...declared, roles: new Map([...predefined, ...roles]) };
      return openMerchant(files, false, () => access, personOf);
    }),
  ];
}

function accessesOf({ plan, live }: CountedPart): AccessIn {
  const merged = { mergeReplacedRoles: true } as const;
  const changes = splitByResource(plan.changes);
  const before = accessBefore(wholeScope(live), changes, merged);
  const after = accessAfter(before, changes, merged);
  const waiting = splitByResource(plan.deferred.map(({ change }) => change));
  const settled = accessAfter(after, waiting, merged);
  return (phase) => ({ before, after, settled })[phase];
}

/** Opens a merchant; a member without an address is never the same person as a member of another merchant. */
function openMerchant(
  files: DesiredState,
  isPlanned: boolean,
  accessIn: AccessIn,
  personOf: (address: string) => string,
): CountedMerchant {
  const keyOf = ({ email, name }: PersonAccess): string =>
    email === null ? `${files.merchant} ${name}` : personOf(email);
  const judges = memoized((phase: AccessPhase) => ({
    granted: granting(accessIn(phase), () => true),
    reach: reaching(accessIn(phase), files.policies.escalation),
  }));
  const holds = (phase: AccessPhase, { what, name }: Counted): ((person: PersonAccess) => boolean) => {
    const { roles } = accessIn(phase);
    const { granted, reach } = judges(phase);
    const isMeant = roleNamed(name, files);
    // Files may grant a role without declaring it.
    const isHeld = memoized((key: string) => isMeant(roles.get(key) ?? { id: key, name: key }));
    switch (what) {
      case "role":
        return (person) => person.roles.some(isHeld);
      case "permission":
        return (person) => granted(person).permissions.has(name);
      case "reach":
        return (person) => reach(person).includes(name);
      default:
        return what satisfies never;
    }
  };
  const people = memoized(
    ([phase, counted]: readonly [AccessPhase, Counted]): ReadonlySet<string> =>
      new Set(accessIn(phase).people.filter(holds(phase, counted)).map(keyOf)),
    JSON.stringify,
  );
  const all = [accessIn("before"), accessIn("after")].flatMap(({ roles }) => [...roles.values()]);
  return {
    files,
    isPlanned,
    people: (phase, counted) => people([phase, counted]),
    permissions: () => all.flatMap(({ permissions }) => permissions ?? []),
    unknownRoles: () => accessIn("after").people.flatMap((person) => judges("after").granted(person).unknown),
    hasRole: (name) =>
      all.some(roleNamed(name, files)) || (files.roles ?? []).some((role) => role.name === name),
  };
}

/** Returns a merchant where nobody loses anything, because its plan is refused or not applied. */
export function withoutLosses(merchant: CountedMerchant): CountedMerchant {
  const { people } = merchant;
  return {
    ...merchant,
    people: (phase, counted) => new Set([...people("before", counted), ...people(phase, counted)]),
  };
}

/**
 * Returns whether a name or id refers to a role of a merchant; a name refers to every role with that name, even before
 * a rename.
 */
function roleNamed(
  name: string,
  files: DesiredState,
): (role: { readonly id: string | null; readonly name: string }) => boolean {
  const { roles = [] } = files;
  const now = currentNameIn(files, files)(name);
  const declared = roles.find((role) => role.name === now);
  const names = new Set([now, ...(declared?.previously ?? [])]);
  const others = roles.filter((role) => role !== declared);
  const otherNames = new Set(others.flatMap((role) => [role.name, role.id ?? role.name]));
  return (role) =>
    role.id === name ||
    (declared?.id !== undefined && role.id === declared.id) ||
    (names.has(role.name) && !otherNames.has(role.name) && !otherNames.has(role.id ?? role.name));
}
