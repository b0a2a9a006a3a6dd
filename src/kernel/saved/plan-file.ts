import * as z from "zod/mini";
import { invalidText } from "../../lib/text.ts";
import type { FieldDiff, Plan } from "../../model/plan.ts";
import { byKind, mapFields } from "../fields/field.ts";
import { COMMON_FIELDS, MANAGED_FIELDS, MEMBER_FIELDS } from "../fields/member.ts";
import { ROLE_FIELDS } from "../fields/role.ts";
import { described } from "../values/text-schemas.ts";
import { reviewedJsonSchema, reviewedStateSchema } from "./reviewed-file.ts";

const metadata = described(z.record(z.string(), reviewedJsonSchema), {
  id: "metadata",
  description: "All user-defined key-value pairs.",
});

const roleRef = described(z.strictObject({ id: z.nullable(z.string()), name: z.string() }), {
  id: "roleRef",
  description: "A role; the id is null if the same plan creates the role.",
});

const text = z.string();
const sorted = "Sorted, without duplicates.";

/** The values in images. */
const IMAGES = {
  name: text,
  line: z.nullable(text),
  prose: z.nullable(text),
  list: described(z.array(text), { description: sorted }),
  roles: described(z.array(roleRef), { description: "Sorted by name, without duplicates." }),
  metadata,
};

/** The differences of values. */
const DIFFS = {
  name: { before: text, after: text },
  line: { before: z.nullable(text), after: text },
  prose: { before: z.nullable(text), after: text },
  list: { added: z.array(text), removed: z.array(text) },
  roles: { added: z.array(roleRef), removed: z.array(roleRef) },
  metadata: { before: metadata, after: metadata },
};

const roleImage = described(z.strictObject(byKind(ROLE_FIELDS, IMAGES)), {
  id: "role",
  description: "A role before or after the change.",
});

const memberImage = described(
  z.strictObject({
    email: z.nullable(text),
    ...byKind(COMMON_FIELDS, IMAGES),
    managed: described(
      z.nullable(z.strictObject({ ...byKind(MANAGED_FIELDS, IMAGES), passwordEnv: z.nullable(text) })),
      { description: "Only for managed users, with the name of the variable that holds the password." },
    ),
    status: described(z.nullable(z.enum(["accepted", "pending", "expired", "disabled", "unknown"])), {
      description: "Null before the member exists.",
    }),
  }),
  { id: "member", description: "A member before or after the change." },
);

const diffs = mapFields({ ...ROLE_FIELDS, ...MEMBER_FIELDS }, (field, { kind }) =>
  z.strictObject({ field: z.literal(field), ...DIFFS[kind.name] }),
);
// Its type would need a tuple, which a loop does not have.
const oneDiff = z.discriminatedUnion("field", diffs as never) as z.ZodMiniType as z.ZodMiniType<FieldDiff>;
const fieldDiff = described(oneDiff, {
  id: "fieldDiff",
  description: "A field that an update or a replacement changes.",
});

const base = {
  reason: described(
    z.enum([
      "declared",
      "unlisted",
      "access-ended",
      "access-not-begun",
      "left",
      "suspended",
      "suspension-ended",
      "address-changed",
      "invitation-expired",
      "immutable-field",
      "undone",
    ]),
    { description: "Reason for the change." },
  ),
  fingerprint: described(text, {
    description: "Hash of the change; identical changes have the same fingerprint.",
  }),
};

function changesOf<R extends string, I extends z.ZodMiniType>(resource: R, image: I) {
  const common = { resource: z.literal(resource), name: text };
  // JSON Schema cannot express an empty tuple; a list with a maximum length of 0 is equivalent.
  const none = z.array(z.never()).check(z.maxLength(0)) as unknown as z.ZodMiniType<[]>;
  return z.discriminatedUnion("kind", [
    z.strictObject({
      ...common,
      kind: z.literal("create"),
      id: z.null(),
      before: z.null(),
      after: image,
      fields: none,
      ...base,
    }),
    z.strictObject({
      ...common,
      kind: z.literal("update"),
      id: text,
      before: image,
      after: image,
      fields: z.array(fieldDiff),
      ...base,
    }),
    z.strictObject({
      ...common,
      kind: z.literal("replace"),
      id: text,
      before: image,
      after: image,
      fields: z.array(fieldDiff),
      reason: base.reason,
      resumed: described(z.nullable(text), {
        description: "The successor that an earlier run has already created.",
      }),
      fingerprint: base.fingerprint,
    }),
    z.strictObject({
      ...common,
      kind: z.literal("delete"),
      id: text,
      before: image,
      after: z.null(),
      fields: none,
      ...base,
    }),
  ]);
}

const change = described(z.union([changesOf("role", roleImage), changesOf("member", memberImage)]), {
  id: "change",
  description: "A change that an apply would make.",
});

const count = z.int().check(z.nonnegative());
const counts = described(
  z.strictObject({
    create: count,
    update: count,
    replace: count,
    delete: count,
    unchanged: count,
    unmanaged: described(z.exactOptional(count), {
      description:
        "Number of live ones that are not managed: the file has no such section, or does not list them and leaves them alone. Absent if there are none.",
    }),
  }),
  { id: "counts", description: "Number of changes of each kind." },
);

const impact = described(
  z.strictObject({
    members: z.array(
      z.strictObject({
        name: text,
        gained: z.array(text),
        lost: z.array(text),
        unknownGained: z.array(text),
        unknownLost: z.array(text),
      }),
    ),
    permissions: z.array(z.strictObject({ permission: text, gained: count, lost: count })),
    roles: z.array(z.strictObject({ name: text, before: count, after: count })),
    reach: described(z.exactOptional(z.array(z.strictObject({ name: text, permissions: z.array(text) }))), {
      description: "Members who gain something, and the permissions that they could then give themselves.",
    }),
    formerly: described(
      z.exactOptional(
        z.array(z.strictObject({ name: text, roles: z.array(text), permissions: z.array(text) })),
      ),
      {
        description:
          "What members held under a previous address, or through an expired invitation that is renewed; roles are ids.",
      },
    ),
    sensitive: described(z.exactOptional(z.array(text)), {
      description: "The sensitive ones among the permissions of members above and of changed roles.",
    }),
  }),
  {
    id: "impact",
    description: "What people gain and lose through roles, whichever change causes it.",
  },
);

const resource = z.enum(["role", "member"]);
const refusal = described(
  z.strictObject({
    rule: z.enum(["guard", "policy", "check"]),
    code: text,
    resource: z.nullable(resource),
    name: z.nullable(text),
    check: described(z.nullable(text), { description: "For a check, its text on one line." }),
    message: text,
    hint: text,
    override: described(z.nullable(text), {
      description:
        "The part of an --allow argument or guards.overrides entry before @ and the plan's fingerprint.",
    }),
    key: described(z.exactOptional(text), {
      description: "The key below the guard in the file, such as a role; absent if the guard has none.",
    }),
    by: described(z.exactOptional(z.literal("base")), {
      description:
        "Present if the refusal comes only from a rule of the base branch that the pull request loosens.",
    }),
    rules: described(z.exactOptional(text), {
      description: "The rule file, if the project enforces the rule on the merchant's file.",
    }),
  }),
  { id: "refusal", description: "A reason to refuse an apply." },
);

const finding = described(
  z.strictObject({
    code: text,
    severity: z.enum(["error", "warning"]),
    resource,
    name: text,
    role: described(z.exactOptional(text), {
      description: "For a finding about a member: the granted role that it concerns.",
    }),
    check: described(z.exactOptional(text), { description: "The violated check, on one line." }),
    rules: described(z.exactOptional(text), {
      description: "The rule file whose rule is broken, if the project enforces it on the merchant's file.",
    }),
    message: text,
    hint: z.nullable(text),
  }),
  {
    id: "finding",
    description: "A warning or an error; an error prevents an apply.",
  },
);

/** One merchant's plan as JSON. */
const planSchema = described(
  z.strictObject({
    format: z.literal(1),
    merchant: text,
    environment: z.nullable(z.enum(["live", "test"])),
    service: described(text, { description: "Base URL of the service that was read." }),
    fingerprint: described(text, { description: "Hash of merchant, environment, service and changes." }),
    summary: z.strictObject({ roles: counts, members: counts }),
    impact,
    reviewed: reviewedStateSchema,
    changes: described(z.array(change), { description: "Roles, then members, each sorted by name." }),
    deferred: described(
      z.array(z.strictObject({ change, role: z.nullable(text), waitsFor: z.array(text) })),
      {
        description: "Removals that wait until others have accepted.",
      },
    ),
    refusals: z.array(refusal),
    overridden: described(z.exactOptional(z.array(refusal)), {
      description: "Refusals that the file overrides for this plan. Absent if there are none.",
    }),
    findings: z.array(finding),
    recorded: described(
      z.exactOptional(
        z.strictObject({
          commit: text,
          at: described(text, { description: "The time of the commit, ISO 8601." }),
          departed: described(z.array(text), {
            description: "Listed members who left although no run removed them; they are not invited.",
          }),
        }),
      ),
      { description: "The recorded live state that was taken into account. Absent if there was none." },
    ),
  }),
  {
    id: "plan",
    description: "What an apply would change for one merchant.",
  },
) satisfies z.ZodMiniType<Plan>;

/**
 * A file of plans, as `plan --out` and `plan --format json` write it.
 *
 * @internal The published types do not need zod.
 */
export const planFileSchema = described(
  z.strictObject({
    format: z.literal(1),
    plans: described(z.array(planSchema), { description: "One plan for each merchant." }),
    failures: described(
      z.optional(
        z.array(
          z.strictObject({
            merchant: z.nullable(text),
            file: described(z.nullable(text), { description: "Position of a problem in a file." }),
            line: z.optional(z.nullable(count)),
            column: z.optional(z.nullable(count)),
            code: text,
            message: text,
            hint: z.nullable(text),
          }),
        ),
      ),
      { description: "Why a merchant has no plan, or a file cannot be used." },
    ),
    later: described(
      z.optional(
        z.array(
          z.strictObject({
            merchant: text,
            at: described(text, { description: "The time, ISO 8601." }),
            dates: z.array(
              z.strictObject({
                date: described(text, {
                  description: "As written in the file: an end date is the last day.",
                }),
                member: text,
                what: z.enum(["leaves", "leaves-unlisted", "ends", "joins", "begins", "suspended", "back"]),
                roles: z.array(text),
              }),
            ),
            refusals: described(z.array(z.strictObject({ rule: text, code: text, message: text })), {
              description: "Why an apply at that time would be refused.",
            }),
            gains: described(
              z.exactOptional(z.array(z.strictObject({ member: text, gained: z.array(text) }))),
              {
                description: "Who becomes an administrator or gains sensitive permissions then.",
              },
            ),
          }),
        ),
      ),
      { description: "What dates in the files will change soon." },
    ),
  }),
  { title: "rolecall plan", description: "The changes that an apply would make, for one or more merchants." },
);

/** The plans of a plan file, or the reason why it cannot be read. */
export type PlanFile =
  | { readonly ok: true; readonly plans: readonly Plan[] }
  /** Not JSON, not a plan, or an unknown format. */
  | { readonly ok: false; readonly reason: string };

/** Parses a plan file; the fingerprints of its plans are not verified. */
export function parsePlanFile(text: string): PlanFile {
  const value = parseJson(text);
  if (value === undefined) return { ok: false, reason: "it is not JSON" };
  const format = Object(value).format;
  if (typeof format === "number" && format > 1) {
    return { ok: false, reason: `its format is ${format}, and this version of rolecall knows format 1` };
  }
  const read = planFileSchema.safeParse(value);
  if (
    read.success &&
    new Set(read.data.plans.map(({ merchant }) => merchant)).size < read.data.plans.length
  ) {
    return { ok: false, reason: "it has two plans for one merchant" };
  }
  if (read.success) return { ok: true, plans: read.data.plans };
  return {
    ok: false,
    reason: `it is not a plan file of this version of rolecall: ${invalidText(read.error.issues[0])}`,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
