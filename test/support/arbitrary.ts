import fc from "fast-check";
import type { DesiredMember, DesiredRole, DesiredState } from "../../src/model/desired.ts";
import type { Metadata } from "../../src/model/json.ts";
import type { LiveMember, LiveRole, LiveState } from "../../src/model/live.ts";
import { desired, invited, liveMember, liveRole, member, role, SYNC } from "./build.ts";

const NAMES = ["Cashier", "Shift Lead", "Auditor", "Ünïcode ✓"] as const;
const EMAILS = ["ada@example.com", "Bob@example.com", "cy@example.com", "di@example.com"] as const;
const PREDEFINED = ["role_owner", "role_employee"] as const;

const permissions = fc.subarray(["catalog_view", "refunds_create", "payouts_view", "stock_edit"]);
const metadata: fc.Arbitrary<Metadata> = fc.dictionary(
  fc.constantFrom("team", "owner", "employee_id"),
  fc.oneof(fc.string({ maxLength: 4 }), fc.integer(), fc.boolean(), fc.constant(null)),
  { maxKeys: 2 },
);

const roleMetadata: fc.Arbitrary<Metadata> = fc.constantFrom({}, { owner: "a" }, { owner: "b" });

/** An optional field: there or not. */
function maybe<Key extends string, T>(key: Key, value: fc.Arbitrary<T>): fc.Arbitrary<{ [K in Key]?: T }> {
  return fc
    .option(value, { nil: undefined })
    .map((one) => (one === undefined ? {} : { [key]: one })) as never;
}

const liveRoles: fc.Arbitrary<readonly LiveRole[]> = fc
  .subarray([...NAMES])
  .chain((names) =>
    fc.tuple(
      ...names.map((name, index) =>
        fc
          .record({
            permissions,
            description: fc.option(fc.constantFrom("Till", "Office"), { nil: undefined }),
          })
          .map(({ description, ...rest }) =>
            liveRole(`role_${index}`, name, { ...rest, ...(description !== undefined && { description }) }),
          ),
      ),
    ),
  )
  .map((custom) => [...custom, ...PREDEFINED.map((id) => liveRole(id, id, { predefined: true }))]);

/** Live states as a service could hold them: unique role names and addresses, every status, roles that exist. */
export const liveStates: fc.Arbitrary<LiveState> = fc
  .tuple(liveRoles, fc.subarray([...EMAILS, "zoe@example.com", "ADA@example.com"]))
  .chain(([roles, emails]) =>
    fc
      .tuple(
        ...emails.map((email, index) =>
          fc
            .record({
              roles: fc.subarray(roles.map(({ id }) => id)),
              metadata,
              kind: fc.constantFrom(
                "accepted",
                "pending",
                "expired",
                "disabled",
                "managed",
                "service",
                "nameless",
              ),
            })
            .map((given) => person(`mem_${index}`, email, given)),
        ),
      )
      .map((members) => ({ merchant: "MC1", roles, members, callerId: null })),
  );

function person(
  id: string,
  email: string,
  { kind, ...rest }: { kind: string; roles: readonly string[]; metadata: Metadata },
): LiveMember {
  const base = liveMember(id, email, rest);
  const user = { id, email, mfaOnLogin: false, type: "user" };
  switch (kind) {
    case "pending":
    case "expired":
      return invited(id, email, { ...rest, status: kind });
    case "disabled":
      return { ...base, status: "disabled" };
    case "managed":
      return { ...base, user: { ...user, type: "managed_user", nickname: "Till" } };
    case "service":
      return { ...base, user: { ...user, type: "service_account" } };
    case "nameless": {
      const { user: _, ...nameless } = base;
      return nameless;
    }
    default:
      return base;
  }
}

/** Declared roles of unique names: pinned to a live id now and then (which renames and swaps), or a chain of renames; replaced or not. */
const desiredRoles: fc.Arbitrary<readonly DesiredRole[]> = fc
  .tuple(
    fc.shuffledSubarray([...NAMES]),
    fc.shuffledSubarray(["role_0", "role_1", "role_2", "role_3"]),
    fc.boolean(),
  )
  .chain(([names, pins, chain]) =>
    fc.tuple(
      ...names.map((name, index) =>
        fc
          .tuple(
            permissions,
            maybe("description", fc.constantFrom("", "Till", "Office")),
            chain ? fc.constant({}) : maybe("metadata", roleMetadata),
            fc.constantFrom(
              {},
              {},
              previouslyOf(names, index, chain, 1),
              previouslyOf(names, index, chain, 2),
              chain ? {} : pinOf(pins[index]),
            ),
          )
          .map(([granted, ...rest]) => role(name, Object.assign({ permissions: granted }, ...rest))),
      ),
    ),
  );

/** Names that no other entry keeps: some that are not declared, or, in a chain, the next entry's as well. */
function previouslyOf(
  names: readonly string[],
  index: number,
  chain: boolean,
  most: number,
): { readonly previously?: readonly string[] } {
  const others = NAMES.filter((name) => !names.includes(name));
  const next = chain ? names[index + 1] : undefined;
  const previously = [...(next === undefined ? [] : [next]), ...others].slice(0, most);
  return previously.length === 0 ? {} : { previously };
}

function pinOf(id: string | undefined): { readonly id?: string } {
  return id === undefined ? {} : { id };
}

function desiredMembers(roles: readonly string[]): fc.Arbitrary<readonly DesiredMember[]> {
  const managed = fc.constantFrom(
    { passwordEnv: "PASSWORD" },
    { nickname: "Till 7", passwordEnv: "PASSWORD" },
  );
  return fc
    .subarray([...EMAILS])
    .chain((emails) =>
      fc.tuple(
        ...emails.map((email) =>
          fc
            .tuple(fc.subarray([...roles]), maybe("metadata", metadata), maybe("managed", managed))
            .map(([held, ...rest]) => member(email, { roles: held, ...rest[0], ...rest[1] })),
        ),
      ),
    );
}

const mode = fc.constantFrom("authoritative" as const, "additive" as const);

/** Desired states that name only roles they declare, or that the service provides. */
export const desiredStates: fc.Arbitrary<DesiredState> = fc
  .tuple(
    maybe("roles", desiredRoles),
    fc.record({ roles: mode, members: mode, replaceRoles: fc.boolean(), reinvite: fc.boolean() }),
  )
  .chain(([rest, sync]) => {
    const roles = [...(rest.roles ?? []).map(({ name }) => name), ...PREDEFINED];
    return maybe("members", desiredMembers(roles)).map((members) =>
      desired({ ...rest, ...members, sync: { ...SYNC, ...sync } }),
    );
  });

/** A desired state that says exactly what is live. */
export function mirror(state: LiveState): DesiredState {
  const names = new Map(state.roles.map(({ id, name, predefined }) => [id, predefined ? id : name]));
  return desired({
    sync: { ...SYNC, reinvite: false },
    roles: state.roles
      .filter(({ predefined }) => !predefined)
      .map(({ id, name, description, permissions: granted, metadata: data }) =>
        role(name, { id, description: description ?? "", permissions: granted, metadata: data }),
      ),
    members: state.members.map(({ id, user, invite, roles, metadata: data }) =>
      member(user?.email ?? invite?.email ?? `${id}@nowhere.example`, {
        id,
        roles: roles.map((held) => names.get(held) ?? held),
        metadata: data,
      }),
    ),
  });
}
