import { isSameJson } from "../lib/canonical-json.ts";
import type { JsonValue, Metadata } from "../model/json.ts";
import type { LiveMember, LiveRole, MemberStatus } from "../model/live.ts";
import { type MemberImage, type RoleImage, type RoleRef, TEMPORARY_SUFFIX } from "../model/plan.ts";

const LONGEST_SHOWN = 80;

/** What differs between a role as it should be found and as it is, in words; its holders are no part of it. */
export function roleDifferences(expected: RoleImage, found: LiveRole): readonly string[] {
  const { name, description, permissions, metadata, ...rest } = expected;
  rest satisfies Record<string, never>;
  const live = found.description ?? "";
  return [
    ...(name === found.name ? [] : [was("name", quoted(name), quoted(found.name))]),
    // The service does not tell an empty description from none.
    ...((description ?? "") === live ? [] : [was("description", quoted(description ?? ""), quoted(live))]),
    ...setDifference("permissions", permissions, found.permissions),
    ...metadataDifference(metadata, found.metadata),
  ];
}

/** A role's name without rolecall's own mark: a run that was cut short may have left it, and plans look past it. */
export function withoutTemporarySuffix(name: string): string {
  return name.endsWith(TEMPORARY_SUFFIX) ? name.slice(0, -TEMPORARY_SUFFIX.length) : name;
}

/** A member as it should be found: its roles by id, and the statuses that are good. */
export interface ExpectedMember {
  readonly image: MemberImage;
  readonly roleIds: readonly string[];
  readonly statuses: readonly (MemberStatus | null)[];
}

/** What differs between a member as it should be found and as it is, in words; `refs` tell how roles are called. */
export function memberDifferences(
  { image, roleIds, statuses }: ExpectedMember,
  found: LiveMember,
  refs: readonly RoleRef[],
): readonly string[] {
  const { email, roles: _, metadata, managed, status, ...rest } = image;
  rest satisfies Record<string, never>;
  const names = new Map(refs.map(({ id, name }) => [id, name]));
  const called = (id: string): string => names.get(id) ?? id;
  return [
    ...addressDifference(email, found),
    ...setDifference("roles", roleIds, found.roles, called),
    ...metadataDifference(metadata, found.metadata),
    ...nicknameDifference(managed, found),
    ...(statuses.includes(found.status) ? [] : [was("status", status ?? "none", found.status)]),
  ];
}

/** An invitation that is accepted may be so under another address; the one that was invited still stands with it. */
function addressDifference(planned: string | null, { user, invite }: LiveMember): readonly string[] {
  const found = [user?.email, invite?.email].flatMap((email) => email ?? []);
  const same =
    planned === null
      ? found.length === 0
      : found.some((email) => email.toLowerCase() === planned.toLowerCase());
  return same ? [] : [was("address", planned ?? "none", found[0] ?? "none")];
}

function nicknameDifference(managed: MemberImage["managed"], { user }: LiveMember): readonly string[] {
  const virtual = user?.type === "managed_user";
  if ((managed !== null) !== virtual) return [`managed by the merchant: ${virtual ? "now" : "no longer"}`];
  const [before, after] = [managed?.nickname ?? "", (virtual && user?.nickname) || ""];
  return before === after ? [] : [was("nickname", quoted(before), quoted(after))];
}

function setDifference(
  field: string,
  planned: readonly string[],
  found: readonly string[],
  called: (item: string) => string = (item) => item,
): readonly string[] {
  const [before, after] = [new Set(planned), new Set(found)];
  const list = (items: readonly string[]): string => items.map((item) => word(called(item))).join(", ");
  const added = [...after].filter((item) => !before.has(item));
  const gone = [...before].filter((item) => !after.has(item));
  const parts = [
    ...(added.length > 0 ? [`now also ${list(added)}`] : []),
    ...(gone.length > 0 ? [`no longer ${list(gone)}`] : []),
  ];
  return parts.length === 0 ? [] : [`${field}: ${parts.join(" and ")}`];
}

function metadataDifference(planned: Metadata, found: Metadata): readonly string[] {
  const [before, after] = [new Map(Object.entries(planned)), new Map(Object.entries(found))];
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys.flatMap((key) => {
    const [one, other] = [before.get(key), after.get(key)];
    if (one !== undefined && other !== undefined && isSameJson(one, other)) return [];
    return [was(`metadata ${word(key)}`, valueText(one), valueText(other))];
  });
}

function valueText(value: JsonValue | undefined): string {
  return value === undefined ? "nothing" : short(JSON.stringify(value));
}

function was(field: string, planned: string, found: string): string {
  return `${field}: ${planned} in the plan, ${found} now`;
}

/** A text as it is where it cannot be misread, else in quotes, where line breaks and quotes are seen for what they are. */
export function word(text: string): string {
  return /^[\p{L}\p{N}_.:@+-]+$/u.test(text) ? short(text) : quoted(text);
}

function quoted(text: string): string {
  return short(JSON.stringify(text));
}

function short(text: string): string {
  const letters = [...text];
  return letters.length > LONGEST_SHOWN ? `${letters.slice(0, LONGEST_SHOWN).join("")}…` : text;
}
