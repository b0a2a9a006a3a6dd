import { counted, grouped } from "../lib/text.ts";

/** The origin of the changes in a text: a plan, edits outside git, or an unknown side. */
export type ChangeOrigin = "plan" | "outside-git" | "unknown";

/** Returns the end of a sentence about changes of this origin. */
export function originSuffix(origin: ChangeOrigin): string {
  switch (origin) {
    case "plan":
      return "";
    case "outside-git":
      return " outside git";
    case "unknown":
      return " (outside git, or not applied yet)";
    default:
      return origin satisfies never;
  }
}

/** Returns the last line of a truncated list: "… and 9,980 more (--verbose shows all)". */
export function moreText(count: number): string {
  return `… and ${grouped(count)} more (--verbose shows all)`;
}

/** Returns the evidence that a write with a lost response took effect. */
export function adoptedText(isPassword: boolean): string {
  return isPassword
    ? "response lost; the retry was refused as a reused password"
    : "response lost; found in place";
}

/** Returns " 2 removals deferred.", to follow a sum; empty if there are none. */
export function deferredText(count: number): string {
  return count > 0 ? ` ${counted(count, "removal")} deferred.` : "";
}
