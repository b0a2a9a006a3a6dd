import fc from "fast-check";

/** A merchant: what is live there, and what its file wants of it. */
export interface Shop {
  readonly world: World;
  readonly want: Want;
}

/** One try: one or more merchants, what goes wrong meanwhile, and how the apply is cut short. */
export interface Scenario extends Shop {
  /** Merchants that are applied in the same run. */
  readonly further: readonly Shop[];
  readonly faults: readonly object[];
  /** How the service behaves for good. */
  readonly habits: readonly object[];
  /** The service empties what a member's PUT does not hold. */
  readonly replacingPut: boolean;
  readonly crash: Crash;
  /** The files declare a test account, and by the service it is a live one. */
  readonly isOtherAccount: boolean;
  /** A second apply of the same files at the same time. */
  readonly racing: boolean;
  readonly recheck: boolean;
  readonly concurrency: number;
}

/** What is live before: a seed of the sandbox, less its keys. */
export interface World {
  readonly roles: readonly WorldRole[];
  readonly members: readonly WorldMember[];
}

interface WorldRole {
  readonly id: string;
  readonly name: string;
  readonly permissions: readonly string[];
  readonly description?: string;
  readonly metadata?: object;
}

interface WorldMember {
  readonly id: string;
  readonly email: string;
  readonly roles: readonly string[];
  readonly status?: string;
  readonly metadata?: object;
  readonly managed?: object;
  readonly service_account?: boolean;
}

/** What the merchant's file says of roles and members. */
export interface Want {
  readonly sync: object;
  readonly roles?: readonly object[];
  readonly members?: readonly object[];
}

/** The effect on the apply when the service receives its nth request: before it is executed, or after, unanswered. */
export interface Crash {
  readonly kind: "none" | "SIGKILL" | "SIGINT" | "SIGTERM";
  /** Counted from 1, over all requests of the apply. */
  readonly request: number;
  readonly when: "before" | "after";
}

/** Always there, and the key's owner. */
export const OWNER = "owner@example.com";

/** Live, matched by `ignore`, and never to be touched. */
export const IGNORED = "eve@auditor.example";

const ROLES = ["Cashier", "Shift Lead", "Auditor", "Stock Keeper", "Ünïcode ✓"] as const;
const NEW_ROLES = ["Courier", "Night Shift"] as const;
const PEOPLE = ["ada", "Bob", "cy", "di", "eli", "fay", "gus", "hal"].map((name) => `${name}@example.com`);
const TILLS = ["till-1@example.com", "till-2@example.com"];

const permissions = fc.subarray(["catalog_view", "refunds_create", "payouts_view", "stock_edit"]);
const metadata = fc.constantFrom({}, { team: "a" }, { team: "b", since: 3 });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const worldRoles: fc.Arbitrary<readonly WorldRole[]> = fc.subarray([...ROLES]).chain((names) =>
  fc.tuple(
    ...names.map((name, index) =>
      fc.record({
        id: fc.constant(`role_w${index}`),
        name: fc.constant(name),
        permissions,
        description: fc.constantFrom("", "Till", "Office"),
        metadata,
      }),
    ),
  ),
);

function worldMembers(roles: readonly WorldRole[]): fc.Arbitrary<readonly WorldMember[]> {
  const held = fc.subarray([...roles.map(({ name }) => name), "role_employee"]);
  return fc.subarray([...PEOPLE, ...TILLS]).chain((emails) =>
    fc.tuple(
      ...emails.map((email, index) =>
        fc
          .record({
            id: fc.constant(`mem_w${index}`),
            email: fc.constant(email),
            roles: held,
            metadata,
            status: fc.constantFrom("accepted", "accepted", "pending", "expired", "expired"),
          })
          .map((one) =>
            TILLS.includes(email)
              ? { ...one, status: "accepted", managed: { nickname: `Till ${index}` } }
              : one,
          ),
      ),
    ),
  );
}

const world: fc.Arbitrary<World> = worldRoles.chain((roles) =>
  worldMembers(roles).map((members) => ({
    roles,
    members: [
      { id: "mem_owner", email: OWNER, roles: ["role_owner"] },
      { id: "mem_ignored", email: IGNORED, roles: ["role_employee"] },
      ...members,
    ],
  })),
);

/** Roles that the file declares: some of the live ones changed, renamed or left out, and new ones. */
function wantedRoles(live: readonly WorldRole[]): fc.Arbitrary<readonly NamedRole[]> {
  const renamed = fc.subarray([...NEW_ROLES]);
  return fc.tuple(fc.subarray([...ROLES], { minLength: 1 }), renamed).chain(([kept, added]) => {
    const gone = live.filter(({ name }) => !kept.some((one) => one === name));
    return fc.tuple(
      ...[...kept, ...added].map((name, index) =>
        fc
          .record({
            permissions,
            description: maybe(fc.constantFrom("", "Till", "Office")),
            metadata: maybe(metadata),
            renames: fc.boolean(),
          })
          .map(({ renames, ...fields }): NamedRole => {
            // Each live role that is left out can be the former name of one new role.
            const former = added.some((one) => one === name) ? gone[index - kept.length]?.name : undefined;
            return { name, ...fields, ...(renames && former !== undefined && { previously: former }) };
          }),
      ),
    );
  });
}

interface NamedRole {
  readonly name: string;
  readonly metadata?: object | undefined;
}

function wantedMembers(roles: readonly NamedRole[]): fc.Arbitrary<readonly object[]> {
  const held = fc.subarray([...roles.map(({ name }) => name), "role_employee"]);
  return fc.subarray([...PEOPLE, ...TILLS]).chain((emails) =>
    fc
      .tuple(
        ...emails.map((email) =>
          fc
            .record({
              email: fc.constant(email),
              roles: maybe(held),
              metadata: maybe(metadata),
              moves: fc.nat(5).map((lot) => lot === 0),
            })
            .map(({ roles: some, moves, ...one }) => ({
              ...one,
              ...(moves && { email: `new.${email}`, previously: email }),
              ...(some !== undefined && { roles: some }),
            }))
            .map((one) =>
              TILLS.includes(email)
                ? { ...one, managed: { nickname: `At ${email}`, password_env: "TILL_PASSWORD" } }
                : one,
            ),
        ),
      )
      .map((members) => [{ email: OWNER, roles: ["role_owner"] }, ...members]),
  );
}

const mode = fc.constantFrom("authoritative", "authoritative", "additive");

/** Mostly something that a plan has nothing against: what somebody still holds stays, and what cannot be replaced is not. */
function want({ roles: live }: World): fc.Arbitrary<Want> {
  const sync = fc.record({ roles: mode, members: mode, reinvite: fc.boolean(), replace_roles: mode });
  return fc.tuple(sync, wantedRoles(live)).chain(([how, roles]) =>
    fc.tuple(maybe(wantedMembers(roles)), fc.nat(19)).map(([members, lot]) => {
      if (lot === 0) return { sync: { ...how, replace_roles: false }, roles, ...(members && { members }) };
      const keepsPeople = members === undefined || how.members === "additive";
      const replaces = how.replace_roles === "authoritative" && !keepsPeople;
      return {
        sync: { ...how, replace_roles: replaces, ...(keepsPeople && { roles: "additive" }) },
        roles: replaces ? roles : roles.map(withoutMetadata),
        ...(members && { members }),
      };
    }),
  );
}

function withoutMetadata({ metadata: _, ...role }: NamedRole): object {
  return role;
}

const WRITES = [
  "roles.create",
  "roles.update",
  "roles.delete",
  "members.create",
  "members.update",
  "members.delete",
];
const READS = ["roles.list", "roles.retrieve", "members.list", "members.retrieve"];

const effect = fc.constantFrom("before", "after");
const seldom = fc.record({ probability: fc.constantFrom(0.05, 0.15, 0.3) });
const once = fc.record({ nth: fc.integer({ min: 1, max: 4 }) });

/** What is to be got over: it hits anything, sometimes or once. */
const passing = fc
  .tuple(
    fc.oneof(
      fc.record({ kind: fc.constant("status"), status: fc.constantFrom(500, 502, 503, 424), effect }),
      fc.record({
        kind: fc.constant("status"),
        status: fc.constant(429),
        wait: fc.constantFrom(0, 1),
        times: fc.integer({ min: 1, max: 3 }),
      }),
      fc.record({ kind: fc.constantFrom("reset-before", "reset-after", "truncate", "partial-json") }),
      fc.record({ kind: fc.constantFrom("content-type", "unknown-fields") }),
      fc.record({
        kind: fc.constant("not-http"),
        answer: fc.constantFrom("garbage", "bad-header", "bad-chunk", "both-lengths"),
        effect,
      }),
      fc.record({ kind: fc.constant("stall"), ms: fc.constantFrom(5, 40), effect }),
      fc.record({ kind: fc.constant("latency"), ms: fc.constant(0), jitter_ms: fc.constant(15) }),
    ),
    fc.oneof(
      fc.record({}),
      fc.record({ operation: fc.constantFrom(...READS) }),
      fc.record({ operation: fc.constantFrom(...WRITES) }),
      fc.record({ operation: fc.constantFrom("roles.create", "members.create") }),
    ),
    fc.oneof(seldom, once),
  )
  .map(([rule, operation, aim]) => ({ ...operation, ...aim, ...rule }));

/** What stops an apply: it hits one write. */
const stopping = fc
  .tuple(
    fc.oneof(
      fc.record({ kind: fc.constant("status"), status: fc.constantFrom(400, 403, 409, 422) }),
      // Longer than the apply waits.
      fc.record({ kind: fc.constant("status"), status: fc.constant(429), wait: fc.constant(60) }),
      fc.record({ kind: fc.constant("html"), effect }),
    ),
    fc.constantFrom(...WRITES),
    once,
  )
  .map(([rule, operation, aim]) => ({ operation, ...aim, ...rule }));

/** Somebody else at work. */
const meddling = fc
  .oneof(
    fc.record({
      kind: fc.constant("concurrent-edit"),
      edit: fc.constantFrom("roles", "metadata", "delete", "accept", "expire"),
      operation: fc.constantFrom("members.retrieve", "members.update", "members.delete"),
    }),
    fc.record({
      kind: fc.constant("concurrent-edit"),
      edit: fc.constantFrom("description", "permissions", "name", "delete"),
      operation: fc.constantFrom("roles.retrieve", "roles.update", "roles.delete"),
    }),
    fc.record({
      kind: fc.constant("concurrent-edit"),
      edit: fc.constant("create"),
      operation: fc.constantFrom("roles.create", "members.create"),
    }),
    fc.record({
      kind: fc.constant("shift"),
      change: fc.constantFrom("add", "remove", "move"),
      operation: fc.constant("members.list"),
    }),
  )
  .chain((rule) => once.map((aim) => ({ ...aim, ...rule })));

/** One address, or each, has been invited too often: for a moment, or for longer than the apply lasts. */
const limit = fc.record({
  kind: fc.constant("invitation-limit"),
  limit: fc.constantFrom(0, 1),
  window: fc.constantFrom(1, 2, 3600),
  email: maybe(fc.constantFrom(...PEOPLE)),
});

const faults: fc.Arbitrary<readonly object[]> = fc
  .tuple(
    fc.array(limit.map(withoutUndefined), { maxLength: 1 }),
    fc.array(passing, { maxLength: 3 }),
    fc.array(stopping, { maxLength: 1 }),
    fc.array(meddling, { maxLength: 1 }),
    fc.nat(3),
  )
  .map(([limits, got, stop, edit, lot]) => [
    ...limits,
    ...got,
    ...(lot === 0 ? stop : []),
    ...(lot <= 1 ? edit : []),
  ]);

function withoutUndefined(rule: object): object {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
}

const habits: fc.Arbitrary<readonly object[]> = fc
  .tuple(
    fc.constantFrom(null, "conflict", "conflict", "replace", "renew"),
    fc.constantFrom(null, null, "not-found", "other-id"),
  )
  .map(([expired, predefined]) => [
    ...(expired === null ? [] : [{ kind: "expired-invitation", answer: expired }]),
    ...(predefined === null ? [] : [{ kind: "predefined-role", answer: predefined }]),
  ]);

const crash: fc.Arbitrary<Crash> = fc.record({
  kind: fc.constantFrom("none", "none", "SIGKILL", "SIGKILL", "SIGKILL", "SIGINT", "SIGTERM"),
  request: fc.integer({ min: 3, max: 24 }),
  when: fc.constantFrom("before", "after"),
});

const shop: fc.Arbitrary<Shop> = world.chain((live) =>
  fc.record({ world: fc.constant(live), want: want(live) }),
);

const scenario: fc.Arbitrary<Scenario> = shop.chain((first) =>
  fc.record({
    world: fc.constant(first.world),
    want: fc.constant(first.want),
    further: fc.nat(2).chain((lot) => fc.array(shop, { maxLength: lot === 0 ? 2 : 0 })),
    faults,
    habits,
    crash,
    replacingPut: fc.nat(3).map((lot) => lot === 0),
    isOtherAccount: fc.nat(9).map((lot) => lot === 0),
    racing: fc.nat(6).map((lot) => lot === 0),
    recheck: fc.nat(4).map((lot) => lot > 0),
    concurrency: fc.constantFrom(1, 4, 10),
  }),
);

/** The scenario of a seed: the same seed gives the same one. */
export function scenarioOf(seed: number): Scenario {
  const [one] = fc.sample(scenario, { seed, numRuns: 1 });
  if (one === undefined) throw new Error("no scenario came");
  return one;
}
