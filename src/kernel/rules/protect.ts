import { isLiteralGlob } from "../../lib/glob.ts";
import { quoted } from "../../lib/text.ts";
import type { IgnorePatterns } from "../../model/desired.ts";
import type { MemberChange, RoleChange } from "../../model/plan.ts";
import { addressesOf, type GlobMatch, matchesAny } from "../diff/scope.ts";
import { guardRefusal, ruleAdvice } from "../findings/refusals.ts";
import { openAddresses } from "../values/person.ts";
import { fieldsOf, listOf, textOf } from "../values/values.ts";
import { replacedBy, takesRoles } from "./removals.ts";
import type { Guard } from "./rule.ts";
import { protectSetting } from "./settings/protect-setting.ts";

/** Lists roles and members that no plan changes or removes. */
export const protect = {
  ...protectSetting,
  codes: ["protect"],
  keepsAccess: true,
  off: { roles: [], members: [] },
  undoHints: {
    protect: (file) =>
      file === undefined ? "Remove the entry from guards.protect." : `Ask those who own ${file}.`,
  },
  list: ({ roles, members }) => [
    ...roles.map((glob) => ({
      text: `protect role ${glob}`,
      keys: ["roles"],
      entry: glob,
      violated: null,
      alone: { roles: [glob], members: [] },
      item: { kind: "protect-role", glob } as const,
    })),
    ...members.map((glob) => ({
      text: `protect ${glob}`,
      keys: ["members"],
      entry: glob,
      violated: null,
      alone: { roles: [], members: [glob] },
      item: { kind: "protect-member", glob } as const,
    })),
  ],
  looser: (before, after, { matches, nameOf }) =>
    (["roles", "members"] as const).flatMap((key) => {
      const names = key === "roles" ? [...new Set(before.roles.map(nameOf))] : before.members;
      return names
        .filter((name) => !isCovered(name, after[key], matches))
        .map((name) => `${matchedBy(key, name)} no longer protected`);
    }),
  refuse(globs, { files: { members: entries = [] }, scope, changes: due, deferred, matches, enforcedBy }) {
    if (globs.roles.length + globs.members.length === 0) return [];
    const pinned = new Map(
      entries.flatMap(({ id, email }) => (id === undefined ? [] : [[id, email] as const])),
    );
    const changes = {
      roles: [...due.roles, ...deferred.roles],
      members: [...due.members, ...deferred.members],
    };
    const replaced = replacedBy(changes);
    const personOf = openAddresses(entries);
    const touched = [
      ...changes.roles.filter(({ kind }) => kind !== "create"),
      ...changes.members.filter((change) => change.kind !== "create" && !movesAlong(change, replaced)),
    ];
    const ids = new Set(touched.map(({ id }) => id));
    const members = scope.members.filter(({ id }) => ids.has(id));
    const addresses = new Map(members.map((member) => [member.id, addressesOf(member)]));
    const refusals = touched.flatMap((change) => {
      const { resource, name, kind, id, before } = change;
      const [isRole, key] = [resource === "role", id ?? ""];
      const entryName = pinned.get(key) ?? name;
      // The removal of an old membership does not count as a removal of the person.
      const ofPerson = change.reason === "address-changed" ? [] : [name, entryName].flatMap(personOf);
      const otherNames = isRole ? [] : [...(addresses.get(key) ?? []), entryName, ...ofPerson];
      const names = [id ?? name, name, nameIn(before) ?? name, ...otherNames];
      if (!matchesAny(isRole ? globs.roles : globs.members, names, matches)) return [];
      const refusal = guardRefusal(
        "protect",
        resource,
        name,
        `The ${resource} ${isRole ? `"${name}"` : name} is protected, and this plan would ${kind} it.`,
        `Revert the change in the file, or ${ruleAdvice("remove the entry from guards.protect", enforcedBy)}.`,
        `protect=${name}`,
      );
      return [[`${resource} ${id}`, refusal] as const];
    });
    // If part of a change is deferred, the change occurs twice.
    return [...new Map(refusals).values()];
  },
  causes({ kind, glob }, { resource, name }, { matches, items }) {
    if (resource !== (kind === "protect-role" ? "role" : "member")) return false;
    const names = (pattern: string): boolean => matchesAny([pattern], [name ?? ""], matches);
    // A pattern that names an id matches no name.
    return names(glob) || !items.some((other) => other.kind === kind && names(other.glob));
  },
  lint: (written, { roles, members, matches }) =>
    (["roles", "members"] as const).flatMap((key) =>
      listOf(fieldsOf(written)[key]).flatMap((entry, index) => {
        const [text, names] = [textOf(entry), key === "roles" ? roles : members];
        if (text === null || names === null || matchesAny([text], names, matches)) return [];
        return [{ code: "unmatched-pattern", path: [key, index], ...unmatchedPattern(text, key) }];
      }),
    ),
} as const satisfies Guard<
  IgnorePatterns,
  { readonly kind: "protect-role" | "protect-member"; readonly glob: string }
>;

/** Returns the lint of a pattern that matches nothing. */
export function unmatchedPattern(text: string, key: "roles" | "members") {
  return {
    message: `${quoted(text)} matches no ${key.slice(0, -1)}, live or declared.`,
    hint: "Check the spelling, or remove the pattern if nothing will match it.",
  };
}

/** Returns whether a member only moves from replaced roles to their successors. */
function movesAlong(change: MemberChange, replaced: ReadonlySet<string>): boolean {
  return (
    change.kind === "update" &&
    !takesRoles(change, replaced) &&
    change.fields.every((diff) => diff.field === "roles" && diff.added.length === diff.removed.length)
  );
}

function nameIn(image: RoleChange["before"] | MemberChange["before"]): string | null {
  if (image === null) return null;
  return "permissions" in image ? image.name : image.email;
}

function isCovered(name: string, globs: readonly string[], matches: GlobMatch): boolean {
  const lower = name.toLowerCase();
  return globs.some(
    (glob) => glob.toLowerCase() === lower || (isLiteralGlob(name) && matches(glob.toLowerCase(), lower)),
  );
}

/** "the role "Shift Lead" is", or "members that match "*@example.com" are". */
export function matchedBy(key: "roles" | "members", name: string): string {
  const written = key === "roles" ? `"${name}"` : name;
  return isLiteralGlob(name) ? `the ${key.slice(0, -1)} ${written} is` : `${key} that match "${name}" are`;
}
