import { canonicalJson } from "../../lib/json-text.ts";
import type { Plan } from "../../model/plan.ts";
import { changeFingerprint, planFingerprint } from "../diff/fingerprint.ts";
import { resourceRows } from "./reviewed-state.ts";

/** Returns whether a plan was edited after it was made: its fingerprints or reviewed rows do not match its changes. */
export function isEdited(plan: Plan): boolean {
  const { changes, deferred, reviewed } = plan;
  const allChanges = [...changes, ...deferred.map(({ change }) => change)];
  const { roles, members } = reviewed;
  return (
    allChanges.some((change) => changeFingerprint(change) !== change.fingerprint) ||
    planFingerprint(plan, changes) !== plan.fingerprint ||
    canonicalJson(resourceRows(plan)) !== canonicalJson({ roles, members })
  );
}
