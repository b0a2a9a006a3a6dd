/** The files of an organisation, by path, and the live state that they describe. */
export interface Chain {
  readonly files: Files;
  readonly live: readonly SeedMerchant[];
}

/** Texts by path, relative to the project's root. */
export type Files = Readonly<Record<string, string>>;

/** A merchant in a seed of the sandbox. */
export interface SeedMerchant {
  readonly code: string;
  readonly name: string;
  readonly roles: readonly Role[];
  readonly members: readonly SeedMember[];
}

/** A custom role. */
export interface Role {
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly string[];
}

/** A member in a seed of the sandbox. */
export interface SeedMember {
  readonly email: string;
  readonly roles: readonly string[];
  readonly mfa?: true;
  readonly managed?: { readonly nickname: string };
}

/** A member, as a file lists it. */
export interface Person {
  readonly email: string;
  readonly roles: readonly string[];
  /** The end of the membership: a date. */
  readonly until?: string;
}

/** A managed user: a device without a person. */
export interface Device extends Person {
  readonly nickname: string;
  /** The environment variable with its password. */
  readonly password: string;
}

/** Returns a seed for the sandbox. */
export function seedOf({ live }: Pick<Chain, "live">): string {
  return `${JSON.stringify({ merchants: live }, null, 1)}\n`;
}

/** Returns the roles of a file. */
export function rolesText(roles: readonly Role[]): string {
  return `roles:\n${roles.map(roleText).join("\n")}`;
}

function roleText({ name, description, permissions }: Role): string {
  return `  - name: ${name}
    description: ${description}
    permissions: [${permissions.join(", ")}]
`;
}

/** Returns entries of the list of members. */
export function membersText(members: readonly (Person | Device)[]): string {
  return members.map(memberText).join("");
}

function memberText(member: Person | Device): string {
  const { email, roles, until } = member;
  const managed =
    "nickname" in member
      ? `    managed: { nickname: ${member.nickname}, password_env: ${member.password} }\n`
      : "";
  const end = until === undefined ? "" : `    until: ${until}\n`;
  return `  - email: ${email}\n${managed}    roles: [${roles.join(", ")}]\n${end}`;
}

/** Returns a member who has accepted and has MFA; a managed user has none. */
export function liveMember(member: Person | Device): SeedMember {
  const { email, roles } = member;
  return "nickname" in member
    ? { email, roles, managed: { nickname: member.nickname } }
    : { email, roles, mfa: true };
}

const GIVEN =
  "ada amara anh bea chidi dana diego elena emre fatima hana ines ivana jonas karim leila mei nadia omar priya rosa samir tomasz yuki zoe".split(
    " ",
  );
const FAMILY =
  "adler benali costa dejong ekwueme fuentes garcia haddad ito jensen kowalski lindqvist mensah nguyen okafor petrova quinn rossi sato tanaka ueda varga weber yilmaz zhang".split(
    " ",
  );

/** Returns distinct names for 625 numbers, as in an address. */
export function nameOf(number: number): string {
  const given = GIVEN[number % GIVEN.length] ?? "";
  const family = FAMILY[(number * 7 + Math.floor(number / GIVEN.length)) % FAMILY.length] ?? "";
  return `${given}.${family}`;
}

/** Returns the numbers from 1. */
export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** Returns a number in three digits. */
export function threeDigits(number: number): string {
  return String(number).padStart(3, "0");
}
