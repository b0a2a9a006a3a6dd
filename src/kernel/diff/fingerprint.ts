import { createHash } from "node:crypto";
import { canonicalJson } from "../../lib/json-text.ts";
import { byCodeUnit } from "../../lib/text.ts";
import type { RoleImage } from "../../model/field-values.ts";
import type { JsonValue } from "../../model/json.ts";
import type { Change, MemberImage, Plan } from "../../model/plan.ts";
import { memberContent } from "../fields/member.ts";
import { roleContent } from "../fields/role.ts";

/** A change without its fingerprint. */
export type WithoutFingerprint<C> = C extends unknown ? Omit<C, "fingerprint"> : never;

const LENGTH = 32;

/** Adds the fingerprint to a change. */
export function withFingerprint<C extends Change>(change: WithoutFingerprint<C>): C {
  return { ...change, fingerprint: changeFingerprint(change as WithoutFingerprint<Change>) } as unknown as C;
}

/**
 * Hashes the effect of a change, without its reason and without what may differ between two reads (a member's status,
 * the id of a role that an interrupted run has created).
 */
export function changeFingerprint(change: WithoutFingerprint<Change>): string {
  const { resource, kind, id, before, after } = change;
  // An interrupted replacement may have given the old role a temporary name.
  const former = kind === "replace" && before !== null && "name" in before ? { ...before, name: "" } : before;
  return hash({
    resource,
    kind,
    id: id ?? change.name.toLowerCase(),
    before: content(former),
    after: content(after),
  });
}

/** Hashes a plan: its merchant, environment and service, and its changes in any order. */
export function planFingerprint(
  plan: Pick<Plan, "merchant" | "environment" | "service">,
  changes: readonly { readonly fingerprint: string }[],
): string {
  const { merchant, environment, service } = plan;
  return hash({
    merchant,
    environment,
    service,
    changes: changes.map((change) => change.fingerprint).sort(byCodeUnit),
  });
}

/**
 * Hashes the plans of a run, in any order. Plans without changes do not count, so that a run with only one plan that
 * has changes has that plan's fingerprint.
 */
export function runFingerprint(plans: readonly Pick<Plan, "fingerprint" | "changes">[]): string {
  const [only = "", ...more] = plans
    .filter(({ changes }) => changes.length > 0)
    .map(({ fingerprint }) => fingerprint)
    .sort(byCodeUnit);
  return more.length === 0 ? only : hash({ plans: [only, ...more] });
}

function content(image: RoleImage | MemberImage | null): JsonValue {
  if (image === null) return null;
  return "permissions" in image ? roleContent(image) : memberContent(image);
}

/** Hashes a value, independent of the order of its keys. */
export function hash(value: JsonValue): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, LENGTH);
}
