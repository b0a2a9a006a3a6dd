import { permanentName, temporaryName } from "../kernel/fields/temporary-name.ts";
import type { PastRun, PastWrite } from "../model/apply.ts";
import type { RoleImage } from "../model/field-values.ts";
import type { MemberImage } from "../model/plan.ts";

/** The net effect of a run's writes on one resource; `before` is `null` if it was created, `after` if it was removed. */
export interface Effect<Image> {
  /** `null` for a resource whose creation has an unknown outcome. */
  readonly id: string | null;
  readonly name: string;
  readonly before: Image | null;
  readonly after: Image | null;
  /** Set for an expired invitation that was removed but not renewed. */
  readonly lost?: true;
}

/** The replacement of a role, complete or not. */
export interface RoleReplacement {
  /** The successor's name. */
  readonly name: string;
  /** The replaced role's id; like `before`, `null` if the run only created the successor. */
  readonly id: string | null;
  readonly before: RoleImage | null;
  /** The created successor; `null` if the run did not create it. */
  readonly after: RoleImage | null;
  /** The successor's id; `null` if unknown. */
  readonly successor: string | null;
}

/** The net effects of a run, including those of writes with an unknown outcome. */
export interface NetEffects {
  readonly roles: readonly Effect<RoleImage>[];
  readonly replaced: readonly RoleReplacement[];
  readonly members: readonly Effect<MemberImage>[];
}

/** Combines the writes of a run; those that failed, were not sent or changed nothing have no effect. */
export function netEffects({ writes }: Pick<PastRun, "writes">): NetEffects {
  const roles = new Map<string, Effect<RoleImage>>();
  const members = new Map<string, Effect<MemberImage>>();
  const replaced = new Map<string, RoleReplacement>();
  const renewed = new Set(
    writes.flatMap(({ intent, outcome }) =>
      intent.part === "create" && outcome?.status === "done" ? intent.fingerprint : [],
    ),
  );
  for (const write of writes) {
    const { intent, outcome } = write;
    if (intent.part === "restore" && outcome?.status !== "done") {
      addEmptied(members, write);
      continue;
    }
    if (outcome?.already) continue;
    if (outcome !== null && outcome.status !== "done" && outcome.status !== "unknown") continue;
    const image = intent.before ?? intent.after;
    if (image === null) continue;
    if (intent.resource === "role" && intent.kind === "replace") addReplaced(replaced, write);
    else if ("permissions" in image) addRole(roles, write);
    else addMember(members, write, renewed);
  }
  return { roles: [...roles.values()], replaced: [...replaced.values()], members: [...members.values()] };
}

/** Adds a write of a replacement: its writes share a fingerprint, and rename the old role, create the new, remove the old. */
function addReplaced(replaced: Map<string, RoleReplacement>, { intent, outcome }: PastWrite): void {
  const { fingerprint, name, part, id } = intent;
  const replacement = replaced.get(fingerprint) ?? NOTHING_REPLACED;
  const created = part === "create" || part === "whole";
  replaced.set(fingerprint, {
    name,
    id: replacement.id ?? id,
    before: replacement.before ?? roleImage(intent.before),
    after: created ? roleImage(intent.after) : replacement.after,
    successor: created && outcome?.id !== id ? (outcome?.id ?? null) : replacement.successor,
  });
}

const NOTHING_REPLACED: Omit<RoleReplacement, "name"> = {
  id: null,
  before: null,
  after: null,
  successor: null,
};

function addRole(effects: Map<string, Effect<RoleImage>>, { intent, outcome }: PastWrite): void {
  const before = roleImage(intent.before);
  const id = intent.id ?? outcome?.id ?? null;
  const isAside = intent.part === "set-aside" && before !== null && id !== null;
  const after = isAside
    ? { ...before, name: temporaryName(permanentName(before.name, id), id) }
    : roleImage(intent.after);
  add(effects, { id, name: intent.name, before, after });
}

function addMember(
  effects: Map<string, Effect<MemberImage>>,
  { intent, outcome }: PastWrite,
  renewed: ReadonlySet<string>,
): void {
  const { id, name, kind, part, fingerprint } = intent;
  const before = memberImage(intent.before);
  const after = memberImage(intent.after);
  if (kind !== "replace") {
    add(effects, { id: id ?? outcome?.id ?? null, name, before, after });
    return;
  }
  // A renewal affects two memberships, unless the service reused the expired invitation's id.
  const created = outcome?.id ?? null;
  if (part === "remove" || (id !== null && created !== null && created !== id)) {
    const lost = !renewed.has(fingerprint);
    add(effects, { id, name, before, after: null, ...(lost && { lost }) });
  }
  if (part === "create" || part === "whole") add(effects, { id: created, name, before: null, after });
}

/** Adds the fields that the service emptied and the run may not have restored. */
function addEmptied(
  members: Map<string, Effect<MemberImage>>,
  { intent: { id, name, before } }: PastWrite,
): void {
  const emptied = memberImage(before);
  if (emptied !== null) add(members, { id, name, before: emptied, after: emptied });
}

function add<Image>(effects: Map<string, Effect<Image>>, effect: Effect<Image>): void {
  const key = effect.id ?? `new ${effect.name}`;
  const earlier = effects.get(key);
  effects.set(key, earlier ? { ...effect, before: earlier.before } : effect);
}

function roleImage(image: RoleImage | MemberImage | null): RoleImage | null {
  return image !== null && "permissions" in image ? image : null;
}

function memberImage(image: RoleImage | MemberImage | null): MemberImage | null {
  return image !== null && "email" in image ? image : null;
}
