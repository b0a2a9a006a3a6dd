import fc from "fast-check";
import {
  type AccessFiles,
  dayText,
  type Entry,
  entryKey,
  MERCHANTS,
  type Merchant,
  PERMISSIONS,
  type Permission,
  type Person,
  type Place,
  type RoleName,
} from "./access-files.ts";

const DAY = 86_400_000;

/** An edit of a role. */
type RoleEdit =
  | { readonly does: "permit" | "forbid"; readonly role: RoleName; readonly permission: Permission }
  | { readonly does: "create" | "drop"; readonly role: RoleName };

/** An edit of a file; days count from the day of the edit. */
export type Edit =
  | RoleEdit
  | {
      readonly does: "list";
      readonly person: Person;
      readonly role: RoleName;
      readonly from: number | null;
      readonly until: number | null;
    }
  | { readonly does: "end"; readonly person: Person; readonly days: number | null }
  | { readonly does: "unlist"; readonly person: Person }
  | { readonly does: "revoke"; readonly person: Person; readonly role: RoleName }
  | { readonly does: "touch"; readonly note: number };

/** Edits of one file. */
export interface PlacedEdit {
  readonly place: Place;
  readonly edit: Edit;
}

/** How somebody reviews; the reader may not push. */
export interface ReviewStep {
  readonly by: "rita" | "paul" | "reader";
  readonly state: "APPROVED" | "CHANGES_REQUESTED" | "COMMENTED";
}

/** An edit of an account past the files. */
export type DashboardStep =
  | {
      readonly step: "widen" | "narrow";
      readonly merchant: Merchant;
      readonly role: RoleName;
      readonly permission: Permission;
    }
  | {
      readonly step: "give" | "take";
      readonly merchant: Merchant;
      readonly person: Person;
      readonly role: RoleName;
    }
  | { readonly step: "remove"; readonly merchant: Merchant; readonly person: Person };

/** A step of an open pull request; `pull` counts from the last one, -1. */
export type PullStep = { readonly pull: number } & (
  | { readonly step: "push"; readonly edits: readonly PlacedEdit[] }
  | { readonly step: "update" | "plan" }
  /** With a run of the plan for the event of the review, or without. */
  | { readonly step: "review"; readonly review: ReviewStep; readonly runs: boolean }
  | { readonly step: "dismiss"; readonly by: "rita" | "paul" }
  | {
      readonly step: "merge";
      readonly method: "squash" | "merge" | "rebase";
      /** Whether a failing status keeps it from being merged. */
      readonly needsStatus: boolean;
    }
);

/**
 * What goes wrong in an apply: another apply, a nightly run or a merge comes before it records what it has done, its
 * records are lost, or the service refuses its first write.
 */
export type Mishap = "apply" | "due" | "merge" | "unrecorded" | "unwritten";

/** A step of a history. */
export type Step =
  | DashboardStep
  | PullStep
  | { readonly step: "open"; readonly edits: readonly PlacedEdit[]; readonly isFork: boolean }
  | { readonly step: "revert" }
  | { readonly step: "queue"; readonly pulls: readonly number[] }
  /** A push to main past any review. */
  | { readonly step: "direct"; readonly edits: readonly PlacedEdit[] }
  | { readonly step: "wait"; readonly days: number }
  /** Many commits on main that have nothing to do with access. */
  | { readonly step: "bustle" }
  /** An apply for the tip, for a commit before it, or again for the commit of the last one. */
  | { readonly step: "apply"; readonly of: "tip" | "older" | "again"; readonly mishap?: Mishap }
  | { readonly step: "due" }
  /** Somebody lets the last apply with something to approve go on. */
  | { readonly step: "approve" };

const EDITED_PEOPLE = ["bob@example.com", "cy@example.com", "dan@example.com", "zoe@example.com"] as const;
const ROLES_OF = {
  MC1: ["Cashier", "Helper", "Night"],
  MC2: ["Cashier", "Night"],
  MC3: ["Cashier"],
  shared: ["Night"],
} as const satisfies Record<Place, readonly RoleName[]>;
/** The roles that a file declares, or may declare. */
const OWN_ROLES = {
  MC1: ["Cashier", "Helper"],
  MC2: ["Cashier", "Helper"],
  MC3: ["Cashier", "Helper"],
  shared: ["Night"],
} as const satisfies Record<Place, readonly RoleName[]>;

const person = fc.constantFrom(...EDITED_PEOPLE);
const permission = fc.constantFrom(...PERMISSIONS);
const merchant = fc.constantFrom(...MERCHANTS);
const days = fc.integer({ min: 0, max: 5 });

const edit = (place: Place): fc.Arbitrary<Edit> => {
  const role = fc.constantFrom<RoleName>(...ROLES_OF[place]);
  const own = fc.constantFrom<RoleName>(...OWN_ROLES[place]);
  return fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        does: fc.constant("list" as const),
        person,
        role,
        from: fc.option(days, { freq: 1 }).map((one) => (one !== null && one > 2 ? one : null)),
        until: fc.option(days, { freq: 2 }),
      }),
    },
    {
      weight: place === "shared" ? 0 : 1,
      arbitrary: fc.record({
        does: fc.constant("end" as const),
        person,
        days: fc.option(days, { freq: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant("unlist" as const), person }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant("revoke" as const), person, role }) },
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constantFrom("permit" as const, "forbid" as const),
        role: own,
        permission,
      }),
    },
    {
      weight: place === "shared" ? 0 : 1,
      arbitrary: fc.record({
        does: fc.constantFrom("create" as const, "drop" as const),
        role: fc.constant("Helper" as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("touch" as const), note: fc.nat(9) }) },
  );
};

const placedEdit: fc.Arbitrary<PlacedEdit> = fc
  .constantFrom<Place>("MC1", "MC1", "MC2", "MC3", "shared", "shared")
  .chain((place) => edit(place).map((one) => ({ place, edit: one })));
const edits = fc.array(placedEdit, { minLength: 1, maxLength: 2 });

const often = <T>(weight: number, usual: T, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

/** The steps of a pull request until it may be merged, and from then on; `pull` is filled in later. */
interface PullStory {
  readonly opened: readonly Step[];
  readonly merged: readonly Step[];
}

const review = (by: ReviewStep["by"], state: ReviewStep["state"], runs = false): Step => ({
  step: "review",
  pull: -1,
  review: { by, state },
  runs,
});

const reviews: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 6, arbitrary: fc.boolean().map((runs) => [review("rita", "APPROVED", runs)]) },
  { weight: 2, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.constant([review("reader", "APPROVED", true)]) },
  { weight: 1, arbitrary: fc.constant([review("rita", "COMMENTED")]) },
  {
    weight: 1,
    arbitrary: fc.constant([review("rita", "APPROVED"), review("rita", "CHANGES_REQUESTED")]),
  },
  { weight: 1, arbitrary: fc.constant([review("paul", "APPROVED"), review("rita", "APPROVED")]) },
  {
    weight: 1,
    arbitrary: fc.constant<readonly Step[]>([
      review("rita", "APPROVED"),
      { step: "dismiss", pull: -1, by: "rita" },
    ]),
  },
);

const plan = { step: "plan", pull: -1 } as const;

/** The plan of a commit and its reviews, in any order. */
const planned: fc.Arbitrary<readonly Step[]> = fc
  .tuple(often(12, true, fc.constant(false)), often(8, false, fc.constant(true)), reviews)
  .map(([isPlanned, isLate, reviewed]) => {
    const own = isPlanned ? [plan] : [];
    return isLate ? [...reviewed, ...own] : [...own, ...reviewed];
  });

const again: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 8, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(edits, planned)
      .map(([pushed, after]): readonly Step[] => [{ step: "push", pull: -1, edits: pushed }, ...after]),
  },
  {
    weight: 2,
    arbitrary: planned.map((after): readonly Step[] => [{ step: "update", pull: -1 }, ...after]),
  },
);

const merging: fc.Arbitrary<readonly Step[]> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        step: fc.constant("merge" as const),
        pull: fc.constant(-1),
        method: fc.constantFrom("squash" as const, "merge" as const, "rebase" as const),
        needsStatus: fc.boolean(),
      })
      .map((one) => [one]),
  },
  { weight: 2, arbitrary: fc.constant<readonly Step[]>([{ step: "queue", pulls: [-1] }]) },
  { weight: 1, arbitrary: fc.constant<readonly Step[]>([{ step: "queue", pulls: [-1, 0] }]) },
  { weight: 1, arbitrary: fc.constant([]) },
);

const opening: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      step: fc.constant("open" as const),
      edits,
      isFork: often(20, false, fc.constant(true)),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ step: "revert" }) },
);

const pullStory: fc.Arbitrary<PullStory> = fc
  .tuple(opening, planned, again, merging)
  .map(([open, first, then, merge]) => ({ opened: [open, ...first], merged: [...then, ...merge] }));

const disturbance: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constantFrom("widen" as const, "narrow" as const),
      merchant,
      role: fc.constantFrom("Cashier" as const, "Helper" as const, "Night" as const),
      permission,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: fc.constantFrom("give" as const, "take" as const),
      merchant,
      person,
      role: fc.constantFrom("Cashier" as const, "Helper" as const, "Night" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant("remove" as const), merchant, person }) },
  {
    weight: 4,
    arbitrary: fc.record({ step: fc.constant("wait" as const), days: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant("direct" as const), edits }) },
  { weight: 1, arbitrary: fc.constant<Step>({ step: "bustle" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ step: "due" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ step: "apply", of: "tip" }) },
);

const tip: Step = { step: "apply", of: "tip" };

/** What follows the merges: usually an apply, sometimes none, or one that comes late or twice. */
const applies: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 7, arbitrary: fc.constant([tip]) },
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.constant<readonly Step[]>([{ step: "apply", of: "older" }, tip]) },
  { weight: 1, arbitrary: fc.constant<readonly Step[]>([tip, { step: "apply", of: "again" }]) },
  { weight: 2, arbitrary: fc.constant<readonly Step[]>([tip, { step: "approve" }]) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom<Mishap>("apply", "due", "merge", "unrecorded", "unwritten")
      .map((mishap): readonly Step[] => [{ step: "apply", of: "tip", mishap }, tip]),
  },
);

const nights: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 2,
    arbitrary: fc
      .integer({ min: 1, max: 6 })
      .map((count): readonly Step[] => [{ step: "wait", days: count }, { step: "due" }]),
  },
);

/** Some pull requests that are opened and merged in any order, what happens besides, and the applies. */
const round: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.array(pullStory, { minLength: 1, maxLength: 2 }),
    fc.array(fc.tuple(disturbance, fc.nat(12)), { maxLength: 2 }),
    applies,
    nights,
  )
  .map(([stories, others, runs, night]) => {
    const steps = [
      ...stories.flatMap(({ opened }) => opened.map((one) => forPull(one, -1))),
      ...stories.flatMap(({ merged }, index) => merged.map((one) => forPull(one, index - stories.length))),
    ];
    for (const [other, place] of others) steps.splice(place, 0, other);
    return [...steps, ...runs, ...night];
  });

/** A pull request that is planned and reviewed as it should be. */
const wellReviewed = (...placed: readonly PlacedEdit[]): readonly Step[] => [
  { step: "open", edits: placed, isFork: false },
  plan,
  review("rita", "APPROVED"),
];

const merge = (pull: number): Step => ({ step: "merge", pull, method: "squash", needsStatus: false });

/** Somebody is to get a role, and another role changes; meanwhile the first one comes to grant more. */
const grownRole: fc.Arbitrary<readonly Step[]> = fc
  .tuple(person, permission, permission, fc.constantFrom("Helper" as const, "Night" as const), fc.boolean())
  .map(([who, one, other, role, isPull]): readonly Step[] => [
    ...wellReviewed(
      { place: "MC1", edit: { does: "list", person: who, role, from: null, until: null } },
      { place: "MC1", edit: { does: "permit", role: "Cashier", permission: one } },
    ),
    ...(isPull
      ? [
          ...wellReviewed({
            place: role === "Night" ? "shared" : "MC1",
            edit: { does: "permit", role, permission: other },
          }),
          merge(-1),
        ]
      : [{ step: "widen" as const, merchant: "MC1" as const, role, permission: other }]),
    merge(-1),
    tip,
  ]);

/** One pull request removes somebody; another lists the same person elsewhere, which changes nothing yet. */
const listedTwice: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.constantFrom("MC1" as const, "MC2" as const),
    fc.constantFrom(...EDITED_PEOPLE),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([place, who, isListedFirst, isUpdated]): readonly Step[] => {
    const list: Edit = { does: "list", person: who, role: "Night", from: null, until: null };
    return [
      ...wellReviewed({ place: "shared", edit: list }),
      merge(-1),
      tip,
      ...wellReviewed({ place: "shared", edit: { does: "unlist", person: who } }),
      ...wellReviewed({ place, edit: list }),
      ...(isListedFirst ? [merge(-1), merge(-1)] : [merge(-2)]),
      ...(isUpdated ? [{ step: "update" as const, pull: -1 }, plan, review("rita", "APPROVED")] : []),
      merge(-1),
      tip,
    ];
  });

/** A date that nobody has reviewed comes. */
const unseenDate: fc.Arbitrary<readonly Step[]> = fc
  .tuple(fc.constantFrom("MC1" as const, "MC2" as const), days, fc.boolean(), fc.boolean())
  .map(([place, count, isMember, isApplied]): readonly Step[] => [
    {
      step: "direct",
      edits: [
        {
          place,
          edit: isMember
            ? { does: "end", person: "bob@example.com", days: count }
            : { does: "list", person: "bob@example.com", role: "Cashier", from: null, until: count },
        },
      ],
    },
    ...(isApplied ? [tip] : []),
    { step: "wait", days: count + 1 },
    ...(isApplied ? [{ step: "due" as const }] : [tip]),
  ]);

/** A reviewed date comes while only another merchant is applied, or a push takes it back before. */
const missedDate: fc.Arbitrary<readonly Step[]> = fc
  .tuple(person, days, permission, fc.boolean())
  .map(([who, count, one, isTaken]): readonly Step[] => {
    const listed = (until: number | null): PlacedEdit => ({
      place: "MC1",
      edit: { does: "list", person: who, role: "Cashier", from: null, until },
    });
    const reviewed = [...wellReviewed(listed(count)), merge(-1), tip];
    if (isTaken) return [...reviewed, { step: "direct", edits: [listed(null)] }, tip];
    return [
      ...reviewed,
      { step: "wait", days: count + 1 },
      ...wellReviewed({ place: "MC3", edit: { does: "permit", role: "Cashier", permission: one } }),
      merge(-1),
      tip,
      { step: "due" },
    ];
  });

/** Somebody is to join for some days, a push moves the end, and a reviewer of the environment approves that. */
const movedEnd: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    person,
    fc.integer({ min: 3, max: 5 }),
    fc.integer({ min: 0, max: 2 }),
    fc.integer({ min: 3, max: 6 }),
  )
  .map(([who, from, until, more]): readonly Step[] => {
    const listed = (length: number): PlacedEdit => ({
      place: "MC3",
      edit: { does: "list", person: who, role: "Cashier", from, until: length },
    });
    return [
      ...wellReviewed(listed(until)),
      merge(-1),
      tip,
      { step: "direct", edits: [listed(more)] },
      tip,
      { step: "approve" },
      { step: "wait", days: from + 1 },
      { step: "due" },
    ];
  });

/** Somebody is to get a role later; another pull request, which does not show that, lets the role grant more. */
const widenedDate: fc.Arbitrary<readonly Step[]> = fc
  .tuple(person, permission, fc.integer({ min: 3, max: 5 }), fc.boolean())
  .map(([who, one, from, isFirst]): readonly Step[] => [
    ...wellReviewed({
      place: "MC1",
      edit: { does: "list", person: who, role: "Helper", from, until: null },
    }),
    ...wellReviewed({ place: "MC1", edit: { does: "permit", role: "Helper", permission: one } }),
    merge(isFirst ? -1 : -2),
    merge(-1),
    tip,
    { step: "wait", days: from + 1 },
    { step: "due" },
  ]);

/** No apply runs for a long time after a merge. */
const lateApply: fc.Arbitrary<readonly Step[]> = fc
  .tuple(placedEdit)
  .map((placed): readonly Step[] => [...wellReviewed(...placed), merge(-1), { step: "bustle" }, tip]);

/** Names the pull request of a step: -1 is the one that was opened last, -2 the one before. */
function forPull(step: Step, pull: number): Step {
  if (step.step === "queue") return { ...step, pulls: step.pulls.map((one) => (one === -1 ? pull : one)) };
  return "pull" in step ? { ...step, pull } : step;
}

/** Histories of some rounds; pull requests may stay open from one to the next. */
export const histories: fc.Arbitrary<readonly Step[]> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: round },
      { weight: 2, arbitrary: grownRole },
      { weight: 2, arbitrary: listedTwice },
      { weight: 2, arbitrary: unseenDate },
      { weight: 1, arbitrary: missedDate },
      { weight: 1, arbitrary: movedEnd },
      { weight: 1, arbitrary: widenedDate },
      { weight: 1, arbitrary: lateApply },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((rounds) => rounds.flat());

/** Returns files after edits that were made at a time. */
export function editedFiles(files: AccessFiles, placed: readonly PlacedEdit[], now: number): AccessFiles {
  return placed.reduce((known, one) => editedFile(known, one, now), files);
}

function editedFile(files: AccessFiles, { place, edit: one }: PlacedEdit, now: number): AccessFiles {
  switch (one.does) {
    case "touch":
      return withEntry(files, place, { kind: "note", text: `Note ${one.note}` });
    case "permit":
    case "forbid":
    case "create":
    case "drop":
      return withRole(files, place, one);
    case "list":
    case "end":
    case "unlist":
    case "revoke":
      return withMember(files, place, one, now);
    default:
      return one satisfies never;
  }
}

function withRole(files: AccessFiles, place: Place, one: RoleEdit): AccessFiles {
  const { role } = one;
  const key = `${place} role ${role}`;
  const known = files.get(key);
  if (one.does === "drop") return without(files, key);
  if (one.does === "create") {
    return known === undefined ? withEntry(files, place, { kind: "role", role, permissions: [] }) : files;
  }
  if (known?.kind !== "role" || !("permission" in one)) return files;
  const others = known.permissions.filter((each) => each !== one.permission);
  const permissions = one.does === "permit" ? [...others, one.permission].sort() : others;
  return withEntry(files, place, { kind: "role", role, permissions });
}

function withMember(
  files: AccessFiles,
  place: Place,
  one: Extract<Edit, { readonly person: Person }>,
  now: number,
): AccessFiles {
  const { person } = one;
  const key = `${place} member ${person}`;
  const known = files.get(key);
  const member =
    known?.kind === "member" ? known : ({ kind: "member", person, grants: [], until: null } as const);
  const day = (count: number | null): string | null => (count === null ? null : dayText(now + count * DAY));
  if (one.does === "unlist") return without(files, key);
  if (one.does === "end") {
    return known === undefined ? files : withEntry(files, place, { ...member, until: day(one.days) });
  }
  const others = member.grants.filter(({ role }) => role !== one.role);
  if (one.does === "revoke") {
    return others.length === 0 ? without(files, key) : withEntry(files, place, { ...member, grants: others });
  }
  const { role, from } = one;
  const until = one.until === null ? null : one.until + (from ?? 0);
  const grants = [...others, { role, from: day(from), until: day(until) }];
  return withEntry(files, place, { ...member, grants });
}

function withEntry(files: AccessFiles, place: Place, entry: Entry): AccessFiles {
  return new Map([...files, [entryKey(place, entry), entry]]);
}

function without(files: AccessFiles, key: string): AccessFiles {
  return new Map([...files].filter(([one]) => one !== key));
}
