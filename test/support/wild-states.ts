import fc from "fast-check";
import type { JsonValue, Metadata } from "../../src/model/json.ts";
import type { LiveMember, LiveRole, LiveState, MemberStatus } from "../../src/model/live.ts";
import { anyCharacter } from "./any-character.ts";
import { HOSTILE_TEXTS } from "./hostile.ts";

const KEY = `sk_live_${"a1".repeat(12)}`;

/** Texts that somebody or something may have put into a name, and that YAML, a schema or a rule may not take. */
const texts: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      "Cashier",
      "cashier",
      "Shift Lead",
      "Till 7",
      "Ünïcode ✓",
      "Lead: night",
      "#1",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "true",
      "null",
      "0x1f",
      "1e3",
      "2027-01-31",
      "~",
      "- a",
      "{a}",
      "yes",
      "role_x",
      "*",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...HOSTILE_TEXTS,
      KEY,
      "Cashier (role_1, set aside by rolecall)",
      "a\nb\n",
      " a ",
      "__proto__",
      "<<",
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 12 }) },
);

const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    texts,
    fc.constantFrom(0, 1, -1.5, 1e21, 2 ** 53, 1e-7, true, null),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(texts, tie("value"), { maxKeys: 2 }),
  ) as fc.Arbitrary<JsonValue>,
})).value;

const deep = Array.from({ length: 80 }).reduce<JsonValue>((inner) => [inner], 1);
const metadata: fc.Arbitrary<Metadata> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 4, arbitrary: fc.dictionary(texts, json, { maxKeys: 3 }) as fc.Arbitrary<Metadata> },
  { weight: 1, arbitrary: fc.constant({ deep }) },
);
const rounded = fc.constantFrom({}, {}, {}, { rounded: ["n"], exact: { n: "12345678901234567890" } });

const role: fc.Arbitrary<Omit<LiveRole, "id">> = fc
  .record({
    name: texts,
    description: fc.option(texts, { nil: undefined }),
    permissions: fc.array(
      fc.oneof({ weight: 9, arbitrary: fc.constantFrom("catalog_view", "refunds_create") }, texts),
      { maxLength: 4 },
    ),
    metadata,
    rounded,
  })
  .map(({ description, rounded: inexact, ...rest }) => ({
    ...rest,
    ...inexact,
    ...(description !== undefined && { description }),
    predefined: false,
    updatedAt: "2026-01-01T00:00:00.000Z",
  }));

const PREDEFINED = ["role_owner", "role_employee"].map(
  (id): LiveRole => ({
    id,
    name: id.slice(5),
    permissions: [],
    predefined: true,
    metadata: {},
    updatedAt: "",
  }),
);

const emails = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      "ada@example.com",
      "ADA@example.com",
      "bob@example.com",
      "cy@example.com",
      "di@example.com",
      "eve@example.com",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "no address",
      "a@b",
      "x y@example.com",
      `${"a".repeat(300)}@example.com`,
      '"q q"@example.com',
      "ſ@example.com",
      `${KEY}@example.com`,
    ),
  },
);
const STATUSES: readonly MemberStatus[] = [
  "accepted",
  "accepted",
  "pending",
  "expired",
  "disabled",
  "unknown",
];
const TYPES = ["user", "user", "user", "managed_user", "service_account", "system_account", "alien"];

const member = (roleIds: readonly string[]): fc.Arbitrary<Omit<LiveMember, "id">> =>
  fc
    .record({
      email: emails,
      other: fc.option(emails, { nil: undefined, freq: 8 }),
      status: fc.constantFrom(...STATUSES),
      type: fc.constantFrom(...TYPES),
      nickname: fc.option(texts, { nil: undefined }),
      roles: fc.subarray([...roleIds]),
      hasAddress: fc.constantFrom(true, true, true, true, true, false),
      day: fc.integer({ min: 10, max: 28 }),
      metadata,
      rounded,
    })
    .map(({ email, other, status, type, nickname, hasAddress, day, rounded: inexact, ...rest }) => {
      const isInvited = status === "pending" || status === "expired";
      const invite = {
        email: isInvited ? email : (other ?? email),
        expiresAt: `2026-01-${day}T00:00:00.000Z`,
      };
      const user = { id: "u", email, mfaOnLogin: false, type, ...(nickname !== undefined && { nickname }) };
      return {
        ...rest,
        ...inexact,
        status,
        ...(hasAddress && !isInvited && { user }),
        ...(hasAddress && (isInvited || other !== undefined) && { invite }),
        updatedAt: "2026-01-01T00:00:00.000Z",
      };
    });

/** Live states that no service should hold, but might: twins, hostile names, every status and type. */
export const wildStates: fc.Arbitrary<LiveState> = fc
  .array(role, { maxLength: 6 })
  .map((roles) => [
    ...roles.map((one, at): LiveRole => ({ ...one, id: at === 3 ? "role_ä b" : `role_${at}` })),
    ...PREDEFINED,
  ])
  .chain((roles) =>
    fc.array(member([...roles.map(({ id }) => id), "role_gone"]), { maxLength: 7 }).map((members) => ({
      merchant: "MC1",
      roles: [
        ...roles,
        {
          id: "role_gone",
          name: "role_gone",
          permissions: [],
          predefined: true,
          metadata: {},
          updatedAt: "",
          idOnly: true as const,
        },
      ],
      members: members.map((one, at) => ({ ...one, id: at === 4 ? "mem_[4]" : `mem_${at}` })),
      callerId: null,
    })),
  );
