import { z } from "zod";
import type { JsonValue } from "../../model/json.ts";
import type { Plan } from "../../model/plan.ts";

const json: z.ZodType<JsonValue> = z
  .lazy(() =>
    z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(json), z.record(z.string(), json)]),
  )
  .meta({ id: "json", description: "Any JSON value." });
const metadata = z
  .record(z.string(), json)
  .meta({ id: "metadata", description: "User-defined key-value pairs, whole." });

const roleRef = z
  .strictObject({ id: z.string().nullable(), name: z.string() })
  .meta({ id: "roleRef", description: "A role; the id is null for one that the same plan creates." });

const roleImage = z
  .strictObject({
    name: z.string(),
    description: z.string().nullable(),
    permissions: z.array(z.string()).meta({ description: "Sorted, without repeats." }),
    metadata,
  })
  .meta({ id: "role", description: "A role before or after the change." });

const memberImage = z
  .strictObject({
    email: z.string().nullable(),
    roles: z.array(roleRef).meta({ description: "Sorted by name, without repeats." }),
    metadata,
    managed: z
      .strictObject({ nickname: z.string().nullable(), passwordEnv: z.string().nullable() })
      .nullable()
      .meta({
        description: "Only of users that the merchant manages; the variable's name, never its value.",
      }),
    status: z
      .enum(["accepted", "pending", "expired", "disabled", "unknown"])
      .nullable()
      .meta({ description: "Null before it exists." }),
  })
  .meta({ id: "member", description: "A member before or after the change." });

const text = z.string();
const fieldDiff = z
  .discriminatedUnion("field", [
    z.strictObject({ field: z.literal("name"), before: text, after: text }),
    z.strictObject({ field: z.literal("description"), before: text.nullable(), after: text }),
    z.strictObject({ field: z.literal("nickname"), before: text.nullable(), after: text }),
    z.strictObject({ field: z.literal("permissions"), added: z.array(text), removed: z.array(text) }),
    z.strictObject({ field: z.literal("roles"), added: z.array(roleRef), removed: z.array(roleRef) }),
    z.strictObject({ field: z.literal("metadata"), before: metadata, after: metadata }),
  ])
  .meta({ id: "fieldDiff", description: "One field that an update or a replacement changes." });

const base = {
  reason: z
    .enum(["declared", "unlisted", "access-ended", "invitation-expired", "immutable-field", "undone"])
    .meta({ description: "Why the change is planned." }),
  fingerprint: text.meta({
    description: "Hash of what the change is: equal changes have equal fingerprints.",
  }),
};

function changesOf<R extends string, I extends z.ZodType>(resource: R, image: I) {
  const common = { resource: z.literal(resource), name: text };
  // An empty tuple has no form in JSON Schema; a list with room for nothing is the same.
  const none = z.array(z.never()).max(0) as unknown as z.ZodType<[]>;
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
      resumed: text.nullable().meta({ description: "What an earlier run has put in its place already." }),
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

const change = z
  .union([changesOf("role", roleImage), changesOf("member", memberImage)])
  .meta({ id: "change", description: "One thing that an apply would do." });

const count = z.number().int().nonnegative();
const counts = z
  .strictObject({
    create: count,
    update: count,
    replace: count,
    delete: count,
    unchanged: count,
    unmanaged: count.exactOptional().meta({
      description:
        "How many are live and not managed: the file has no such section, or an additive one that does not list them. Absent if there are none.",
    }),
  })
  .meta({ id: "counts", description: "How many there are of each kind." });

const impact = z
  .strictObject({
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
  })
  .meta({
    id: "impact",
    description: "What people gain and lose through roles, whichever change it comes from.",
  });

const resource = z.enum(["role", "member"]);
const refusal = z
  .strictObject({
    rule: z.enum(["guard", "policy", "check"]),
    code: text,
    resource: resource.nullable(),
    name: text.nullable(),
    check: text.nullable().meta({ description: "Of a check: which one, in one line." }),
    message: text,
    hint: text,
    override: text
      .nullable()
      .meta({ description: "What --allow takes, before @ and the plan's fingerprint." }),
  })
  .meta({ id: "refusal", description: "Why an apply is refused." });

const finding = z
  .strictObject({
    code: text,
    severity: z.enum(["error", "warning"]),
    resource,
    name: text,
    message: text,
    hint: text.nullable(),
  })
  .meta({
    id: "finding",
    description: "What the reader has to know; an error keeps the plan from being applied.",
  });

/** One merchant's plan as JSON. */
const planSchema = z
  .strictObject({
    format: z.literal(1),
    merchant: text,
    environment: z.enum(["live", "test"]).nullable(),
    service: text.meta({ description: "Base URL of the service that was read." }),
    fingerprint: text.meta({ description: "Hash of merchant, environment, service and changes." }),
    summary: z.strictObject({ roles: counts, members: counts }),
    impact,
    changes: z.array(change).meta({ description: "Roles, then members, each by name." }),
    deferred: z
      .array(z.strictObject({ change, role: text, waitsFor: z.array(text) }))
      .meta({ description: "Removals that wait until others have accepted." }),
    refusals: z.array(refusal),
    findings: z.array(finding),
  })
  .meta({
    id: "plan",
    description: "What an apply would change for one merchant.",
  }) satisfies z.ZodType<Plan>;

/** A file of plans, as `plan --out` and `plan --format json` write it. */
export const planFileSchema = z
  .strictObject({
    format: z.literal(1),
    plans: z.array(planSchema).meta({ description: "One for each merchant." }),
    failures: z
      .array(
        z.strictObject({
          merchant: text.nullable(),
          file: text.nullable().meta({ description: "Of a problem in a file: where." }),
          code: text,
          message: text,
          hint: text.nullable(),
        }),
      )
      .optional()
      .meta({ description: "Why a merchant has no plan, or a file cannot be used." }),
  })
  .meta({ title: "rolecall plan", description: "What an apply would change, for one or more merchants." });
