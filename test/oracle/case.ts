import fc from "fast-check";

/** Files and a live state to hold the program and the model against. */
export interface Case {
  readonly files: Readonly<Record<string, FileValue>>;
  readonly world: World;
  /** Milliseconds since the epoch, also of `--as-of`. */
  readonly now: number;
}

/** A merchant's file as plain data. */
export interface FileValue {
  readonly version: 1;
  readonly merchant?: string;
  readonly include?: readonly string[];
  readonly sync?: {
    readonly roles?: Mode;
    readonly members?: Mode;
    readonly reinvite?: boolean;
    readonly replace_roles?: boolean;
  };
  readonly ignore?: Patterns;
  readonly guards?: {
    readonly max_removals?: number | string;
    readonly max_gains?: Readonly<Record<string, number | string>>;
    readonly protect?: Patterns;
    readonly min_holders?: Readonly<Record<string, number>>;
  };
  readonly policies?: {
    readonly email_domains?: readonly string[];
    readonly separate?: readonly (readonly string[])[];
    readonly max_holders?: Readonly<Record<string, number>>;
    readonly require_until?: readonly string[] | Readonly<Record<string, string>>;
    readonly require_mfa?: readonly string[];
    readonly forbid_permissions?: readonly string[];
  };
  readonly checks?: readonly CheckValue[];
  readonly roles?: readonly RoleValue[];
  readonly members?: readonly MemberValue[];
  readonly leavers?: readonly LeaverValue[];
}

interface LeaverValue {
  readonly email: string;
  readonly from: string;
}

type Mode = "authoritative" | "additive";

interface Patterns {
  readonly roles?: readonly string[];
  readonly members?: readonly string[];
}

export type CheckValue =
  | { readonly can: string; readonly only: readonly string[] }
  | { readonly can: string; readonly at_most: number }
  | { readonly member: string; readonly cannot: readonly string[] };

export type Data = Readonly<Record<string, string>>;

export interface RoleValue {
  readonly name: string;
  /** Of an entry that only adjusts an included role. */
  readonly adjust?: { readonly add?: readonly string[]; readonly remove?: readonly string[] };
  readonly id?: string;
  readonly previously?: string | readonly string[];
  readonly description?: string;
  readonly permissions?: readonly string[];
  readonly metadata?: Data;
}

export type GrantValue = string | ({ readonly role: string } & DatesValue);

interface DatesValue {
  readonly from?: string;
  readonly until?: string;
}

export interface MemberValue {
  readonly email: string;
  readonly id?: string;
  readonly previously?: string | readonly string[];
  readonly roles?: readonly GrantValue[];
  readonly from?: string;
  readonly until?: string;
  readonly suspended?: true | DatesValue;
  readonly metadata?: Data;
  readonly managed?: { readonly nickname?: string; readonly password_env: string };
}

/** What is live. */
export interface World {
  readonly roles: readonly WorldRole[];
  readonly members: readonly WorldMember[];
}

export interface WorldRole {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
  readonly metadata: Data;
}

export interface WorldMember {
  readonly id: string;
  /** Null: neither user nor invitation tells one. */
  readonly email: string | null;
  readonly roles: readonly string[];
  readonly status: "accepted" | "pending" | "expired" | "disabled" | "unknown";
  readonly type: "user" | "managed_user" | "service_account" | "system_account" | "robot";
  readonly nickname: string | null;
  readonly mfa: boolean;
  readonly disabledAt: string | null;
  readonly metadata: Data;
}

const ROLE_NAMES = ["Cashier", "Shift Lead", "Auditor", "Clerk"] as const;
/** Names that live roles do not have. */
const NEW_NAMES = ["Teller", "Lead"] as const;
const PERMISSIONS = ["catalog_view", "refunds_create", "payouts_view", "stock_edit"] as const;
const PEOPLE = ["ada@example.com", "bob@example.com", "cy@agency.example", "di@example.com"] as const;
const STRANGERS = ["eve@example.com", "fay@it.agency.example"] as const;
const TILL = "till-1@example.com";
const ROBOT = "robot@example.com";
const PREDEFINED = ["role_owner", "role_admin", "role_employee"] as const;

const permissions = fc.subarray([...PERMISSIONS]);
const data: fc.Arbitrary<Data> = fc.constantFrom({}, { team: "a" }, { team: "b" }, { team: "a", desk: "1" });

/** Puts a value there once in `n + 1` times. */
function seldom<T>(n: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq: n });
}

function often<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.tuple(fc.nat(2), value).map(([lot, one]) => (lot === 0 ? undefined : one));
}

function rarely<T>(n: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.tuple(fc.nat(n), value).map(([lot, one]) => (lot === 0 ? one : undefined));
}

/** Leaves out what is undefined, as a file does. */
function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}

function worldRole(name: string, suffix = ""): fc.Arbitrary<WorldRole> {
  return fc.record({
    id: fc.constant(`role_${name.replace(" ", "")}${suffix}`),
    name: fc.constant(name),
    description: fc.constantFrom("", "At the till"),
    permissions,
    metadata: fc.constantFrom({}, {}, { team: "a" }),
  });
}

/** The roles in any order, seldom two with one name; not of one that is ignored by its id alone. */
const worldRoles: fc.Arbitrary<readonly WorldRole[]> = fc
  .subarray([...ROLE_NAMES])
  .chain((names) =>
    fc.tuple(
      tuple(names.map((name) => worldRole(name))),
      names.every((name) => name === "Clerk")
        ? fc.constant([])
        : rarely(
            5,
            fc
              .constantFrom(...names.filter((name) => name !== "Clerk"))
              .chain((name) => worldRole(name, "Twin")),
          ).map((twin) => twin ?? []),
    ),
  )
  .map(([roles, twin]) => [...roles, twin].flat())
  .chain((roles) => fc.shuffledSubarray(roles, { minLength: roles.length }));

const STATUSES = ["accepted", "accepted", "accepted", "pending", "expired", "disabled", "unknown"] as const;

function worldMember(
  email: string,
  id: string,
  held: fc.Arbitrary<readonly string[]>,
): fc.Arbitrary<WorldMember> {
  return fc
    .record({
      roles: held,
      status: fc.constantFrom(...STATUSES),
      type: fc.constantFrom(...(email === ROBOT ? ROBOT_TYPES : (["user"] as const))),
      mfa: fc.boolean(),
      metadata: data,
      nameless: fc.nat(15).map((lot) => lot === 0),
      nickname: fc.constantFrom(null, "Till 1", "Till One"),
      disabled: fc.nat(4).map((lot) => lot === 0),
    })
    .map(({ nameless, nickname, disabled, type, status, ...rest }): WorldMember => {
      const managed = email === TILL;
      const fixed = managed || email === ROBOT;
      const at =
        (fixed || nameless) && status !== "disabled" && status !== "unknown" ? ("accepted" as const) : status;
      return {
        ...rest,
        id,
        email: nameless ? null : email,
        status: at,
        // Without a user nothing tells a type.
        type: nameless ? "user" : managed ? "managed_user" : type,
        nickname: managed && !nameless ? nickname : null,
        disabledAt: managed && disabled && !nameless ? "2026-01-03T00:00:00Z" : null,
      };
    });
}

const ROBOT_TYPES = ["service_account", "system_account", "robot"] as const;

const world: fc.Arbitrary<World> = worldRoles.chain((roles) => {
  const held = fc.subarray([...roles.map(({ id }) => id), ...PREDEFINED]);
  return fc
    .tuple(fc.subarray([...PEOPLE, TILL, ROBOT]), fc.array(fc.constantFrom(...PEOPLE), { maxLength: 2 }))
    .chain(([emails, again]) =>
      fc.tuple(
        ...emails.map((email, index) => worldMember(email, `mem_${index}`, held)),
        // The same address once more: mostly what an invitation left behind.
        ...again
          .filter((email) => emails.includes(email))
          .map((email, index) =>
            worldMember(email.toUpperCase(), `mem_again${index}`, held).chain((one) =>
              fc
                .nat(3)
                .map((lot) =>
                  lot === 0 || one.email === null ? one : { ...one, status: "expired" as const },
                ),
            ),
          ),
      ),
    )
    .map((members) => ({ roles, members }));
});

const DAYS = ["2026-06-01", "2026-06-15", "2026-07-01", "2099-01-31"] as const;
const until = fc.constantFrom(...DAYS, "2026-06-20T18:00:00+02:00");
const from = fc.constantFrom(...DAYS, "2026-06-16", "2026-06-20T18:00:00+02:00");

/** Dates of a grant or a suspension, seldom in the wrong order. */
const dates: fc.Arbitrary<DatesValue> = fc
  .record({ from: rarely(2, from), until: rarely(1, until), isWrong: fc.nat(30).map((lot) => lot === 0) })
  .map(({ isWrong, ...both }) =>
    present(
      both.from !== undefined && both.until !== undefined && both.from > both.until && !isWrong
        ? { until: both.until }
        : both,
    ),
  );

/** A declared role, mostly one that is live, with some things changed; none without permissions where it is new. */
function roleValue(name: string, world: World, declared: readonly string[]): fc.Arbitrary<RoleValue> {
  const is = world.roles.find((one) => one.name === name);
  const free = world.roles.filter((one) => one.name !== name);
  return fc
    .record({
      permissions: is === undefined ? seldom(30, permissions) : often(permissions),
      description: often(fc.constantFrom("", "At the till", "In the office")),
      metadata: is === undefined ? often(data) : rarely(3, data),
      pin: rarely(
        5,
        fc
          .constantFrom(...(is ? [is.id] : []), ...free.map(({ id }) => id), "role_gone")
          .map((id) =>
            declared.some((other) => other !== name && id === `role_${other.replace(" ", "")}`)
              ? undefined
              : id,
          ),
      ),
      previously: rarely(
        3,
        fc
          .uniqueArray(fc.constantFrom(...ROLE_NAMES, "Never"), { minLength: 1, maxLength: 3 })
          .map((formers) =>
            formers.filter((one) => one !== name && !(declared.includes(one) && free.length > 0)),
          ),
      ),
    })
    .map(({ pin, previously: [first, ...more] = [], ...rest }) =>
      present({ name, ...rest, id: pin, previously: more.length > 0 && first ? [first, ...more] : first }),
    );
}

/** Returns the previous names of a role. */
export function formerNames({ previously = [] }: Pick<RoleValue, "previously">): readonly string[] {
  return typeof previously === "string" ? [previously] : previously;
}

function grants(names: readonly string[], ids: readonly string[]): fc.Arbitrary<readonly GrantValue[]> {
  return fc
    .subarray([...names, ...PREDEFINED], { maxLength: 3 })
    .chain((held) =>
      fc.tuple(
        ...held.map((role) =>
          rarely(4, dates).map((given) => (given === undefined ? role : { role, ...given })),
        ),
        rarely(25, fc.constantFrom("Nobody", "role_nowhere", ...ids)),
      ),
    )
    .map((all) => all.filter((one) => one !== undefined) as readonly GrantValue[]);
}

function memberValue(email: string, names: readonly string[], world: World): fc.Arbitrary<MemberValue> {
  const ids = world.members.flatMap((one) => (one.email?.toLowerCase() === email ? [one.id] : []));
  return fc
    .record({
      roles: seldom(
        12,
        grants(
          names,
          world.roles.map(({ id }) => id),
        ),
      ),
      metadata: rarely(1, data),
      from: rarely(12, from),
      until: rarely(8, until),
      suspended: rarely(8, fc.oneof(fc.constant(true as const), dates)),
      id: rarely(8, fc.constantFrom(...ids, ...world.members.map(({ id }) => id), "mem_gone")),
      previously: rarely(
        6,
        fc
          .constantFrom(...PEOPLE, ROBOT, [PEOPLE[0], PEOPLE[1].toUpperCase()])
          .map((former) => ([former].flat().some((one) => one.toLowerCase() === email) ? undefined : former)),
      ),
      upper: fc.nat(4).map((lot) => lot === 0),
      managed:
        email === TILL
          ? often(
              fc.constantFrom({ nickname: "Till 1", password_env: "PASSWORD" }, { password_env: "PASSWORD" }),
            )
          : rarely(30, fc.constant({ nickname: "Desk", password_env: "PASSWORD" })),
    })
    .map(({ upper, ...rest }) => present({ email: upper ? email.toUpperCase() : email, ...rest }));
}

/** Some who leave before, at or after the moments of the cases, and some twice. */
const leavers: fc.Arbitrary<readonly LeaverValue[]> = fc.uniqueArray(
  fc.record({
    email: fc.constantFrom(...PEOPLE, STRANGERS[0], TILL, ROBOT, "DI@Example.com"),
    from: fc.constantFrom("2026-06-16", "2026-06-20T18:00:00+02:00", "2026-01-01", "2099-01-01"),
  }),
  { minLength: 1, maxLength: 2, selector: ({ email }) => email },
);

const mode = fc.constantFrom("authoritative" as const, "authoritative" as const, "additive" as const);

const sync = fc
  .record({
    roles: rarely(2, mode),
    members: rarely(2, mode),
    reinvite: rarely(4, fc.boolean()),
    replace_roles: rarely(1, fc.boolean()),
  })
  .map(present);

const ignore = fc
  .record({
    roles: rarely(1, fc.subarray(["Audit*", "role_Clerk", "Cl*", "*Lead"], { maxLength: 1 })),
    members: rarely(1, fc.subarray(["*@agency.example", "mem_1", "di@*"], { maxLength: 1 })),
  })
  .map(present);

/** Guards, policies and checks about roles that the files know. */
function rules(declared: readonly string[]) {
  const named = [...declared, ...PREDEFINED];
  const role = fc.constantFrom(...named);
  const count = (max: number) => fc.dictionary(role, fc.nat(max), { maxKeys: 2, noNullPrototype: true });
  return fc.record({
    guards: rarely(
      2,
      fc
        .record({
          max_removals: rarely(2, fc.constantFrom(0, 1, 4, "10%", "60%", "100%")),
          max_gains: rarely(
            2,
            fc.constantFrom<Readonly<Record<string, number | string>>>(
              {},
              { sensitive: 0 },
              { sensitive: 1, role_cashier: 0 },
              { refunds_create: 1 },
              { "stock_*": "0%" },
            ),
          ),
          protect: rarely(
            2,
            fc.record({
              roles: fc.subarray(["Cash*", "role_Clerk"], { maxLength: 1 }),
              members: fc.subarray(["ada@*", "mem_2"], { maxLength: 1 }),
            }),
          ),
          min_holders: rarely(1, count(2)),
        })
        .map(present),
    ),
    policies: rarely(
      1,
      fc
        .record({
          email_domains: rarely(3, fc.constantFrom(["example.com"], ["example.com", "*.agency.example"])),
          separate: rarely(
            2,
            fc.uniqueArray(role, { minLength: 2, maxLength: 3 }).map((set) => [set]),
          ),
          max_holders: rarely(2, count(3)),
          require_until: rarely(
            4,
            fc.oneof(
              fc.uniqueArray(role, { maxLength: 1 }),
              fc.dictionary(role, fc.constantFrom("4h", "2w", "15d", "30d", "1d"), {
                maxKeys: 2,
                noNullPrototype: true,
              }),
            ),
          ),
          require_mfa: rarely(3, fc.uniqueArray(role, { maxLength: 1 })),
          forbid_permissions: rarely(4, fc.subarray([...PERMISSIONS], { maxLength: 1 })),
        })
        .map(present),
    ),
    checks: rarely(2, fc.array(check(named), { maxLength: 2 })),
  });
}

function check(named: readonly string[]): fc.Arbitrary<CheckValue> {
  const can = fc.constantFrom(...PERMISSIONS);
  const only = fc.subarray([...PEOPLE, ...named.map((name) => `role:${name}`)], { maxLength: 4 });
  return fc.oneof(
    fc.record({ can, only }),
    fc.record({ can, at_most: fc.nat(4) }),
    fc.record({
      member: fc.constantFrom(...PEOPLE),
      cannot: fc.subarray([...PERMISSIONS], { minLength: 1, maxLength: 2 }),
    }),
  );
}

function tuple<T>(values: readonly fc.Arbitrary<T>[]): fc.Arbitrary<readonly T[]> {
  return fc.tuple(...values);
}

function section(
  world: World,
  names: readonly string[],
  emails: readonly string[],
  declared: readonly string[],
) {
  return fc.record({
    roles: tuple(names.map((name) => roleValue(name, world, declared))),
    members: tuple(emails.map((email) => memberValue(email, declared, world))),
  });
}

const files = (world: World): fc.Arbitrary<Readonly<Record<string, FileValue>>> =>
  fc
    .record({
      kept: fc.subarray([...ROLE_NAMES]),
      added: fc.subarray([...NEW_NAMES]),
      people: fc.subarray([...PEOPLE, ...STRANGERS, TILL, ROBOT]),
      managesRoles: fc.nat(5).map((lot) => lot > 0),
      managesMembers: fc.nat(6).map((lot) => lot > 0),
      includes: fc.nat(2).map((lot) => lot === 0),
    })
    .chain(({ kept, added, people, managesRoles, managesMembers, includes }) => {
      const names = [...kept, ...added];
      const declared = managesRoles ? names : [];
      const split = fc.record({
        shared: fc.subarray(names),
        both: rarely(15, fc.constantFrom(...names, "Cashier")),
        crew: fc.subarray(people),
        twice: fc.subarray(people),
      });
      return split.chain(({ shared, both, crew, twice }) => {
        const own = names.filter((name) => !includes || !shared.includes(name) || name === both);
        const mine = people.filter((email) => !includes || !crew.includes(email) || twice.includes(email));
        return fc
          .record({
            main: section(world, own, mine, declared),
            other: section(world, shared, crew, declared),
            sync: rarely(1, sync),
            ignore: rarely(5, ignore),
            ruled: rules(managesRoles ? declared : [...new Set(world.roles.map(({ name }) => name))]),
            adjusted: rarely(3, fc.subarray([...shared, "Nobody"], { minLength: 1 })),
            lists: fc.record({ add: fc.subarray([...PERMISSIONS]), remove: fc.subarray([...PERMISSIONS]) }),
            plain: fc.nat(5).map((lot) => lot > 0),
            leaving: fc.record({ own: rarely(5, leavers), shared: rarely(2, leavers) }),
          })
          .map(({ main, other, sync: how, ignore: hidden, ruled: { guards, policies, checks }, ...rest }) => {
            const { own: leaveHere, shared: leaveThere } = rest.leaving;
            const adjustments = includes ? adjustmentsOf(rest, other.roles) : [];
            const put = (of: typeof main, added: readonly RoleValue[] = []) => ({
              ...(managesRoles && { roles: [...of.roles, ...added] }),
              ...(managesMembers && { members: of.members }),
            });
            const file: FileValue = present({
              version: 1,
              merchant: "MC1",
              include: includes ? ["../shared/all.yaml"] : undefined,
              sync: how,
              ignore: includes ? undefined : hidden,
              guards,
              policies: includes ? undefined : policies,
              checks,
              ...put(main, adjustments),
              leavers: leaveHere,
            });
            return {
              "access/shop.yaml": file,
              ...(includes && {
                "shared/all.yaml": present({
                  version: 1 as const,
                  ignore: hidden,
                  policies,
                  ...put(other),
                  leavers: leaveThere,
                }) as FileValue,
              }),
            };
          });
      });
    });

/** Adjusts roles of an included file: mostly (`plain`) such that each permission changes something. */
function adjustmentsOf(
  {
    adjusted = [],
    lists,
    plain,
  }: {
    readonly adjusted: readonly string[] | undefined;
    readonly lists: { readonly add: readonly string[]; readonly remove: readonly string[] };
    readonly plain: boolean;
  },
  roles: readonly RoleValue[],
): readonly RoleValue[] {
  return adjusted.flatMap((wanted) => {
    const role = roles.find(({ name }) => name === wanted);
    if (plain && role?.permissions === undefined) return [];
    const has = (one: string): boolean => role?.permissions?.includes(one) === true;
    const add = lists.add.filter((one) => !plain || !has(one));
    const remove = lists.remove.filter((one) => !plain || has(one));
    if (plain && add.length + remove.length === 0) return [];
    const name = add.length % 2 === 0 ? (formerNames(role ?? {}).at(-1) ?? wanted) : wanted;
    return [{ name, adjust: present({ add, remove: remove.length > 0 ? remove : undefined }) }];
  });
}

/** Moments around the ends of `DAYS`: one is a date's last moment, one the first after it. */
const now = fc.constantFrom(
  ...["2026-05-01T00:00:00Z", "2026-06-15T23:59:59.999Z", "2026-06-16T00:00:00Z", "2026-06-20T16:00:00Z"].map(
    (text) => Date.parse(text),
  ),
);

/** Any case. */
export const cases: fc.Arbitrary<Case> = world.chain((is) =>
  fc.record({ files: files(is), world: fc.constant(is), now }),
);
