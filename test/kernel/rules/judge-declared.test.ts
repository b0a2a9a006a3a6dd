import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildPlan } from "../../../src/kernel/plan/build-plan.ts";
import { loadMerchants } from "../../../src/kernel/read/load-merchants.ts";
import {
  declaredViolations,
  judgeDeclared,
  openDeclared,
  violationsIn,
} from "../../../src/kernel/rules/judge-rules.ts";
import { TooMuchWork } from "../../../src/kernel/rules/judged.ts";
import type { DesiredState } from "../../../src/model/desired.ts";
import type { LiveState } from "../../../src/model/live.ts";
import { desired, member, ORIGIN, role } from "../../support/build.ts";
import { runs } from "../../support/property-runs.ts";

const NOW = Date.UTC(2026, 10, 21);

/** Codes of refusals offline, by the codes of the same refusals in a plan. */
const OFFLINE: Readonly<Record<string, string>> = {
  "email-domains": "policy-email-domain",
  separate: "policy-separate",
  "max-holders": "policy-max-holders",
  "require-until": "policy-require-until",
  "forbid-permissions": "policy-forbidden-permission",
  "check-only": "check-only",
  "check-at-most": "check-at-most",
  "check-cannot": "check-cannot",
};

interface Verdicts {
  /** Codes. */
  readonly validate: readonly string[];
  readonly plan: readonly string[];
  /** What `validate` says in words. */
  readonly words: readonly string[];
  readonly state: DesiredState;
}

const LIVE_ROLE = { description: "", permissions: [], metadata: {}, updatedAt: "2026-11-20T00:00:00Z" };

const LIVE: LiveState = {
  merchant: "A",
  roles: [
    { ...LIVE_ROLE, id: "role_owner", name: "Owner", predefined: true },
    { ...LIVE_ROLE, id: "role_Cash", name: "Till", predefined: false },
  ],
  members: [],
  callerId: null,
};

/** What a plan says of files where nobody is a member yet. */
function planWords(desired: DesiredState): readonly string[] {
  const { refusals } = buildPlan({
    desired,
    live: LIVE,
    service: "https://api.example.com",
    now: NOW,
    matches: (glob, text) => glob === text,
  });
  return refusals
    .filter(({ rule }) => rule !== "guard")
    .map(({ message }) => message)
    .sort();
}

/** What `validate` and a plan say of the same files; null where an error keeps a plan from being made. */
async function verdicts(main: string, shared?: string): Promise<Verdicts | null> {
  const files = new Map([
    [
      "access/a.yaml",
      `version: 1\nmerchant: A\n${shared === undefined ? "" : "include: [../shared/s.yaml]\n"}${main}`,
    ],
    ["shared/s.yaml", `version: 1\n${shared ?? ""}`],
  ]);
  const { merchants, diagnostics } = await loadMerchants(
    ["access/a.yaml"],
    (path, from) => {
      const file = posix.join(from === null ? "" : posix.dirname(from), path);
      return Promise.resolve({ ok: true, file, text: files.get(file) ?? "" });
    },
    { now: NOW, judge: judgeDeclared },
  );
  const state = merchants[0]?.state ?? null;
  if (state === null) return null;
  const codes = new Set(Object.values(OFFLINE));
  const found = declaredViolations(state, NOW).map((one) => {
    const { code } = one.refusal("plan");
    return OFFLINE[code] ?? code;
  });
  return {
    state,
    words: diagnostics
      .filter(({ refusal }) => refusal)
      .map(({ message }) => message)
      .sort(),
    validate: [...new Set(diagnostics.map(({ code }) => code))].filter((code) => codes.has(code)).sort(),
    plan: [...new Set(found)].sort(),
  };
}

function written(sections: object): string {
  const lines = Object.entries(sections).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  return lines.join("");
}

describe("validate and plan judge the same people, and come to the same verdict", () => {
  const ROLES = `roles:
  - { name: Cashier, id: role_Cash, previously: Till, permissions: [catalog_view, refunds_create] }
  - { name: Payer, permissions: [payouts_create] }
`;
  test.each<readonly [situation: string, main: string, shared: string | undefined, codes: readonly string[]]>(
    [
      [
        "the end of a membership that another file tells",
        `policies: { require_until: [Cashier] }\n${ROLES}members: [{ email: ada@example.com, roles: [Cashier] }]\n`,
        "members: [{ email: ada@example.com, until: 2099-01-01 }]\n",
        [],
      ],
      [
        "somebody whom only a shared file mentions",
        `policies: { email_domains: [example.com] }\n${ROLES}members: []\n`,
        "members: [{ email: eve@evil.example, until: 2099-01-01 }]\n",
        [],
      ],
      [
        "somebody whom only a shared file mentions, and suspends",
        "policies: { email_domains: [good.example] }\nmembers: []\n",
        "members:\n  - { email: ann@bad.example, suspended: true }\n",
        [],
      ],
      [
        "somebody whom a shared file gives a role",
        `policies: { email_domains: [example.com] }\n${ROLES}`,
        "members: [{ email: eve@evil.example, roles: [Cashier] }]\n",
        ["policy-email-domain"],
      ],
      [
        "a grant by id, and a rule by the old name",
        `policies: { max_holders: { Till: 0 }, separate: [[Till, Payer]] }\n${ROLES}members: [{ email: ada@example.com, roles: [role_Cash, Payer] }]\n`,
        undefined,
        ["policy-max-holders", "policy-separate"],
      ],
      [
        "a role by its id and name in one set",
        `policies: { separate: [[Cashier, role_Cash]] }\n${ROLES}members: [{ email: ada@example.com, roles: [Cashier] }]\n`,
        undefined,
        [],
      ],
      [
        "a role that is named with spaces in a check",
        `checks: [{ can: payouts_create, only: ["role: Payer "] }]\n${ROLES}members: [{ email: ada@example.com, roles: [Payer] }]\n`,
        undefined,
        [],
      ],
      [
        "an address in another case",
        `policies: { email_domains: ["*.Example.com"] }\nchecks: [{ member: ADA@it.example.com, cannot: [refunds_create] }, { can: refunds_create, only: [Ada@IT.example.com] }]\n${ROLES}members: [{ email: ada@IT.EXAMPLE.com, roles: [Till] }]\n`,
        undefined,
        ["check-cannot"],
      ],
      [
        "a predefined role that a check knows nothing of",
        `checks: [{ can: refunds_create, at_most: 0 }]\npolicies: { max_holders: { role_owner: 0 } }\nmembers: [{ email: ada@example.com, roles: [role_owner] }]\n`,
        undefined,
        ["policy-max-holders"],
      ],
      [
        "a list of domains that is empty",
        `policies: { email_domains: [] }\nmembers: [{ email: ada@example.com, roles: [role_owner] }]\n`,
        undefined,
        ["policy-email-domain"],
      ],
      [
        "a grant without an end",
        `policies: { require_until: [Till] }\n${ROLES}members: [{ email: ada@example.com, roles: [role_Cash] }]\n`,
        undefined,
        ["policy-require-until"],
      ],
      [
        "a role that grants what no role may",
        `policies: { forbid_permissions: [payouts_create] }\n${ROLES}members: []\n`,
        undefined,
        ["policy-forbidden-permission"],
      ],
      [
        "somebody whom a check does not list, and too many",
        `checks: [{ can: payouts_create, only: [] }, { can: payouts_create, at_most: 0 }]\n${ROLES}members: [{ email: ada@example.com, roles: [Payer] }]\n`,
        undefined,
        ["check-at-most", "check-only"],
      ],
      [
        "a user whom the merchant manages",
        `policies: { max_holders: { Cashier: 0 } }\n${ROLES}members: [{ email: till@example.com, managed: { password_env: PW }, roles: [Cashier] }]\n`,
        undefined,
        ["policy-max-holders"],
      ],
    ],
  )("%s", async (_situation, main, shared, codes) => {
    const found = await verdicts(main, shared);
    expect(found).toMatchObject({ validate: codes, plan: codes });
    expect(found && planWords(found.state)).toEqual(found?.words);
  });

  test.each(["role_Cash", "Till"])(
    "no role has two ends, by whichever name: Cashier and %s",
    async (name) => {
      const grants = `[{ role: Cashier, until: 2020-01-01 }, ${name}]`;
      expect(await verdicts(`${ROLES}members: [{ email: ada@example.com, roles: ${grants} }]\n`)).toBeNull();
    },
  );

  test("whatever the files say", async () => {
    const role = fc.constantFrom("Cashier", "role_Cash", "Till", "Payer", "role_owner", "role_admin");
    const permission = fc.constantFrom("catalog_view", "refunds_create", "payouts_create");
    const email = fc.constantFrom(
      "ada@example.com",
      "Bob@example.com",
      "bob@EXAMPLE.com",
      "eve@it.example.com",
    );
    const until = fc.option(fc.constantFrom("2020-01-01", "2099-01-01", "2026-11-21", "2026-11-20"));
    const list = <T>(item: fc.Arbitrary<T>) => fc.uniqueArray(item, { maxLength: 3 });
    const some = <T>(item: fc.Arbitrary<T>) => fc.option(item, { nil: undefined });
    const grant = fc
      .tuple(role, until)
      .map(([name, end]) => (end === null ? name : { role: name, until: end }));
    const member = fc.record({
      email,
      roles: some(list(grant)),
      until: some(until.filter((end) => end !== null)),
    });
    const members = fc.uniqueArray(member, { maxLength: 4, selector: (one) => one.email.toLowerCase() });
    const policies = fc.record({
      email_domains: some(list(fc.constantFrom("example.com", "*.example.com"))),
      separate: some(list(fc.uniqueArray(role, { minLength: 2, maxLength: 3 }))),
      max_holders: some(fc.dictionary(role, fc.nat(2), { maxKeys: 2 })),
      require_until: some(list(role)),
      forbid_permissions: some(list(permission)),
    });
    const check = fc.oneof(
      fc.record({ can: permission, at_most: fc.nat(2) }),
      fc.record({
        can: permission,
        only: list(
          fc.oneof(
            email,
            role.map((name) => `role:${name}`),
          ),
        ),
      }),
      fc.record({ member: email, cannot: list(permission) }),
    );
    const roles = [
      {
        name: "Cashier",
        id: "role_Cash",
        previously: "Till",
        permissions: ["catalog_view", "refunds_create"],
      },
      { name: "Payer", permissions: ["payouts_create"] },
    ];
    const file = fc.record({ policies: some(policies), checks: some(list(check)), members: some(members) });
    let judged = 0;
    await fc.assert(
      fc.asyncProperty(file, fc.option(file), fc.boolean(), async (main, shared, declares) => {
        const found = await verdicts(
          written({ ...main, ...(declares && { roles }) }),
          shared === null ? undefined : written(shared),
        );
        if (found === null) return;
        judged += 1;
        expect(found.validate).toEqual(found.plan);
      }),
      { numRuns: runs(120) },
    );
    expect(judged).toBeGreaterThan(15);
  });
});

test("of people who reach a permission in different steps, none is left out", async () => {
  const found = await verdicts(`checks: [{ can: refunds_create, only: [], reach: true }]
roles:
  - { name: Refunder, permissions: [refunds_create] }
  - { name: Manager, permissions: [members_update] }
  - { name: Editor, permissions: [roles_update] }
members:
  - { email: ada@example.com, roles: [Refunder] }
  - { email: bob@example.com, roles: [Manager] }
  - { email: cy@example.com, roles: [Editor] }
`);
  expect(found?.words).toEqual([
    "ada@example.com would have refunds_create, through Refunder; a check does not allow this.",
    "bob@example.com could reach refunds_create in 1 step (members_update: gets Refunder); a check does not allow this.",
    "cy@example.com could reach refunds_create in 1 step (roles_update: changes Editor); a check does not allow this.",
  ]);
});

test("all roles of a set that one person holds are one problem, at the second of them", async () => {
  const files = `policies: { separate: [[A, B, C]] }
roles: [{ name: A, permissions: [p] }, { name: B, permissions: [p] }, { name: C, permissions: [p] }]
members: [{ email: ada@example.com, roles: [C, A, B] }]
`;
  expect((await verdicts(files))?.words).toEqual([
    'ada@example.com would hold "A" and "B" and "C" together.',
  ]);
});

test("each role that grants a permission which a check denies is counted as work", () => {
  const names = Array.from({ length: 30 }, (_, index) => `R${index}`);
  const permissions = Array.from({ length: 10 }, (_, index) => `p${index}`);
  const declared = desired({
    roles: names.map((name) => role(name, { permissions })),
    members: [member("ada@example.com", { roles: names })],
    checks: [{ kind: "cannot", origin: ORIGIN, member: "ada@example.com", cannot: permissions }],
  });
  const judgeWithin = (steps: number) => violationsIn(declared, openDeclared(declared, NOW, { steps }));
  expect(judgeWithin(1000)).toHaveLength(10);
  expect(() => judgeWithin(600)).toThrow(TooMuchWork);
});
