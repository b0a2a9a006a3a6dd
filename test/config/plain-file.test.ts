import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "../../src/config/parse.ts";
import { plainFile } from "../../src/config/plain-file.ts";
import { merchantSchema } from "../../src/config/schema/merchant-file.ts";
import { atOnce } from "../../src/config/steps.ts";
import { runs } from "../support/property-runs.ts";
import { mutatedFile } from "./support/mutations.ts";

const numRuns = runs(3000);

/** A file with everything that there is to say. */
const FULL = {
  version: 1,
  merchant: "MC4F7K2P",
  environment: "live",
  api: { base_url: "https://api.example.com/v1", key_env: "RETAIL_API_KEY" },
  include: ["../shared/retail.yaml"],
  sync: { roles: "authoritative", members: "additive", reinvite: { for: "30d" }, replace_roles: false },
  ignore: { roles: ["Legacy *"], members: ["*@auditor.example"] },
  guards: {
    max_removals: "25%",
    protect: { roles: ["Shift Lead"], members: ["owner@example.com"] },
    min_holders: { role_owner: 1 },
  },
  policies: {
    email_domains: ["example.com", "*.example.com"],
    separate: [["Approver", "Payer"]],
    max_holders: { role_admin: 3 },
    require_until: ["Contractor"],
    require_mfa: ["role_admin"],
    forbid_permissions: ["payouts_edit"],
  },
  checks: [
    { can: "refunds_create", only: ["ada@example.com", "role:Shift Lead"] },
    { can: "payouts_view", at_most: 2 },
    { member: "bob@example.com", cannot: ["refunds_create"] },
  ],
  roles: [
    {
      name: "Shift Lead",
      description: "",
      permissions: ["catalog_view"],
      metadata: { owner: "retail-ops", deep: [{ a: null }] },
      previously: "Team Lead",
      id: "role_7Kq2",
    },
  ],
  members: [
    {
      email: "ada@example.com",
      roles: ["Shift Lead", { role: "role_employee", until: "2027-01-31" }],
      until: "2027-06-30T12:00:00Z",
      metadata: { employee_id: "4711" },
      managed: { nickname: "Till 7", password_env: "TILL_7_PASSWORD" },
      id: "mem_9aZ1",
    },
  ],
};

test("a file with everything in it needs no schema", () => {
  expect(atOnce(plainFile(FULL))).toBe(FULL);
  expect(merchantSchema.safeParse(FULL)).toEqual({ success: true, data: FULL });
});

type Path = readonly (string | number)[];

/** The paths of all values, without the address: of those the schema takes more. */
function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (path.at(-1) === "base_url") return [];
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [
    path,
    ...inner.flatMap(([key, one]) => pathsIn(one, [...path, Array.isArray(value) ? Number(key) : key])),
  ];
}

const ODD = [
  ...[null, true, false, 0, -0, -1, 0.5, 1, 1e20, Number.NaN, Number.POSITIVE_INFINITY, [], {}, [[]], [{}]],
  ...[
    "",
    " ",
    "a",
    "a\nb",
    "\u202ea",
    "\ud800",
    "100%",
    "101%",
    "007",
    "live",
    "authoritative",
    "role:x",
    "role:",
  ],
  ...["a@b.example", "a b@c.example", "*.example.com", "é.example", "role_1", "mem_1", "A_B", "1A", "a.yaml"],
  ...["/a.yaml", "2027-02-30", "2027-02-28", "2027-01-31T25:00:00Z", "x".repeat(300)],
  ...[
    ["a"],
    ["a", "b"],
    ["a", "b", "c"],
    Array.from({ length: 101 }, () => "a.yaml"),
    { a: 1 },
    { "": 1 },
    { " ": 1 },
  ],
  ...[
    { role: "a" },
    { role: "a", until: null },
    { can: "a" },
    { can: "a", at_most: 1 },
    { can: "a", at_most: 1, only: [] },
  ],
  ...[
    JSON.parse('{"__proto__": 1}'),
    Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 1])),
  ],
  ...[{ name: "a" }, { email: "a@b.example" }, { password_env: "A" }, { nickname: "a" }],
];

/** A copy with another value at the path; undefined takes it out. */
function changed(value: unknown, [segment, ...rest]: Path, put: unknown): unknown {
  if (segment === undefined) return put;
  if (Array.isArray(value)) {
    return value.map((one, index) => (index === segment ? changed(one, rest, put) : one));
  }
  const copy = { ...(value as Record<string, unknown>) };
  const next = changed(copy[segment], rest, put);
  if (next === undefined) delete copy[segment];
  // An assignment would take __proto__ for the prototype.
  else Object.defineProperty(copy, segment, { value: next, enumerable: true, configurable: true });
  return copy;
}

const odd = fc.oneof(fc.constantFrom(...ODD), fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: "binary" }));
const path = fc.constantFrom(...pathsIn(FULL));
const change = fc.oneof(
  fc.tuple(path, odd),
  fc.tuple(path, fc.constant(undefined)),
  fc
    .tuple(path, fc.constantFrom("name", "until", "metadata", "extra", "__proto__"), odd)
    .map(([at, key, put]) => [[...at, key], put] as const),
);

test("the fast check and the schema are of one mind", () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
      const value = changes.reduce<unknown>(
        (file, [at, put]) => (isThere(file, at) ? changed(file, at, put) : file),
        FULL,
      );
      const { success, data } = merchantSchema.safeParse(value);
      const file = atOnce(plainFile(value));
      // Other scripts are for the schema, and so is __proto__, which it leaves out of mappings of any keys.
      if (file !== null || !/__proto__|[^ -~]/.test(String(JSON.stringify(value)))) {
        expect(file).toEqual(success ? data : null);
      }
      if (success) taken += 1;
    }),
    { numRuns },
  );
  expect(taken).toBeGreaterThan(numRuns / 20);
});

/** Whether a value can be put there: its parent is a mapping, or a list that has the place. */
function isThere(value: unknown, [segment, ...rest]: Path): boolean {
  if (segment === undefined) return true;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value) ? typeof segment !== "number" : typeof segment !== "string") return false;
  return rest.length === 0 || isThere((value as Record<string | number, unknown>)[segment], rest);
}

test("whatever is done to a file, what the fast check takes the schema takes in the same way", () => {
  fc.assert(
    fc.property(mutatedFile, (text) => {
      const { value } = parse(text);
      const file = atOnce(plainFile(value));
      if (file !== null) expect(merchantSchema.safeParse(value)).toEqual({ success: true, data: file });
    }),
    { numRuns: Math.ceil(numRuns / 10) },
  );
});
