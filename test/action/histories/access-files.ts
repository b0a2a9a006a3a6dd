/** The merchants of every history; the first two include the shared file. */
export const MERCHANTS = ["MC1", "MC2", "MC3"] as const;
export const ROLES = ["Cashier", "Helper", "Night"] as const;
export const PERMISSIONS = ["catalog_view", "refunds_create", "stock_edit"] as const;
/** Yan stays in the shared file, so that it always has a member. */
export const PEOPLE = [
  "bob@example.com",
  "cy@example.com",
  "dan@example.com",
  "yan@example.com",
  "zoe@example.com",
] as const;

const DAY = 86_400_000;

export type Merchant = (typeof MERCHANTS)[number];
export type RoleName = (typeof ROLES)[number];
export type Person = (typeof PEOPLE)[number];
export type Permission = (typeof PERMISSIONS)[number];

/** A file: of a merchant, or the shared one. */
export type Place = Merchant | "shared";

/** A role of a person; dates are days in the form of files, and both inclusive. */
export interface RoleGrant {
  readonly role: RoleName;
  readonly from: string | null;
  readonly until: string | null;
}

/** A line of a file. */
export type Entry =
  | { readonly kind: "role"; readonly role: RoleName; readonly permissions: readonly Permission[] }
  | {
      readonly kind: "member";
      readonly person: Person;
      readonly grants: readonly RoleGrant[];
      readonly until: string | null;
    }
  | { readonly kind: "note"; readonly text: string };

/** What all files declare: entries by place, kind and name. */
export type AccessFiles = ReadonlyMap<string, Entry>;

/** The files that every history begins with. */
export const START: AccessFiles = new Map(
  (
    [
      ["shared", { kind: "role", role: "Night", permissions: ["catalog_view"] }],
      ["shared", memberWith("yan@example.com", "Night")],
      ["shared", memberWith("zoe@example.com", "Night")],
      ["MC1", { kind: "role", role: "Cashier", permissions: ["catalog_view"] }],
      ["MC1", { kind: "role", role: "Helper", permissions: ["refunds_create"] }],
      ["MC1", memberWith("bob@example.com", "Cashier")],
      ["MC1", memberWith("cy@example.com", "Helper")],
      ["MC2", { kind: "role", role: "Cashier", permissions: ["catalog_view"] }],
      ["MC2", memberWith("bob@example.com", "Cashier")],
      ["MC3", { kind: "role", role: "Cashier", permissions: ["refunds_create"] }],
      ["MC3", memberWith("dan@example.com", "Cashier")],
    ] as readonly (readonly [Place, Entry])[]
  ).map(([place, entry]) => [entryKey(place, entry), entry]),
);

function memberWith(person: Person, role: RoleName): Entry {
  return { kind: "member", person, grants: [{ role, from: null, until: null }], until: null };
}

/** What is or would be live at a merchant, each fact as a text. */
export type Access = ReadonlySet<string>;

/** A fact about a merchant, and the person or role that it is about. */
export interface Fact {
  readonly text: string;
  readonly person: Person | null;
  /** The fact that the person or the role exists at all. */
  readonly existence: string;
}

/** Every fact that there may be. */
export const FACTS: readonly Fact[] = [
  ...ROLES.flatMap((role) => [roleFact(role), ...PERMISSIONS.map((one) => grantsFact(role, one))]).map(
    (text): Fact => ({ text, person: null, existence: roleFact(text.split(" ")[1] as RoleName) }),
  ),
  ...PEOPLE.flatMap((person) =>
    [
      memberFact(person),
      ...ROLES.map((role) => hasFact(person, role)),
      ...PERMISSIONS.map((one) => mayFact(person, one)),
    ].map((text): Fact => ({ text, person, existence: memberFact(person) })),
  ),
];

export function roleFact(role: string): string {
  return `role ${role}`;
}

export function grantsFact(role: string, permission: string): string {
  return `role ${role} grants ${permission}`;
}

export function memberFact(person: string): string {
  return person;
}

export function hasFact(person: string, role: string): string {
  return `${person} has ${role}`;
}

export function mayFact(person: string, permission: string): string {
  return `${person} may ${permission}`;
}

/** Returns the key of an entry of a file. */
export function entryKey(place: Place, entry: Entry): string {
  const name = entry.kind === "role" ? entry.role : entry.kind === "member" ? entry.person : "";
  return `${place} ${entry.kind} ${name}`;
}

/** Returns the files that a merchant's access comes from. */
function placesOf(merchant: Merchant): readonly Place[] {
  return merchant === "MC3" ? [merchant] : ["shared", merchant];
}

/** Returns the path of a file. */
function pathOf(place: Place): string {
  return place === "shared" ? "shared/crew.yaml" : `access/${place.toLowerCase()}.yaml`;
}

/** Returns the texts of all files by path; an entry is a line. */
export function textsOf(files: AccessFiles): Readonly<Record<string, string>> {
  const texts = (["shared", ...MERCHANTS] as const).map((place) => {
    const own = [...files]
      .filter(([key]) => key.startsWith(`${place} `))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const lines = (kind: Entry["kind"]): readonly string[] =>
      own.flatMap(([, entry]) => (entry.kind === kind ? lineOf(entry) : []));
    const head =
      place === "shared"
        ? []
        : [
            `merchant: ${place}`,
            ...(place === "MC3" ? [] : ["include: [../shared/crew.yaml]"]),
            "guards: { max_removals: 100% }",
          ];
    const owner = place === "shared" ? [] : ["  - { email: ada@example.com, roles: [role_owner] }"];
    const all = [
      ...lines("note"),
      "version: 1",
      ...head,
      "roles:",
      ...lines("role"),
      "members:",
      ...owner,
      ...lines("member"),
    ];
    return [pathOf(place), `${all.join("\n")}\n`] as const;
  });
  return Object.fromEntries(texts);
}

function lineOf(entry: Entry): string {
  switch (entry.kind) {
    case "note":
      return `# ${entry.text}`;
    case "role":
      return `  - { name: ${entry.role}, permissions: [${entry.permissions.join(", ")}] }`;
    case "member": {
      const grants = entry.grants.map(({ role, from, until }) =>
        from === null && until === null
          ? role
          : `{ role: ${role}${from === null ? "" : `, from: ${from}`}${until === null ? "" : `, until: ${until}`} }`,
      );
      const until = entry.until === null ? "" : `, until: ${entry.until}`;
      return `  - { email: ${entry.person}, roles: [${grants.join(", ")}]${until} }`;
    }
    default:
      return entry satisfies never;
  }
}

/** Returns whether two entries say the same. */
function isSameEntry(one: Entry | undefined, other: Entry | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Joins two sides that parted at a base, as git does line by line. */
export interface Merged {
  /** Where both sides changed an entry, the second side's. */
  readonly files: AccessFiles;
  readonly hasConflict: boolean;
}

export function mergeFiles(base: AccessFiles, ours: AccessFiles, theirs: AccessFiles): Merged {
  const keys = [...new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])].sort();
  let hasConflict = false;
  const files = new Map<string, Entry>();
  for (const key of keys) {
    const [was, own, other] = [base.get(key), ours.get(key), theirs.get(key)];
    if (!isSameEntry(was, own) && !isSameEntry(was, other) && !isSameEntry(own, other)) hasConflict = true;
    const entry = isSameEntry(was, other) ? own : other;
    if (entry !== undefined) files.set(key, entry);
  }
  return { files, hasConflict };
}

/** Returns whether every role that somebody has is declared, nobody has one with different dates, and none begins after the end. */
export function isValid(files: AccessFiles): boolean {
  return MERCHANTS.every((merchant) => {
    const members = membersIn(files, merchant);
    const isTooLate = (person: Person, from: string | null): boolean =>
      members.some((one) => one.person === person && one.until !== null && from !== null && from > one.until);
    const roles = new Set(rolesIn(files, merchant).map(({ role }) => role));
    const grants = members.flatMap((one) => one.grants.map((grant) => ({ ...grant, person: one.person })));
    const distinct = new Set(grants.map((grant) => JSON.stringify(grant)));
    const held = new Set(grants.map(({ person, role }) => hasFact(person, role)));
    return (
      distinct.size === held.size &&
      grants.every(({ role, person, from }) => roles.has(role) && !isTooLate(person, from))
    );
  });
}

function rolesIn(files: AccessFiles, merchant: Merchant): readonly (Entry & { kind: "role" })[] {
  return entriesIn(files, merchant).flatMap((entry) => (entry.kind === "role" ? [entry] : []));
}

function membersIn(files: AccessFiles, merchant: Merchant): readonly (Entry & { kind: "member" })[] {
  return entriesIn(files, merchant).flatMap((entry) => (entry.kind === "member" ? [entry] : []));
}

function entriesIn(files: AccessFiles, merchant: Merchant): readonly Entry[] {
  return placesOf(merchant).flatMap((place) =>
    [...files].flatMap(([key, entry]) => (key.startsWith(`${place} `) ? [entry] : [])),
  );
}

/** Returns the moment when a day begins, or at the end of which it is over. */
const beginsAt = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const endsAt = (day: string): number => beginsAt(day) + DAY;

/** Returns the access that the files declare for a merchant at a time. */
export function declaredAt(files: AccessFiles, merchant: Merchant, now: number): Access {
  const permissions = new Map(rolesIn(files, merchant).map((one) => [one.role, one.permissions]));
  const facts = [...permissions].flatMap(([role, all]) => [
    roleFact(role),
    ...all.map((one) => grantsFact(role, one)),
  ]);
  for (const { person, grants } of membersIn(files, merchant)) {
    const ends = membersIn(files, merchant).flatMap((one) =>
      one.person === person && one.until !== null ? endsAt(one.until) : [],
    );
    if (ends.some((end) => end <= now)) continue;
    for (const grant of grants) {
      if (grant.from !== null && beginsAt(grant.from) > now) continue;
      if (grant.until !== null && endsAt(grant.until) <= now) continue;
      facts.push(memberFact(person), hasFact(person, grant.role));
      facts.push(...(permissions.get(grant.role) ?? []).map((one) => mayFact(person, one)));
    }
  }
  return new Set(facts);
}

/** A date of somebody at a merchant. */
export interface DateOf {
  readonly person: Person;
  /** In ms since the epoch. */
  readonly at: number;
  readonly text: string;
  /** The same without its time. */
  readonly effect: string;
}

/** Returns all dates that the files have for a merchant, past ones too. */
export function datesIn(files: AccessFiles, merchant: Merchant): readonly DateOf[] {
  return membersIn(files, merchant).flatMap(({ person, grants, until }) => {
    const date = (at: number, what: string): DateOf => {
      const effect = `${person} ${what}`;
      return { person, at, effect, text: `${effect} ${at}` };
    };
    return [
      ...(until === null ? [] : [date(endsAt(until), "leaves")]),
      ...grants.flatMap((grant) => [
        ...(grant.from === null ? [] : [date(beginsAt(grant.from), `gets ${grant.role}`)]),
        ...(grant.until === null ? [] : [date(endsAt(grant.until), `loses ${grant.role}`)]),
      ]),
    ];
  });
}

/** Returns what the files say about a merchant, as a text: the same for a grant that two files have. */
export function declarationOf(files: AccessFiles, merchant: Merchant): string {
  const roles = rolesIn(files, merchant).map((one) => JSON.stringify(one));
  const members = membersIn(files, merchant).flatMap(({ person, grants, until }) => [
    ...grants.map((grant) => JSON.stringify([person, grant])),
    ...(until === null ? [] : [JSON.stringify([person, until])]),
  ]);
  return [...new Set([...roles, ...members])].sort().join("\n");
}

/** The day of a time, in the form of files. */
export function dayText(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
