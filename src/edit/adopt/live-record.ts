import { completed, eachField, type FieldTable, heldValues } from "../../kernel/fields/field.ts";
import type { KindValues } from "../../kernel/fields/kind.ts";
import {
  COMMON_FIELDS,
  type CommonValues,
  entryPath,
  isManaged,
  liveValues,
  MANAGED_FIELDS,
  MEMBER_FIELDS,
} from "../../kernel/fields/member.ts";
import { ROLE_FIELDS, roleImage } from "../../kernel/fields/role.ts";
import { maskKeys } from "../../kernel/problems/secrets.ts";
import { parseFrom } from "../../kernel/values/dates.ts";
import { fieldsOf, kindOf, listOf, textOf, valueAt } from "../../kernel/values/values.ts";
import { parseFast } from "../../kernel/yaml/fast-yaml.ts";
import { parse } from "../../kernel/yaml/to-value.ts";
import { canonicalJson } from "../../lib/json-text.ts";
import { by } from "../../lib/text.ts";
import type { Environment } from "../../model/desired.ts";
import type {
  ManagedProperties,
  MemberField,
  MemberValues,
  RoleImage,
  RoleRef,
} from "../../model/field-values.ts";
import {
  type LiveMember,
  type LiveRole,
  type LiveState,
  MEMBER_STATUSES,
  type MemberStatus,
} from "../../model/live.ts";
import { adoptNew, newFileText } from "./new-file-text.ts";

/** A declared member who left, although no run removed them. */
export interface DepartedMember {
  readonly email: string;
  /** The time of the first state without them, ISO 8601. */
  readonly noticed: string;
}

/** A live state as it is recorded. */
export interface LiveRecord {
  readonly live: LiveState;
  readonly environment: Environment | null;
  readonly departed: readonly DepartedMember[];
}

/** Begins the facts that entries cannot declare: one comment with JSON for each role and member. */
const MARKER = "\n# Facts that entries cannot declare, for rolecall:\n";

/**
 * Returns the text of a record: the file that `pull` would write for the live state, and the facts that it cannot express.
 * Two states that differ only in their times have the same text.
 */
export function recordText({ live, environment, departed }: LiveRecord): string {
  const { merchant } = live;
  // No entry of a new file depends on the time.
  const yaml = newFileText(adoptNew(live, 0), { merchant, environment });
  const roles = [...live.roles].sort(by(({ name, id }) => `${name}\n${id}`));
  const members = [...live.members].sort(by((member) => `${addressIn(member) ?? ""}\n${member.id}`));
  const entries = entriesIn(yaml, roles);
  const facts = [
    ...roles.map((role) => ["role", roleFacts(role, entries)] as const),
    ...members.map((member) => ["member", memberFacts(member, entries)] as const),
    ...[...departed].sort(by(({ email }) => email)).map((member) => ["departed", member] as const),
  ];
  const lines = facts.map(([kind, fact]) => `# ${kind} ${visible(maskKeys(canonicalJson(fact)))}\n`);
  return `${yaml}${MARKER}${lines.join("")}`;
}

/** Escapes characters that JSON leaves unescaped and that a comment cannot contain, or would hide. */
function visible(json: string): string {
  return json.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (text) => `${[...Array(text.length).keys()].map((at) => `\\u${hex(text.charCodeAt(at))}`).join("")}`,
  );
}

function hex(code: number): string {
  return code.toString(16).padStart(4, "0");
}

/** Reads the record of a merchant, which anybody who can push may have written; `null` if it is not a record. */
export function readLiveRecord(text: string, merchant: string): LiveRecord | null {
  const facts = factsIn(text);
  if (facts === null) return null;
  const yaml = text.slice(0, text.indexOf(MARKER));
  const { value, readable } = parseFast(yaml) ?? parse(yaml);
  if (!readable || fieldsOf(value)["merchant"] !== merchant) return null;
  const roleRefs = facts.roles.map((fact) => ({ id: textOf(fact["id"]), name: textOf(fact["name"]) ?? "" }));
  const entries = entriesOf(value, roleRefs);
  const roles = facts.roles.map((fact) => roleFrom(fact, entries));
  const members = facts.members.map((fact) => memberFrom(fact, entries));
  if (hasRepeated(roles) || hasRepeated(members)) return null;
  const { environment } = fieldsOf(value);
  return {
    live: { merchant, roles: roles.flatMap(orNothing), members: members.flatMap(orNothing), callerId: null },
    environment: environment === "live" || environment === "test" ? environment : null,
    departed: facts.departed,
  };
}

/** Returns whether a resource could not be read, or is listed twice. */
function hasRepeated(resources: readonly ({ readonly id: string } | null)[]): boolean {
  return new Set(resources.flatMap((resource) => resource?.id ?? [])).size < resources.length;
}

function orNothing<T>(value: T | null): readonly T[] {
  return value === null ? [] : [value];
}

/** The members whom a record has, by address in lower case. */
export interface RecordedMembers {
  readonly present: ReadonlySet<string>;
  readonly departed: ReadonlyMap<string, DepartedMember>;
  /** Ids of the members by address. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Reads only who is a member in a record, and who has left; `null` if it is not a record. */
export function membersInRecord(text: string): RecordedMembers | null {
  const facts = factsIn(text);
  if (facts === null) return null;
  const ids = new Map<string, string>();
  for (const fact of facts.members) {
    const [address, id] = [addressInFact(fact)?.toLowerCase(), textOf(fact["id"])];
    if (address !== undefined && id !== null) ids.set(address, id);
  }
  const departed = new Map(facts.departed.map((member) => [member.email.toLowerCase(), member]));
  return { present: new Set(ids.keys()), departed, ids };
}

type Fact = Readonly<Record<string, unknown>>;

interface Facts {
  readonly roles: readonly Fact[];
  readonly members: readonly Fact[];
  readonly departed: readonly DepartedMember[];
}

/** A larger file is not the record of an account. */
const MAX_RECORD = 64 * 1024 * 1024;

function factsIn(text: string): Facts | null {
  const start = text.length > MAX_RECORD ? -1 : text.indexOf(MARKER);
  if (start === -1) return null;
  const facts = { role: [] as Fact[], member: [] as Fact[], departed: [] as DepartedMember[] };
  for (const line of text.slice(start + MARKER.length).split("\n")) {
    if (line === "") continue;
    const [, kind = "", json = ""] = /^# (role|member|departed) (\{.*\})$/.exec(line) ?? [];
    const fact = parsedJson(json);
    if (fact === null) return null;
    if (kind !== "departed") facts[kind as "role" | "member"].push(fact);
    else {
      const [email, noticed] = [textOf(fact["email"]), textOf(fact["noticed"])];
      if (email === null || noticed === null || parseFrom(noticed) === null) return null;
      facts.departed.push({ email, noticed });
    }
  }
  return { roles: facts.role, members: facts.member, departed: facts.departed };
}

function parsedJson(json: string): Fact | null {
  try {
    return fieldsOf(JSON.parse(json));
  } catch {
    return null;
  }
}

/** The entries of the file, and the ids of the roles that they name. */
interface Entries {
  /** Returns the entry of a role. */
  readonly role: (name: string) => Fact;
  /** Returns the entry of a member. */
  readonly member: (address: string | null) => Fact;
  readonly idOf: (word: string) => string;
}

function entriesIn(yaml: string, roles: readonly RoleRef[]): Entries {
  return entriesOf((parseFast(yaml) ?? parse(yaml)).value, roles);
}

function entriesOf(file: unknown, roles: readonly RoleRef[]): Entries {
  const listed = (section: string, key: string): ReadonlyMap<string, Fact> =>
    new Map(
      listOf(fieldsOf(file)[section]).flatMap((item) => {
        const name = textOf(fieldsOf(item)[key]);
        return name === null ? [] : [[name, fieldsOf(item)] as const];
      }),
    );
  const [roleEntries, memberEntries] = [listed("roles", "name"), listed("members", "email")];
  const ids = new Map([
    ...roles.map(({ id, name }) => [name, id ?? name] as const),
    ...roles.map(({ id, name }) => [id ?? name, id ?? name] as const),
  ]);
  return {
    role: (name) => roleEntries.get(name) ?? NO_ENTRY,
    member: (address) => memberEntries.get(address ?? "") ?? NO_ENTRY,
    idOf: (word) => ids.get(word) ?? word,
  };
}

const NO_ENTRY: Fact = {};

/** Reads the values of each kind; `undefined` for an invalid value. */
const READ: { readonly [Name in keyof KindValues]: (value: unknown) => KindValues[Name] | undefined } = {
  name: readText,
  line: readText,
  prose: readText,
  list: readTexts,
  roles: (value) => readTexts(value)?.map((id) => ({ id, name: id })),
  metadata: (value) => (kindOf(value) === "mapping" ? (value as KindValues["metadata"]) : undefined),
};

function readText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function readTexts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}

/** Reads values by field; `written` returns what a field has. */
function readValues<Values>(table: FieldTable<Values>, written: (name: string) => unknown): Values {
  const some = eachField<FieldTable<Values>, Partial<Values>>(
    table,
    (name, { kind }) => READ[kind.name](written(String(name)) ?? undefined) as never,
  );
  return completed<Values>(table, some);
}

/** Returns the values that an entry does not declare. */
function undeclared<Values>(table: FieldTable<Values>, live: Values, declared: Values): object {
  return eachField<FieldTable<Values>, { readonly [Name in keyof Values]?: unknown }>(
    table,
    (name, { kind }) => (kind.isSame(live[name], declared[name]) ? undefined : kind.sent(live[name])),
  );
}

function declaredRole(entry: Fact): RoleImage {
  return readValues<RoleImage>(ROLE_FIELDS, (field) => entry[field]);
}

function roleFacts(role: LiveRole, entries: Entries): Fact {
  const { id, name, predefined, idOnly, rounded } = role;
  return {
    ...undeclared<RoleImage>(ROLE_FIELDS, roleImage(role), declaredRole(entries.role(name))),
    id,
    name,
    ...(predefined && { predefined }),
    ...(idOnly && { idOnly }),
    ...(rounded && { rounded }),
  };
}

function roleFrom(fact: Fact, entries: Entries): LiveRole | null {
  const [id, name] = [textOf(fact["id"]), readText(fact["name"])];
  if (id === null || name === undefined) return null;
  const entry = entries.role(name);
  const image = readValues<RoleImage>(ROLE_FIELDS, (field) => fact[field] ?? entry[field]);
  const rounded = readTexts(fact["rounded"]);
  return {
    ...heldValues<RoleImage>(ROLE_FIELDS, image),
    id,
    predefined: fact["predefined"] === true,
    ...(fact["idOnly"] === true && { idOnly: true as const }),
    ...(rounded && { rounded }),
    updatedAt: "",
  };
}

/** Returns what is written for a field of an entry, with the ids of the roles that it names. */
function declaredIn(entry: Fact, field: string, { idOf }: Entries): unknown {
  const value = valueAt(entry, entryPath(field as MemberField));
  return field === "roles" ? readTexts(value)?.map(idOf) : value;
}

function memberFacts(member: LiveMember, entries: Entries): Fact {
  const { id, status, user, invite, rounded, exact } = member;
  const entry = entries.member(addressIn(member) ?? null);
  const declared = readValues<MemberValues>(MEMBER_FIELDS, (field) => declaredIn(entry, field, entries));
  const values = liveValues(member, (role) => ({ id: role, name: role }));
  return {
    id,
    status,
    ...undeclared<CommonValues>(COMMON_FIELDS, values, declared),
    ...(user && {
      user: {
        id: user.id,
        ...(user.email !== undefined && { email: user.email }),
        mfaOnLogin: user.mfaOnLogin,
        type: user.type,
        ...(isManaged(member) && undeclared<ManagedProperties>(MANAGED_FIELDS, values, declared)),
      },
    }),
    ...(invite && { invite }),
    ...(rounded && { rounded }),
    ...(exact && { exact }),
  };
}

function memberFrom(fact: Fact, entries: Entries): LiveMember | null {
  const id = textOf(fact["id"]);
  const status = MEMBER_STATUSES.find((word): word is MemberStatus => word === fact["status"]);
  if (id === null || status === undefined) return null;
  const entry = entries.member(addressInFact(fact));
  const written = (field: string): unknown =>
    valueAt(fact, field in MANAGED_FIELDS ? ["user", field] : [field]) ?? declaredIn(entry, field, entries);
  const values = readValues<MemberValues>(MEMBER_FIELDS, written);
  const [user, invite, rounded] = [
    fieldsOf(fact["user"]),
    fieldsOf(fact["invite"]),
    readTexts(fact["rounded"]),
  ];
  const [email, mfa, type] = [textOf(user["email"]), user["mfaOnLogin"], textOf(user["type"]) ?? "unknown"];
  const exact = Object.entries(fieldsOf(fact["exact"])).filter(
    (property): property is [string, string] => typeof property[1] === "string",
  );
  return {
    ...heldValues<CommonValues>(COMMON_FIELDS, values),
    id,
    status,
    ...(fact["user"] !== undefined && {
      user: {
        ...(type === "managed_user" && heldValues<ManagedProperties>(MANAGED_FIELDS, values)),
        id: readText(user["id"]) ?? "",
        ...(email !== null && { email }),
        mfaOnLogin: typeof mfa === "boolean" ? mfa : null,
        type,
      },
    }),
    ...(textOf(invite["email"]) !== null && {
      invite: { email: String(invite["email"]), expiresAt: readText(invite["expiresAt"]) ?? "" },
    }),
    ...(rounded && { rounded }),
    ...(exact.length > 0 && { exact: Object.fromEntries(exact) }),
    updatedAt: "",
  };
}

function addressIn({ user, invite }: Pick<LiveMember, "user" | "invite">): string | undefined {
  return user?.email ?? invite?.email;
}

function addressInFact(fact: Fact): string | null {
  return textOf(fieldsOf(fact["user"])["email"]) ?? textOf(fieldsOf(fact["invite"])["email"]);
}
