import { isSameJson } from "../../lib/json-text.ts";
import type { JsonValue } from "../../model/json.ts";
import type { LiveMember, LiveRole, LiveState } from "../../model/live.ts";
import type { Change } from "../../model/plan.ts";
import type { FindingData } from "../judge/findings.ts";

/** A change that would write a rounded number, and its finding. */
export interface Rounding {
  readonly change: Change;
  readonly finding: FindingData;
}

/** Finds the changes that would write metadata with a number that was rounded on reading. */
export function roundingChanges(
  changes: readonly Change[],
  { roles, members }: LiveState,
): readonly Rounding[] {
  const resources: readonly (LiveRole | LiveMember)[] = [...roles, ...members];
  const rounded = new Set(resources.flatMap(({ id, rounded: properties }) => (properties ? id : [])));
  return changes.flatMap((change): readonly Rounding[] => {
    const { id, after, kind, resource, name } = change;
    if (after === null || !sendsMetadata(change)) return [];
    if (!rounded.has(id ?? "") && !hasUnsafeNumber(after.metadata)) return [];
    const live = resources.find((one) => one.id === id);
    const properties = Object.entries(after.metadata).flatMap(([key, value]) =>
      isRounded(key, value, live) ? key : [],
    );
    const finding = { code: "metadata-rounded", name, resource, kind, properties } as const;
    return properties.length === 0 ? [] : [{ change, finding }];
  });
}

function sendsMetadata({ kind, fields }: Change): boolean {
  return kind === "update" ? fields.some(({ field }) => field === "metadata") : kind !== "delete";
}

/** Tells if a value was rounded: known for a live value; one from a journal counts if it is too large to be exact. */
function isRounded(key: string, value: JsonValue, live: LiveRole | LiveMember | undefined): boolean {
  const is = live?.metadata[key];
  if (is !== undefined && isSameJson(is, value)) return live?.rounded?.includes(key) ?? false;
  return hasUnsafeNumber(value);
}

function hasUnsafeNumber(value: JsonValue): boolean {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return typeof value === "object" && value !== null && Object.values(value).some(hasUnsafeNumber);
}
