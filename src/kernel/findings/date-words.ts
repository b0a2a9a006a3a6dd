import { oneLine } from "../../lib/escape.ts";

/** The effect of a date in the files. */
export interface DateEffect {
  /** As the file writes it: an end is the last day with access (or suspended), a beginning the first. */
  readonly text: string;
  readonly email: string;
  /**
   * `leaves`, `leaves-unlisted`: a listed or an unlisted person leaves. `ends`: the membership or roles end. `joins`,
   * `begins`: roles begin, with or without the membership. `suspended`, `back`: a suspension begins or ends.
   */
  readonly what: "leaves" | "leaves-unlisted" | "ends" | "joins" | "begins" | "suspended" | "back";
  /** The roles that end or begin; empty for the whole membership. */
  readonly roles: readonly string[];
}

/** Returns when a date takes effect: "after 2026-12-31". */
export function whenText({ text, what }: Pick<DateEffect, "text" | "what">): string {
  const isLastDay = what === "ends" || what === "back";
  return `${text.includes("T") ? "from" : isLastDay ? "after" : "on"} ${oneLine(text)}`;
}

/** Says what a date does to somebody, with names as `nameOf` writes them. */
export function effectOfDate(
  { what, roles }: Pick<DateEffect, "what" | "roles">,
  who: string,
  nameOf: (name: string) => string,
): string {
  const names = roles.map(nameOf).join(", ");
  switch (what) {
    case "leaves":
      return `${who} leaves`;
    case "leaves-unlisted":
      return `${who} leaves, if a member: no file lists the address`;
    case "ends":
      return `${who} loses ${names || "the membership"}`;
    case "joins":
      return `${who} joins${names && ` with ${names}`}`;
    case "begins":
      return `${who} gains ${names}`;
    case "suspended":
      return `${who} is suspended`;
    case "back":
      return `${who} is back`;
    default:
      return what satisfies never;
  }
}
