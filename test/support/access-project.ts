import fc from "fast-check";

/** A grant as it is written in a file: the role by a name, a previous name or an id. */
export interface WrittenGrant {
  readonly ref: string;
  /** A day. */
  readonly until: string | null;
}

export interface WrittenMember {
  readonly email: string;
  readonly until: string | null;
  readonly grants: readonly WrittenGrant[];
}

export interface WrittenRole {
  readonly name: string;
  readonly id: string | null;
  readonly previously: string | null;
  readonly permissions: readonly string[];
}

export interface WrittenMerchant {
  readonly merchant: string;
  readonly includes: boolean;
  readonly roles: readonly WrittenRole[];
  /** What it changes of the included role Shared. */
  readonly add: readonly string[];
  readonly remove: readonly string[];
  readonly members: readonly WrittenMember[];
}

/** Some merchants, and the file that some of them include. */
export interface AccessProject {
  readonly shared: { readonly roles: readonly WrittenRole[]; readonly members: readonly WrittenMember[] };
  readonly merchants: readonly WrittenMerchant[];
}

/** One line of a file that gives somebody a role: what a person with much patience would write down. */
export interface Fact {
  readonly merchant: string;
  readonly email: string;
  readonly role: string;
  /** `null` if only the service knows them. */
  readonly permissions: readonly string[] | null;
  readonly until: string | null;
  readonly place: string;
}

export const PERMISSIONS = ["catalog_view", "refunds_create", "payouts_view", "payouts_edit"] as const;
export const PEOPLE = ["ada@example.com", "Bob@example.com", "cy@agency.example"] as const;
const SHARED: WrittenRole = { name: "Shared", id: "role_shared1", previously: "Common", permissions: [] };
const OWN: readonly WrittenRole[] = [
  { name: "Cashier", id: null, previously: "Till", permissions: [] },
  { name: "Shift Lead", id: "role_lead1", previously: null, permissions: [] },
];
const DAYS = [null, null, "2026-01-31", "2026-06-15", "2027-01-31"] as const;

const someOf = fc.subarray([...PERMISSIONS]);

/** The same day for the same role and person everywhere, as two files must agree. */
const ends: fc.Arbitrary<(about: string) => string | null> = fc
  .array(fc.constantFrom(...DAYS), { minLength: 7, maxLength: 7 })
  .map((days) => (about) => days[[...about].reduce((sum, char) => sum + char.charCodeAt(0), 0) % 7] ?? null);

const refsOf = (roles: readonly WrittenRole[]): readonly (readonly string[])[] => [
  ...roles.map(({ name, id, previously }) => [name, id, previously].filter((ref) => ref !== null)),
  ["role_employee"],
];

function membersOf(
  roles: readonly WrittenRole[],
  endOf: (about: string) => string | null,
): fc.Arbitrary<readonly WrittenMember[]> {
  const grants = fc
    .subarray([...refsOf(roles)], { minLength: 1 })
    .chain((some) =>
      fc.tuple(...some.map((refs) => fc.constantFrom(...refs).map((ref) => ({ ref, role: refs[0] ?? "" })))),
    );
  return fc.subarray([...PEOPLE]).chain((emails) =>
    fc.tuple(
      ...emails.map((email) =>
        grants.map((some) => ({
          email,
          until: endOf(`member ${email}`),
          grants: some.map(({ ref, role }) => ({ ref, until: endOf(`${email} ${role}`) })),
        })),
      ),
    ),
  );
}

/** Projects of some merchants without any error in them. */
export const accessProjects: fc.Arbitrary<AccessProject> = fc
  .tuple(ends, someOf)
  .chain(([endOf, permissions]) => {
    const shared = [{ ...SHARED, permissions }];
    const merchant = (code: string): fc.Arbitrary<WrittenMerchant> =>
      fc
        .record({ includes: fc.boolean(), granted: fc.tuple(someOf, someOf), add: someOf, remove: someOf })
        .chain(({ includes, granted, add, remove }) => {
          const roles = OWN.map((role, index) => ({ ...role, permissions: granted[index] ?? [] }));
          return membersOf(includes ? [...roles, ...shared] : roles, endOf).map((members) => ({
            merchant: code,
            includes,
            roles,
            add: includes ? add.filter((one) => !permissions.includes(one)) : [],
            remove: includes ? remove.filter((one) => permissions.includes(one)) : [],
            members,
          }));
        });
    return fc.record({
      shared: membersOf(shared, endOf).map((members) => ({ roles: shared, members })),
      merchants: fc.tuple(merchant("MCA"), merchant("MCB"), merchant("MCC")),
    });
  });

/** Writes a project into files, and every line that gives somebody a role. */
export function writeProject({ shared, merchants }: AccessProject): {
  readonly files: Readonly<Record<string, string>>;
  readonly facts: readonly Fact[];
} {
  const files: Record<string, string> = {};
  const facts: Fact[] = [];
  const sharedLines = ["version: 1"];
  writeRoles(sharedLines, shared.roles);
  const sharedGrants = writeMembers(sharedLines, shared.members);
  files["shared/all.yaml"] = text(sharedLines);
  for (const one of merchants) {
    const file = `access/${one.merchant.toLowerCase()}.yaml`;
    const lines = ["version: 1", `merchant: ${one.merchant}`];
    if (one.includes) lines.push("include: [../shared/all.yaml]");
    writeRoles(lines, one.roles, one);
    const own = writeMembers(lines, one.members);
    files[file] = text(lines);
    const roles = one.includes
      ? [...one.roles, ...shared.roles.map((role) => adjusted(role, one))]
      : one.roles;
    const written = [
      ...own.map((grant) => ({ ...grant, file })),
      ...(one.includes ? sharedGrants : []).map((grant) => ({ ...grant, file: "shared/all.yaml" })),
    ];
    for (const { ref, line, file: from, ...rest } of written) {
      const role = roles.find(({ name, id, previously }) => [name, id, previously].includes(ref));
      facts.push({
        merchant: one.merchant,
        role: role?.name ?? ref,
        permissions: role?.permissions ?? null,
        place: `${from}:${line}`,
        ...rest,
      });
    }
  }
  return { files, facts };
}

function adjusted(role: WrittenRole, { add, remove }: WrittenMerchant): WrittenRole {
  return { ...role, permissions: [...role.permissions, ...add].filter((one) => !remove.includes(one)) };
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function writeRoles(
  lines: string[],
  roles: readonly WrittenRole[],
  { add, remove }: Pick<WrittenMerchant, "add" | "remove"> = { add: [], remove: [] },
): void {
  lines.push("roles:");
  for (const { name, id, previously, permissions } of roles) {
    lines.push(`  - name: ${name}`, `    permissions: [${permissions.join(", ")}]`);
    if (id !== null) lines.push(`    id: ${id}`);
    if (previously !== null) lines.push(`    previously: ${previously}`);
  }
  const changes = [
    ...(add.length > 0 ? [`add: [${add.join(", ")}]`] : []),
    ...(remove.length > 0 ? [`remove: [${remove.join(", ")}]`] : []),
  ];
  if (changes.length > 0) lines.push(`  - name: Shared`, `    adjust: { ${changes.join(", ")} }`);
}

type WrittenLine = {
  readonly email: string;
  readonly ref: string;
  readonly until: string | null;
  readonly line: number;
};

function writeMembers(lines: string[], members: readonly WrittenMember[]): readonly WrittenLine[] {
  const found: WrittenLine[] = [];
  lines.push(members.length === 0 ? "members: []" : "members:");
  for (const { email, until, grants } of members) {
    lines.push(`  - email: ${email}`);
    if (until !== null) lines.push(`    until: ${until}`);
    lines.push("    roles:");
    for (const { ref, until: end } of grants) {
      lines.push(end === null ? `      - ${ref}` : `      - { role: ${ref}, until: ${end} }`);
      const earliest = [until, end].filter((day) => day !== null).sort()[0] ?? null;
      found.push({ email, ref, until: earliest, line: lines.length });
    }
  }
  return found;
}
