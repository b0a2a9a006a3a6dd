import fc from "fast-check";
import { applyPlan } from "../../src/kernel/apply/apply-plan.ts";
import {
  type Comparison,
  compareReviewed,
  isFailure,
  remaining,
} from "../../src/kernel/approval/compare-reviewed.ts";
import type { Review } from "../../src/kernel/approval/merged-reviews.ts";
import { withBase } from "../../src/kernel/approval/with-base.ts";
import type { DesiredState } from "../../src/model/desired.ts";
import type { LiveState } from "../../src/model/live.ts";
import { applyPorts } from "../support/apply-ports.ts";
import { desired, live, liveMember, liveRole, member, NOW, role } from "../support/build.ts";
import { modelService } from "../support/model-service.ts";
import { freshOf, reviewOf } from "../support/reviews.ts";

const ROLES = ["Cashier", "Helper"] as const;
const PEOPLE = ["ada@example.com", "bob@example.com", "cy@example.com"] as const;
const PERMISSIONS = ["catalog_view", "refunds_create", "stock_edit"] as const;
const DAY = 86_400_000;

type RoleName = (typeof ROLES)[number];
type Person = (typeof PEOPLE)[number];
type Permission = (typeof PERMISSIONS)[number];

/** What the files say: what roles grant, and which roles people have, and until which day. */
interface Files {
  readonly roles: ReadonlyMap<RoleName, ReadonlySet<Permission>>;
  readonly members: ReadonlyMap<Person, ReadonlyMap<RoleName, number | null>>;
}

/** An edit of the files; listing somebody who is listed changes nothing until another edit removes him. */
type Edit =
  | { readonly does: "list"; readonly person: Person; readonly role: RoleName; readonly days: number | null }
  | { readonly does: "unlist"; readonly person: Person }
  | { readonly does: "revoke"; readonly person: Person; readonly role: RoleName }
  | { readonly does: "permit"; readonly role: RoleName; readonly permission: Permission }
  | { readonly does: "forbid"; readonly role: RoleName; readonly permission: Permission };

/** A step of a history. */
export type Step =
  /** A pull request, from the files as they are; its plan is reviewed, or not. */
  | { readonly step: "pull"; readonly edits: readonly Edit[]; readonly isReviewed: boolean }
  /** Merges an open pull request; an updated one has been planned and reviewed again. */
  | { readonly step: "merge"; readonly pull: number; readonly isUpdated: boolean }
  | { readonly step: "widen" | "narrow"; readonly role: RoleName; readonly permission: Permission }
  | { readonly step: "give"; readonly person: Person; readonly role: RoleName }
  | { readonly step: "wait"; readonly days: number }
  | { readonly step: "apply" };

const roleName = fc.constantFrom(...ROLES);
const person = fc.constantFrom(...PEOPLE);
const permission = fc.constantFrom(...PERMISSIONS);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    does: fc.constant("list" as const),
    person,
    role: roleName,
    days: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 2 }),
  }),
  fc.record({ does: fc.constant("unlist" as const), person }),
  fc.record({ does: fc.constant("revoke" as const), person, role: roleName }),
  fc.record({ does: fc.constant("permit" as const), role: roleName, permission }),
  fc.record({ does: fc.constant("forbid" as const), role: roleName, permission }),
);

const pull = fc.record({
  step: fc.constant("pull" as const),
  edits: fc.array(edit, { minLength: 1, maxLength: 2 }),
  isReviewed: fc.oneof({ weight: 7, arbitrary: fc.constant(true) }, fc.constant(false)),
});
const merge = fc.record({
  step: fc.constant("merge" as const),
  pull: fc.nat(2),
  isUpdated: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
});
const disturbance: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ step: fc.constantFrom("widen" as const, "narrow" as const), role: roleName, permission }),
  fc.record({ step: fc.constant("give" as const), person, role: roleName }),
  fc.record({ step: fc.constant("wait" as const), days: fc.integer({ min: 1, max: 5 }) }),
);

/** Some pull requests, most of which are merged; something else that happens before, between or after; an apply. */
const round: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.array(pull, { minLength: 1, maxLength: 3 }),
    fc.array(merge, { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(disturbance, fc.nat(6)), { maxLength: 2 }),
  )
  .map(([pulls, merges, others]) => {
    const steps: Step[] = [...pulls, ...merges];
    for (const [other, place] of others) steps.splice(place, 0, other);
    return [...steps, { step: "apply" }];
  });

/** Histories of some rounds, with pull requests that stay open from one to the next. */
export const histories: fc.Arbitrary<readonly Step[]> = fc
  .array(round, { minLength: 2, maxLength: 4 })
  .map((rounds) => rounds.flat());

function edited(files: Files, edits: readonly Edit[], today: number): Files {
  const roles = new Map(files.roles);
  const members = new Map(files.members);
  for (const one of edits) {
    if (one.does === "permit" || one.does === "forbid") {
      const granted = new Set(roles.get(one.role));
      if (one.does === "permit") granted.add(one.permission);
      else granted.delete(one.permission);
      roles.set(one.role, granted);
    } else if (one.does === "unlist") {
      members.delete(one.person);
    } else {
      const grants = new Map(members.get(one.person));
      if (one.does === "list") grants.set(one.role, one.days === null ? null : today + one.days * DAY);
      else grants.delete(one.role);
      if (grants.size === 0) members.delete(one.person);
      else members.set(one.person, grants);
    }
  }
  return { roles, members };
}

function desiredOf({ roles, members }: Files): DesiredState {
  return desired({
    roles: [...roles].map(([name, permissions]) => role(name, { permissions: [...permissions].sort() })),
    members: [...members].map(([email, grants], index) => ({
      ...member(email, {
        roles: [...grants].map(([name, ends]) => ({
          role: name,
          ...(ends !== null && { until: { text: new Date(ends).toISOString(), ends } }),
        })),
      }),
      origin: { file: "shop.yaml", path: ["members", index] },
    })),
  });
}

/** The permissions that each person holds, with `member` for the membership. */
type Held = ReadonlyMap<Person, ReadonlySet<string>>;

/** What the files give at a time. */
function declared({ roles, members }: Files, now: number): Held {
  return new Map(
    PEOPLE.map((email) => {
      const grants = [...(members.get(email) ?? [])].filter(([, ends]) => ends === null || ends > now);
      const granted = grants.flatMap(([name]) => [...(roles.get(name) ?? [])]);
      return [email, new Set(grants.length === 0 ? [] : ["member", ...granted])];
    }),
  );
}

function heldIn({ roles, members }: LiveState): Held {
  const granted = new Map(roles.map(({ id, permissions }) => [id, permissions]));
  return new Map(
    PEOPLE.map((email) => {
      const own = members.filter(({ user, invite }) => (user?.email ?? invite?.email) === email);
      const permissions = own.flatMap((one) => one.roles.flatMap((id) => granted.get(id) ?? []));
      return [email, new Set(own.length === 0 ? [] : ["member", ...permissions])];
    }),
  );
}

const ITEMS = PEOPLE.flatMap((email) =>
  ["member", ...PERMISSIONS].map((permission) => ({ email, permission })),
);

type ItemOf = (typeof ITEMS)[number];

const has = (held: Held, { email, permission }: ItemOf): boolean => held.get(email)?.has(permission) ?? false;

/** What the reviewer of a pull request saw: what was live, what its files and those of its base would leave. */
interface Sight {
  readonly name: string;
  readonly before: Held;
  readonly base: Held;
  readonly after: Held;
  readonly files: Files;
}

const changes = ({ base, after }: Sight, item: ItemOf): boolean => has(base, item) !== has(after, item);

/** Whoever comes or goes does so with all permissions. */
function decides(sight: Sight, item: ItemOf): boolean {
  const membership = { ...item, permission: "member" };
  return [item, membership].some(
    (one) => changes(sight, one) || has(sight.before, one) !== has(sight.after, one),
  );
}

function shows(sight: Sight, { email }: ItemOf): boolean {
  return ITEMS.some((item) => item.email === email && decides(sight, item));
}

interface Pull {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly base: Files;
  readonly review: Review | null;
  readonly sight: Sight | null;
}

const START: Files = {
  roles: new Map<RoleName, ReadonlySet<Permission>>([
    ["Cashier", new Set(["catalog_view"])],
    ["Helper", new Set(["refunds_create"])],
  ]),
  members: new Map([
    ["ada@example.com", new Map<RoleName, number | null>([["Cashier", null]])],
    ["bob@example.com", new Map<RoleName, number | null>([["Helper", null]])],
  ]),
};

function startLive(): LiveState {
  const roles = [...START.roles].map(([name, permissions], index) =>
    liveRole(`role_${index}`, name, { permissions: [...permissions] }),
  );
  return live(roles, [
    liveMember("mem_a", "ada@example.com", { roles: ["role_0"] }),
    liveMember("mem_b", "bob@example.com", { roles: ["role_1"] }),
  ]);
}

/** Runs a history; returns what broke the promise that what was reviewed is made: nothing more, nothing less. */
export async function brokenPromises(steps: readonly Step[]): Promise<readonly string[]> {
  const broken: string[] = [];
  let now = NOW;
  let main = START;
  let state = startLive();
  let reviews: readonly Review[] = [];
  let pulls: readonly Pull[] = [];
  let merged: readonly Sight[] = [];
  let unaccounted: readonly Sight[] = [];
  let count = 0;
  const planned = (name: string, edits: readonly Edit[], base: Files): Pick<Pull, "review" | "sight"> => {
    const head = edited(base, edits, now);
    const of = (files: Files) => reviewOf(name, desiredOf(files), state, now).state;
    return {
      review: { name, state: withBase(of(head), of(base)) },
      sight: {
        name,
        before: heldIn(state),
        base: declared(base, now),
        after: declared(head, now),
        files: head,
      },
    };
  };
  for (const one of steps) {
    switch (one.step) {
      case "pull": {
        count += 1;
        const name = `#${count}`;
        const { edits, isReviewed } = one;
        const seen = isReviewed ? planned(name, edits, main) : { review: null, sight: null };
        pulls = [...pulls, { name, edits, base: main, ...seen }];
        break;
      }
      case "merge": {
        const pull = pulls[one.pull % Math.max(pulls.length, 1)];
        if (pull === undefined) break;
        pulls = pulls.filter((other) => other !== pull);
        const { name, edits } = pull;
        const { review, sight } = one.isUpdated && pull.review !== null ? planned(name, edits, main) : pull;
        main = edited(main, edits, now);
        if (review !== null && sight !== null) {
          reviews = [...reviews, review];
          merged = [...merged, sight];
          unaccounted = [...unaccounted, sight];
        }
        break;
      }
      case "widen":
      case "narrow":
        state = {
          ...state,
          roles: state.roles.map((each) =>
            each.name === one.role ? { ...each, permissions: toggled(each.permissions, one) } : each,
          ),
        };
        break;
      case "give": {
        const id = state.roles.find(({ name }) => name === one.role)?.id ?? "";
        state = {
          ...state,
          members: state.members.map((each) =>
            (each.user?.email ?? each.invite?.email) === one.person
              ? { ...each, roles: [...new Set([...each.roles, id])] }
              : each,
          ),
        };
        break;
      }
      case "wait":
        now += one.days * DAY;
        break;
      case "apply": {
        const before = heldIn(state);
        const comparison = compareReviewed(reviews, freshOf(desiredOf(main), state, now));
        const service = modelService(state);
        await applyPlan(comparison.covered, applyPorts(service));
        state = withOwnIds(service.state(), state, now + steps.indexOf(one));
        broken.push(
          ...unseen({ before, after: heldIn(state), merged, main, now }),
          ...forgotten({ after: heldIn(state), merged, unaccounted, main, now }, comparison),
        );
        const done = new Set(comparison.covered.changes.map(({ fingerprint }) => fingerprint));
        reviews = remaining(comparison, done);
        unaccounted = [];
        break;
      }
      default:
        one satisfies never;
    }
  }
  return broken;
}

/** Gives those who are new ids that no later apply gives. */
function withOwnIds(state: LiveState, before: LiveState, run: number): LiveState {
  const known = new Set(before.members.map(({ id }) => id));
  const members = state.members.map((each) =>
    known.has(each.id) ? each : { ...each, id: `${each.id}_${run}` },
  );
  return { ...state, members };
}

function toggled(
  permissions: readonly string[],
  { step, permission: changed }: { readonly step: "widen" | "narrow"; readonly permission: Permission },
): readonly string[] {
  const others = permissions.filter((each) => each !== changed);
  return step === "widen" ? [...others, changed].sort() : others;
}

interface Applied {
  readonly after: Held;
  /** What the reviewers of merged pull requests saw, in the order of the merges. */
  readonly merged: readonly Sight[];
  readonly main: Files;
  readonly now: number;
}

/** Returns what an apply changed for people, and the last reviewer did not see so: nothing more. */
function unseen({
  before,
  after,
  merged,
  main,
  now,
}: Applied & { readonly before: Held }): readonly string[] {
  return ITEMS.filter((item) => has(before, item) !== has(after, item))
    .filter((item) => {
      const sight =
        merged.findLast((each) => decides(each, item)) ?? merged.findLast((each) => shows(each, item));
      const isSeen = sight !== undefined && has(sight.after, item) === has(after, item);
      return !isSeen && !hasEnded(item, { main, now, merged });
    })
    .map(({ email, permission: name }) => `unseen: ${email} ${name}`);
}

/** Returns whether a reviewed date of somebody is past. */
function hasEnded({ email }: ItemOf, { main, now, merged }: Omit<Applied, "after">): boolean {
  return [...(main.members.get(email) ?? [])].some(
    ([name, ends]) =>
      ends !== null &&
      ends <= now &&
      merged.some(({ files }) => files.members.get(email)?.get(name) === ends),
  );
}

/** Returns what was reviewed and merged, and is neither made nor reported: nothing less. */
function forgotten(
  { after, merged, unaccounted, main, now }: Applied & { readonly unaccounted: readonly Sight[] },
  comparison: Comparison,
): readonly string[] {
  if (isFailure(comparison)) return [];
  const declaredNow = declared(main, now);
  const other = ITEMS.filter((item) => has(after, item) !== has(declaredNow, item));
  const lost = unaccounted.flatMap((sight) =>
    ITEMS.filter((item) => changes(sight, item) && has(after, item) !== has(sight.after, item)).filter(
      (item) =>
        !merged
          .slice(merged.indexOf(sight) + 1)
          .some((later) => decides(later, item) || narrowsRole(later, item)) &&
        !hasEnded(item, { main, now, merged }),
    ),
  );
  return [
    ...other.map(({ email, permission: name }) => `not as the files: ${email} ${name}`),
    ...lost.map(({ email, permission: name }) => `forgotten: ${email} ${name}`),
  ];
}

/** Returns whether a review takes a permission away from a role, which shows those who hold it. */
function narrowsRole({ base, after }: Sight, { permission: name }: ItemOf): boolean {
  return PEOPLE.some((email) => {
    const item = { email, permission: name };
    return has(base, item) && !has(after, item);
  });
}
