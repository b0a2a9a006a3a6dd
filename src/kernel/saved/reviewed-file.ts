import * as z from "zod/mini";
import type { JsonValue } from "../../model/json.ts";
import type { ReviewedState } from "../../model/reviewed.ts";
import { described } from "../values/text-schemas.ts";

/** Any JSON value. */
export const reviewedJsonSchema: z.ZodMiniType<JsonValue> = described(
  z.lazy(() =>
    z.union([
      z.string(),
      z.number(),
      z.boolean(),
      z.null(),
      z.array(reviewedJsonSchema),
      z.record(z.string(), reviewedJsonSchema),
    ]),
  ),
  { id: "json", description: "Any JSON value." },
);

const text = z.string();
const flag = z.exactOptional(z.literal(true));
const index = z.int().check(z.nonnegative());

const values = described(z.nullable(z.record(text, reviewedJsonSchema)), {
  id: "fieldValues",
  description:
    "The values of a role's or member's fields, with lists as sets; null while it does not exist. Members' roles are ids, or \"new\" and the name of a role that the plan creates.",
});

const resource = described(
  z.strictObject({
    id: z.nullable(text),
    name: described(text, {
      description: "A role's name; a member's address in lower case, or its id without one.",
    }),
    replaced: described(flag, { description: "Present if a new role or member replaces the id." }),
    leftover: described(flag, {
      description:
        "Present if the id is that of an expired invitation, and a membership of the same address stays.",
    }),
    before: values,
    after: values,
    base: described(z.exactOptional(values), {
      description: "The state after a plan of the base branch's files, if it differs.",
    }),
    deferred: described(flag, { description: "Present if the change is deferred." }),
  }),
  { id: "reviewedResource", description: "A role or membership before and after the plan." },
);

const permissions = described(z.strictObject({ before: index, after: index, base: z.exactOptional(index) }), {
  id: "reviewedPermissions",
  description: "Indexes of permissionSets.",
});

const person = described(
  z.strictObject({
    name: described(text, { description: "The address in lower case, else the id of the membership." }),
    held: permissions,
    reach: described(permissions, {
      description:
        "The permissions that the person holds or could give themselves; * stands for every permission.",
    }),
    deferred: described(flag, { description: "Present if a deferred change counts as made." }),
  }),
  { id: "reviewedPerson", description: "The permissions of a person before and after the plan." },
);

const date = described(
  z.strictObject({
    at: described(z.int(), { description: "In milliseconds since the epoch." }),
    name: text,
    what: z.enum(["leaves", "ends", "begins", "suspended", "back"]),
    roles: described(z.array(text), { description: "Empty for the whole membership." }),
    fields: described(z.exactOptional(text), {
      description:
        "What the membership has from then on besides roles, as JSON: the fields of somebody who joins, and the roles of somebody who is back.",
    }),
    hidden: described(flag, {
      description: "Present if it has no effect, because the person leaves, or the membership ends, before.",
    }),
    brings: described(index, { description: "The permissions that begin: an index of permissionSets." }),
    reach: described(index, {
      description:
        "The permissions that the person then holds or could give themselves: an index of permissionSets.",
    }),
  }),
  { id: "reviewedDate", description: "What a date in the files changes later." },
);

/** The reviewed state of a plan as JSON. */
export const reviewedStateSchema = described(
  z
    .strictObject({
      merchant: text,
      environment: z.nullable(z.enum(["live", "test"])),
      service: text,
      at: described(z.int(), {
        description: "The time as of which the plan was made, in milliseconds since the epoch.",
      }),
      hasBase: described(z.boolean(), {
        description: "True if the plan was compared with one of the base branch's files.",
      }),
      permissionSets: described(z.array(z.array(text)), {
        description: "Distinct sets of permissions; the first is empty.",
      }),
      roles: z.array(resource),
      members: z.array(resource),
      people: described(z.array(person), {
        description: "Everybody whose membership or permissions change.",
      }),
      dates: z.array(date),
      baseDates: described(z.exactOptional(z.array(date)), {
        description: "Those of the base branch's files, if they differ.",
      }),
    })
    .check(z.refine((state) => indexesOf(state).every((index) => index < state.permissionSets.length))),
  { id: "reviewed", description: "The end states that a review of the plan approves." },
) satisfies z.ZodMiniType<ReviewedState>;

function indexesOf({ people, dates }: Pick<ReviewedState, "people" | "dates">): readonly number[] {
  return [
    ...people.flatMap(({ held, reach }) =>
      [held, reach].flatMap((of) => [of.before, of.after, of.base ?? 0]),
    ),
    ...dates.flatMap(({ brings, reach }) => [brings, reach]),
    0,
  ];
}

/** Returns the reviewed state that a JSON value holds; `null` if it holds none. */
export function parseReviewedState(value: unknown): ReviewedState | null {
  const read = reviewedStateSchema.safeParse(value);
  return read.success ? read.data : null;
}
