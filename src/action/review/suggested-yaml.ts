import { stringify } from "yaml";
import type { JsonValue } from "../../model/json.ts";
import type { Change, MemberImage, Plan, RoleImage } from "../../model/plan.ts";

/** Returns the YAML that would make a file match the live state: entries to add and entries to remove. */
export function suggestedYaml({ changes }: Plan): string {
  const roles = changes.flatMap((change) => (change.resource === "role" ? liveEntry(change) : []));
  const members = changes.flatMap((change) => (change.resource === "member" ? liveEntry(change) : []));
  const gone = changes.filter(({ before }) => before === null);
  const entries = {
    ...(roles.length > 0 && { roles }),
    ...(members.length > 0 && { members }),
  };
  const parts = [
    ...(gone.length > 0
      ? ["# Remove these:", ...gone.map(({ resource, name }) => `#   ${resource} ${JSON.stringify(name)}`)]
      : []),
    ...(roles.length + members.length > 0
      ? ["# Add these, or replace what is there:", stringify(entries, { lineWidth: 0 }).trimEnd()]
      : []),
  ];
  return parts.join("\n");
}

function liveEntry({ before, name }: Change): readonly Readonly<Record<string, JsonValue>>[] {
  if (before === null) return [];
  return ["permissions" in before ? roleEntry(before) : memberEntry(before, name)];
}

function roleEntry({
  name,
  description,
  permissions,
  metadata,
}: RoleImage): Readonly<Record<string, JsonValue>> {
  return {
    name,
    ...(description && { description }),
    permissions: [...permissions],
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

function memberEntry(
  { email, roles, metadata }: MemberImage,
  name: string,
): Readonly<Record<string, JsonValue>> {
  return {
    email: email ?? name,
    roles: roles.map((role) =>
      role.id !== null && role.id === `role_${role.name.toLowerCase()}` ? role.id : role.name,
    ),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}
