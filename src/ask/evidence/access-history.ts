import { isManaged, liveValues, memberDiffs, memberImage, withValues } from "../../kernel/fields/member.ts";
import { roleDiffs, roleImage } from "../../kernel/fields/role.ts";
import type { AccessChange } from "../../model/evidence.ts";
import type { RoleImage } from "../../model/field-values.ts";
import type { LiveState } from "../../model/live.ts";
import type { Change, MemberImage } from "../../model/plan.ts";

/** A live state of a merchant, as it was recorded. */
export interface SeenState {
  readonly kind: "seen";
  readonly commit: string;
  /** In ms since the epoch. */
  readonly at: number;
  /** The run that recorded it; `null` for any other command. */
  readonly run: string | null;
  readonly live: LiveState;
}

/** What a run has done to a role or member. */
export type RunEffect = {
  readonly id: string | null;
  readonly name: string;
  /** Time of its last write, in ms since the epoch. */
  readonly at: number;
  /** False if the service may not have applied it. */
  readonly isCertain: boolean;
} & (
  | { readonly resource: "role"; readonly before: RoleImage | null; readonly after: RoleImage | null }
  | { readonly resource: "member"; readonly before: MemberImage | null; readonly after: MemberImage | null }
);

/** The part of a run at one merchant. */
export interface RunPart {
  readonly kind: "run";
  readonly merchant: string;
  readonly run: string;
  /** In ms since the epoch, as is `ended`. */
  readonly at: number;
  readonly ended: number;
  readonly effects: readonly RunEffect[];
}

export type AccessEvent = SeenState | RunPart;

/** A role or member as it was known last. */
export type KnownResource = {
  readonly id: string;
  readonly name: string;
  /** The last moment at which it was known to be so, in ms since the epoch. */
  readonly at: number;
} & (
  | { readonly resource: "role"; readonly image: RoleImage | null }
  | { readonly resource: "member"; readonly image: MemberImage | null }
);

/** A change of access, with times in ms since the epoch. */
export type FollowedChange = Omit<AccessChange, "merchant" | "at" | "since"> & {
  readonly at: number;
  readonly since: number | null;
};

/** The history of the access at one merchant. */
export interface AccessHistory {
  readonly changes: readonly FollowedChange[];
  /** What was known at the end, without what does not exist. */
  readonly known: readonly KnownResource[];
  /** The time of the last state that was seen; `null` without one. */
  readonly seenAt: number | null;
}

/** A state is read before it is recorded: what a run did meanwhile may be missing in it. In ms. */
const READING_TIME = 120_000;

/** The time of a commit is in whole seconds. */
const COMMIT_PRECISION = 999;

/**
 * Follows the access at one merchant through what runs did and what was seen of it. A state that is not as the last one and
 * the runs since leave it is a change that no run has made.
 */
export function accessHistory(events: readonly AccessEvent[]): AccessHistory {
  const runs = new Map(events.flatMap((event) => (event.kind === "run" ? [[event.run, event]] : [])));
  const timeOf = (event: AccessEvent): number =>
    event.kind === "run"
      ? event.at
      : Math.max(event.at + COMMIT_PRECISION, runs.get(event.run ?? "")?.ended ?? 0);
  const sorted = [...events].sort((a, b) => timeOf(a) - timeOf(b) || (a.kind === "run" ? -1 : 1));
  const follower = new Follower([...runs.values()]);
  for (const event of sorted) {
    if (event.kind === "run") follower.run(event);
    else follower.see(event);
  }
  return follower.history();
}

/** What is known of a resource: its image, or the images that it may have after a write of unknown outcome. */
type Known = KnownResource & { readonly maybe?: RoleImage | MemberImage | null };

class Follower {
  readonly #runs: readonly RunPart[];
  readonly #changes: FollowedChange[] = [];
  readonly #known = new Map<string, Known>();
  readonly #roleIds = new Map<string, string>();
  #seenAt: number | null = null;

  constructor(runs: readonly RunPart[]) {
    this.#runs = runs;
  }

  run({ run, at, effects }: RunPart): void {
    for (const { resource, after, id } of effects) {
      if (resource === "role" && after !== null && id !== null) this.#roleIds.set(after.name, id);
    }
    for (const effect of effects) {
      if (effect.id === null) continue;
      const [before, after] = [this.#normal(effect.before), this.#normal(effect.after)];
      const { id, resource, name, isCertain } = effect;
      if (before !== null) this.#meet({ id, resource, name, at, image: before } as KnownResource, NOBODY);
      const change = changeOf({ id, resource, name, before, after });
      if (change !== null) this.#changes.push({ at: effect.at, since: null, change, run, seenIn: null });
      const known = { id, resource, name, at: effect.at, image: after } as KnownResource;
      this.#known.set(keyOf(known), isCertain ? known : { ...known, maybe: before });
    }
  }

  see({ live, at, commit, run }: SeenState): void {
    // A run whose record is missing, or cannot be trusted, has recorded what it left.
    const by = run === null || this.#runs.some((one) => one.run === run) ? null : run;
    for (const { name, id } of live.roles) this.#roleIds.set(name, id);
    const seen = new Map(imagesOf(live, at).map((image) => [keyOf(image), image]));
    for (const known of this.#known.values()) {
      if (!seen.has(keyOf(known))) seen.set(keyOf(known), { ...known, at, image: null });
    }
    for (const resource of seen.values()) this.#meet(resource, { seenIn: commit, run: by });
    this.#seenAt = at;
  }

  history(): AccessHistory {
    const known = [...this.#known.values()].filter(({ image }) => image !== null);
    return { changes: this.#changes, known, seenAt: this.#seenAt };
  }

  /** Compares what is seen of a resource with what is known of it. */
  #meet(seen: KnownResource, { run, seenIn }: Pick<AccessChange, "run" | "seenIn">): void {
    const known = this.#known.get(keyOf(seen));
    // Without a state that was seen whole, what is unknown may have been so for long.
    const since = known?.at ?? this.#seenAt;
    if (since !== null) {
      const { id, resource, name } = seen;
      const before = known?.image ?? null;
      const change = changeOf({ id, resource, name: nameOf(known) ?? name, before, after: seen.image });
      if (change !== null && known?.maybe !== undefined && isSame(known.maybe, seen.image)) {
        this.#known.set(keyOf(seen), seen);
        return;
      }
      if (change !== null) {
        if (seenIn !== null && this.#isBeingChanged(seen)) return;
        this.#changes.push({ at: seen.at, since, change, run, seenIn });
      }
    }
    this.#known.set(keyOf(seen), seen);
  }

  /** Returns whether a run was at work on a resource while a state was read, and the state has what was there before. */
  #isBeingChanged(seen: KnownResource): boolean {
    const key = keyOf(seen);
    return this.#runs.some(
      ({ at, ended, effects }) =>
        at <= seen.at + COMMIT_PRECISION &&
        ended >= seen.at - READING_TIME &&
        effects.some((effect) => {
          const { id, resource, before } = effect;
          return id !== null && keyOf({ id, resource }) === key && isSame(this.#normal(before), seen.image);
        }),
    );
  }

  /** Names the roles of a member by their ids; a run that has created a role names it without one. */
  #normal<Image extends RoleImage | MemberImage>(image: Image | null): Image | null {
    if (image === null || "permissions" in image) return image;
    const roles = image.roles.map(({ id, name }) => ({ id: id ?? this.#roleIds.get(name) ?? null, name }));
    return withValues(image, { roles }) as Image;
  }
}

const NOBODY = { run: null, seenIn: null };

function keyOf({ resource, id }: Pick<KnownResource, "resource" | "id">): string {
  return `${resource} ${id}`;
}

function nameOf(known: Known | undefined): string | undefined {
  return known?.image == null ? undefined : known.name;
}

/** Returns the custom roles and the members of a live state. */
export function imagesOf({ roles, members }: LiveState, at: number): readonly KnownResource[] {
  const names = new Map(roles.map(({ id, name }) => [id, name]));
  const refOf = (id: string) => ({ id, name: names.get(id) ?? id });
  return [
    ...roles.flatMap((role): readonly KnownResource[] =>
      role.predefined || role.idOnly
        ? []
        : [{ resource: "role", id: role.id, name: role.name, at, image: roleImage(role) }],
    ),
    ...members.map((member): KnownResource => {
      const email = member.user?.email ?? member.invite?.email ?? null;
      const identity = { email, status: member.status, passwordEnv: isManaged(member) ? null : undefined };
      const image = memberImage(identity, liveValues(member, refOf));
      return { resource: "member", id: member.id, name: email ?? member.id, at, image };
    }),
  ];
}

function isSame(a: RoleImage | MemberImage | null, b: RoleImage | MemberImage | null): boolean {
  return changeOf({ id: "", resource: resourceOf(a ?? b), name: "", before: a, after: b }) === null;
}

function resourceOf(image: RoleImage | MemberImage | null): "role" | "member" {
  return image !== null && "permissions" in image ? "role" : "member";
}

/** Returns the change from one image to another; `null` if they are the same. An acceptance is no change of access. */
function changeOf({
  id,
  resource,
  name,
  before,
  after,
}: {
  readonly id: string;
  readonly resource: "role" | "member";
  readonly name: string;
  readonly before: RoleImage | MemberImage | null;
  readonly after: RoleImage | MemberImage | null;
}): Change | null {
  const base = { resource, name, reason: "declared", fingerprint: "" } as const;
  if (before === null && after === null) return null;
  if (before === null) return { ...base, kind: "create", id: null, before, after, fields: [] } as Change;
  if (after === null) return { ...base, kind: "delete", id, before, after, fields: [] } as Change;
  const fields =
    "permissions" in before || "permissions" in after
      ? roleDiffs(before as RoleImage, after as RoleImage)
      : memberDiffs(before, after);
  if (fields.length === 0 && !isSwitched(before, after)) return null;
  return { ...base, kind: "update", id, before, after, fields } as Change;
}

/** Returns whether a member was disabled or enabled. */
function isSwitched(before: RoleImage | MemberImage, after: RoleImage | MemberImage): boolean {
  if ("permissions" in before || "permissions" in after) return false;
  return (before.status === "disabled") !== (after.status === "disabled");
}
