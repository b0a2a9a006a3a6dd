import { maskKeys } from "../../kernel/problems/secrets.ts";
import type { Adoption, EntryEdit, MemberEntry, Mention } from "../../model/adoption.ts";
import type { JsonValue } from "../../model/json.ts";

/** An entry that is commented out, and what the comment says about it. */
interface RemarkValues {
  readonly value: JsonValue;
  readonly comment: string;
}

const CAUSES = {
  unwritable: "a file cannot express its name or address",
  twin: "another entry has its name or address",
  leftover: "its invitation has expired, and another entry has its address",
  temporary: "an interrupted apply gave it this name",
} as const;

/** Returns the commented-out entry of a role or member that is ignored, and why. */
export function ignoredValues({
  kind,
  id,
  name,
  cause,
}: Extract<EntryEdit, { readonly cause: unknown }>): RemarkValues {
  const key = kind === "ignore-role" ? "name" : "email";
  return {
    value: { ...(name !== null && { [key]: maskKeys(name) }), id: maskKeys(id) },
    comment: `ignored: ${CAUSES[cause]}`,
  };
}

/** Returns what the comment above a new entry says; `null` if there is nothing to say. */
export function entryText(edit: Extract<EntryEdit, { readonly left: unknown }>): string | null {
  const texts = [
    ...(edit.kind === "add-member" && edit.status === "expired"
      ? ["The invitation has expired. Without reinvite: false, a plan renews it."]
      : []),
    ...(edit.kind === "add-member" && edit.ignored.length > 0
      ? [`Also has ignored roles: ${edit.ignored.join(", ")}.`]
      : []),
    ...(edit.left.length > 0
      ? [`Not managed here, since a file cannot express it: ${edit.left.join(", ")}.`]
      : []),
  ];
  return texts.length === 0 ? null : texts.join(" ");
}

/** Says what the files of a merchant do not declare, and why: one line for each role and person. */
export function leftOutTexts({ edits, mentions }: Adoption): readonly string[] {
  const texts = edits.flatMap((edit): readonly string[] => {
    switch (edit.kind) {
      case "ignore-role":
        return [`role ${edit.name ?? edit.id} (${edit.id}): ${CAUSES[edit.cause]}`];
      case "ignore-member":
        return [`${edit.name ?? "member"} (${edit.id}): ${CAUSES[edit.cause]}`];
      case "add-role":
        return leftTexts(`role ${edit.entry.name}`, edit.left);
      case "add-member":
        return [
          ...edit.ignored.map((role) => `${role} of ${edit.entry.email}: the role is ignored`),
          ...leftTexts(edit.entry.email, edit.left),
        ];
      default:
        return [];
    }
  });
  return [
    ...texts,
    ...mentions.map(
      (mention) => `${mention.email ?? `member ${mention.id}`}: ${mentionValues(mention).comment}`,
    ),
  ];
}

function leftTexts(about: string, parts: readonly string[]): readonly string[] {
  return parts.length === 0 ? [] : [`${parts.join(", ")} of ${about}: a file cannot express it`];
}

/** Returns a glob that matches one id only. */
export function literalGlob(id: string): string {
  return id.replaceAll(/[\\*?[\](){}!+@|]/g, "\\$&");
}

const TYPES: Readonly<Record<string, string>> = {
  service_account: "a service account, which plans leave alone",
  system_account: "a system account, which plans leave alone",
};

/** Returns the commented-out entry of a member that plans leave alone, and why. */
export function mentionValues({ id, email, type, roles }: Mention): RemarkValues {
  const comment =
    email === null
      ? "no address, so no entry can refer to it"
      : (TYPES[type ?? ""] ?? `a user of the type ${type ?? "unknown"}, which plans leave alone`);
  const who = email === null ? { id: maskKeys(id) } : { email: maskKeys(email) };
  return { value: { ...who, roles: roles.map(maskKeys) }, comment };
}

/**
 * Returns the names of the variables that will hold the passwords of managed users, derived from their nicknames or
 * addresses; each name once, and none that is taken.
 */
export function passwordVariables(
  entries: readonly MemberEntry[],
  taken: ReadonlySet<string>,
): ReadonlyMap<MemberEntry, string> {
  const used = new Set(taken);
  const variables = new Map<MemberEntry, string>();
  for (const entry of entries) {
    if (entry.managed === undefined) continue;
    const base =
      variableOf(entry.managed.nickname ?? "") ?? variableOf(entry.email.split("@")[0] ?? "") ?? "USER";
    let name = `${base}_PASSWORD`;
    for (let nth = 2; used.has(name); nth += 1) name = `${base}_${nth}_PASSWORD`;
    used.add(name);
    variables.set(entry, name);
  }
  return variables;
}

/** Returns a text as the name of a variable: "Till 7" is `TILL_7`; `null` if no letter or digit of it can be in one. */
function variableOf(text: string): string | null {
  const name = text
    .normalize("NFKD")
    .toUpperCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  if (name === "") return null;
  return /^\d/.test(name) ? `USER_${name}` : name;
}
