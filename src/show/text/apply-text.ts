import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import type { Outcome, PasswordChange } from "../../model/apply.ts";
import type { ApplyEvent } from "../../model/events.ts";
import type { Change, Plan } from "../../model/plan.ts";
import { cutText } from "../blocks/cut-list.ts";
import type { Style } from "../style.ts";
import { adoptedText } from "../view/adopted-text.ts";
import type { RowView } from "../view/change-view.ts";
import { isInvitationLimited, isPassword, type MerchantEnd } from "../view/ending-view.ts";
import { equalGroups, equalText } from "../view/equal-text.ts";
import { fleetView } from "../view/fleet-view.ts";
import { namesText } from "../view/names-text.ts";
import { planView } from "../view/plan-view.ts";
import { hangingLines, wrapOnTerminal } from "./wrap.ts";

const DONE = { create: "created", update: "updated", replace: "replaced", delete: "deleted" } as const;
const WAS_SO = {
  create: "already existed",
  update: "was already up to date",
  replace: "was already replaced",
  delete: "was already gone",
} as const;

/** Formats an event for a log; `null` for events that a log omits. */
export function renderApplyEvent(event: ApplyEvent, style: Style): string | null {
  switch (event.type) {
    case "fields-emptied": {
      const { merchant, change, fields } = event;
      const text = `${oneLine(merchant)}  ${nameOf(change)}: the service cleared ${fields.join(" and ")}, which the update did not send. They are being restored; the rest of this run sends all fields of members.`;
      return wrapOnTerminal(text, style, `${style.yellow("!")} `, "  ").join("\n");
    }
    case "change-ended":
      return outcomeLine(event.merchant, event.outcome, style);
    case "apply-started":
    case "phase-started":
    case "change-started":
      return null;
    // The end of the run at all merchants follows.
    case "apply-stopped":
    case "apply-ended":
      return null;
    default:
      return event satisfies never;
  }
}

function outcomeLine(merchant: string, outcome: Outcome, style: Style): string | null {
  const what = `${oneLine(merchant)}  ${nameOf(outcome.change)}`;
  const marked = (mark: string, text: string): string =>
    wrapOnTerminal(`${what} ${text}`, style, `${mark} `, "  ").join("\n");
  switch (outcome.status) {
    case "done":
      return marked(
        style.green("✓"),
        `${doneWord(outcome)}${outcome.adopted ? ` (${adoptedText(isPassword(outcome.change))})` : ""}`,
      );
    case "stale":
      return marked(style.red("✗"), `stale: ${oneLine(outcome.failure.message)}`);
    case "failed":
      if (isInvitationLimited(outcome))
        return wrapOnTerminal(
          oneLine(`${merchant}  ${outcome.failure.message}`),
          style,
          `${style.yellow("!")} `,
          "  ",
        ).join("\n");
      return marked(style.red("✗"), `failed: ${oneLine(outcome.failure.message)}`);
    case "unknown":
      return marked(style.yellow("?"), `unknown: ${oneLine(outcome.failure.message)}`);
    case "unfinished":
      return outcome.failure
        ? marked(style.red("✗"), `unfinished: ${oneLine(outcome.failure.message)}`)
        : null;
    case "not-started":
      return null;
    default:
      return outcome satisfies never;
  }
}

function doneWord({ change, already }: Outcome & { readonly status: "done" }): string {
  if (isPassword(change) && already)
    return `kept the password: the one in ${oneLine(change.passwordEnv)} was used before`;
  if (isPassword(change)) return `password set from ${oneLine(change.passwordEnv)}`;
  return (already ? WAS_SO : DONE)[change.kind];
}

/** The passwords that an apply sets at one merchant, in addition to its plan. */
export interface MerchantPasswords {
  readonly plan: Pick<Plan, "merchant">;
  readonly passwords: readonly PasswordChange[];
}

/** Maximum number of passwords with a line each, and of names in the one line for more. */
const MAX_PASSWORD_LINES = 10;
const MAX_NAMED = 3;

/** Formats the passwords that an apply will set: one line each, or one for all if they are many. */
export function renderPasswords(due: readonly MerchantPasswords[], style: Style): string {
  const affected = due.filter(({ passwords }) => passwords.length > 0);
  const names = affected.flatMap(({ passwords }) => passwords.map(({ name }) => oneLine(name)));
  if (names.length > MAX_PASSWORD_LINES) {
    const [first, ...furtherMerchants] = affected;
    const where =
      furtherMerchants.length > 0
        ? counted(affected.length, "merchant")
        : oneLine(first?.plan.merchant ?? "");
    const text = `The passwords of ${grouped(names.length)} managed users at ${where} will be set: ${namesText(names, MAX_NAMED)}.`;
    return `${hangingLines(text, style.columns, "", "  ").join("\n")}\n\n`;
  }
  return affected
    .map(({ plan, passwords }) => {
      const lines = passwords.flatMap(({ name, passwordEnv }) => {
        const text = `${oneLine(plan.merchant)}: the password of ${oneLine(name)} will be set from ${oneLine(passwordEnv)}.`;
        return wrapOnTerminal(text, style, "", "  ");
      });
      return `${lines.join("\n")}\n\n`;
    })
    .join("");
}

function nameOf(change: Change): string {
  return `${change.resource} ${oneLine(change.name)}`;
}

/** Maximum number of lines of equal changes. */
const DONE_SHOWN = 20;

/**
 * Formats what a large apply has done: equal changes are one line, as in its plan. Changes that are not done are not in it.
 */
export function renderDoneChanges(ends: readonly MerchantEnd[], style: Style): string {
  const isDone = ({ status }: Outcome): boolean => status === "done";
  const changes = ends.map(({ plan, result }) => {
    const done = result.outcomes.filter(isDone).map(({ change }) => change);
    return { ...plan, changes: done.filter((change) => !isPassword(change)) };
  });
  const { groups, own } = fleetView(changes.map((plan) => planView(plan)));
  const several = ends.length > 1;
  const rows = [
    ...equalGroups({ groups }).flatMap((group) => group.rows.map((row) => ({ row, at: "" }))),
    ...own.flatMap(({ view }) =>
      view.groups.flatMap((group) =>
        group.rows.map((row) => ({ row, at: several ? ` at ${oneLine(view.merchant)}` : "" })),
      ),
    ),
  ];
  const shown = rows.slice(0, DONE_SHOWN);
  const hidden = rows.slice(DONE_SHOWN).reduce((sum, { row }) => sum + (row.equal?.changes ?? 1), 0);
  const passwords = ends
    .flatMap(({ result }) => result.outcomes)
    .flatMap((outcome) => (outcome.status === "done" && isPassword(outcome.change) ? [outcome] : []));
  const kept = passwords.filter(({ already }) => already).length;
  const lines = [
    ...shown.map(({ row, at }) => `${DONE[row.kind]} ${doneText(row)}${at}`),
    ...(passwords.length > kept ? [`set ${counted(passwords.length - kept, "password")}`] : []),
    ...(kept > 0
      ? [`kept ${counted(kept, "password")}: the new ${kept === 1 ? "one was" : "ones were"} used before`]
      : []),
  ].flatMap((text) => hangingLines(oneLine(text), style.columns, `${style.green("✓")} `, "    "));
  return [...lines, ...(hidden > 0 ? [`  ${style.dim(cutText(hidden))}`] : [])]
    .map((line) => `${line}\n`)
    .join("");
}

function doneText(row: RowView): string {
  if (row.equal === undefined) return `${row.resource} ${row.name}`;
  return equalText(row, row.equal).title;
}
