import type { PastRun, PastWrite } from "../../model/past-run.ts";
import { type MemberImage, type RoleImage, TEMPORARY_SUFFIX } from "../../model/plan.ts";
import { type OmittableField, unrestoredWrites } from "./emptied-fields.ts";

/** What a run did to one resource, all its writes together; `before` null: it made it, `after` null: it removed it. */
export interface Effect<Image> {
  /** Null for what it created, where nobody knows whether it did. */
  readonly id: string | null;
  readonly name: string;
  readonly before: Image | null;
  readonly after: Image | null;
  /** An expired invitation that was removed to be renewed, and was not. */
  readonly lost?: true;
  /** Fields that the run did not change, and that the service may have emptied; absent: none. */
  readonly maybeEmptied?: readonly OmittableField[];
}

/** A role in whose place the run put another one, or began to. */
export interface RoleReplaced {
  /** The name of the one that takes its place. */
  readonly name: string;
  /** Of the one that was replaced; like `before`, null where the run only made the other one. */
  readonly id: string | null;
  readonly before: RoleImage | null;
  /** Null where the run did not make the one that takes its place. */
  readonly after: RoleImage | null;
  /** The one that took its place; null where it is not known. */
  readonly successor: string | null;
}

/** What a run did, as far as it was done or may have been. */
export interface NetEffects {
  readonly roles: readonly Effect<RoleImage>[];
  readonly replaced: readonly RoleReplaced[];
  readonly members: readonly Effect<MemberImage>[];
}

/** Adds the writes of a run up; what failed, was not sent, or was so already, did nothing. */
export function netEffects({ writes }: Pick<PastRun, "writes">): NetEffects {
  const roles = new Map<string, Effect<RoleImage>>();
  const members = new Map<string, Effect<MemberImage>>();
  const replaced = new Map<string, RoleReplaced>();
  const renewed = new Set(
    writes.flatMap(({ intent, outcome }) =>
      intent.part === "create" && outcome?.status === "done" ? intent.fingerprint : [],
    ),
  );
  const unrestored = new Map(unrestoredWrites({ writes }).map(({ write, fields }) => [write, fields]));
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
    else addMember(members, write, renewed, unrestored.get(write));
  }
  return { roles: [...roles.values()], replaced: [...replaced.values()], members: [...members.values()] };
}

/** The writes of one replacement have one fingerprint: the old role is set aside, a new one made, the old one removed. */
function addReplaced(replaced: Map<string, RoleReplaced>, { intent, outcome }: PastWrite): void {
  const { fingerprint, name, part, id } = intent;
  const known = replaced.get(fingerprint) ?? NOTHING_REPLACED;
  const created = part === "create" || part === "whole";
  replaced.set(fingerprint, {
    name,
    id: known.id ?? id,
    before: known.before ?? roleImage(intent.before),
    after: created ? roleImage(intent.after) : known.after,
    successor: created && outcome?.id !== id ? (outcome?.id ?? null) : known.successor,
  });
}

const NOTHING_REPLACED: Omit<RoleReplaced, "name"> = { id: null, before: null, after: null, successor: null };

function addRole(effects: Map<string, Effect<RoleImage>>, { intent, outcome }: PastWrite): void {
  const before = roleImage(intent.before);
  const aside = intent.part === "set-aside" && before !== null;
  const after = aside ? { ...before, name: asideName(before.name) } : roleImage(intent.after);
  add(effects, { id: intent.id ?? outcome?.id ?? null, name: intent.name, before, after });
}

function addMember(
  effects: Map<string, Effect<MemberImage>>,
  { intent, outcome }: PastWrite,
  renewed: ReadonlySet<string>,
  maybeEmptied: readonly OmittableField[] | undefined,
): void {
  const { id, name, kind, part, fingerprint } = intent;
  const before = memberImage(intent.before);
  const after = memberImage(intent.after);
  if (kind !== "replace") {
    add(effects, {
      id: id ?? outcome?.id ?? null,
      name,
      before,
      after,
      ...(maybeEmptied && { maybeEmptied }),
    });
    return;
  }
  // An expired invitation goes, and a new one comes: two memberships, unless the service gave it the old one's id.
  const created = outcome?.id ?? null;
  if (part === "remove" || (id !== null && created !== null && created !== id)) {
    const lost = !renewed.has(fingerprint);
    add(effects, { id, name, before, after: null, ...(lost && { lost }) });
  }
  if (part === "create" || part === "whole") add(effects, { id: created, name, before: null, after });
}

/** Fields that the service emptied and the run did not restore for certain. */
function addEmptied(
  members: Map<string, Effect<MemberImage>>,
  { intent: { id, name, before } }: PastWrite,
): void {
  const emptied = memberImage(before);
  if (emptied !== null) add(members, { id, name, before: emptied, after: emptied });
}

function add<Image>(effects: Map<string, Effect<Image>>, effect: Effect<Image>): void {
  const key = effect.id ?? `new ${effect.name}`;
  const known = effects.get(key);
  effects.set(key, known ? { ...effect, before: known.before } : effect);
}

function asideName(name: string): string {
  return name.endsWith(TEMPORARY_SUFFIX) ? name : `${name}${TEMPORARY_SUFFIX}`;
}

function roleImage(image: RoleImage | MemberImage | null): RoleImage | null {
  return image !== null && "permissions" in image ? image : null;
}

function memberImage(image: RoleImage | MemberImage | null): MemberImage | null {
  return image !== null && "email" in image ? image : null;
}
