import { createInterface } from "node:readline";
import type { PendingApply } from "../../app/apply/run-apply.ts";
import type { Io } from "../../app/io/io.ts";
import { styleFor, terminalOf } from "../../app/io/terminal.ts";
import { list } from "../../kernel/findings/refusals.ts";
import { oneLine } from "../../lib/escape.ts";
import { counted, grouped } from "../../lib/text.ts";
import type { Environment } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { Style } from "../../show/style.ts";
import { hangingLines } from "../../show/text/wrap.ts";
import { fleetRiskTitle } from "../../show/view/equal-text.ts";
import { fleetView } from "../../show/view/fleet-view.ts";
import { planView } from "../../show/view/plan-view.ts";
import { type RiskKind, riskTitle } from "../../show/view/risk-view.ts";

/**
 * Asks every question until one is not confirmed; throws RolecallError without a terminal. `undoes` is the run that is
 * reverted.
 */
export async function confirmApply(
  due: readonly PendingApply[],
  { color, undoes }: { readonly color: boolean; readonly undoes: string | null },
  io: Io,
): Promise<boolean> {
  const asked = due.map(({ session, plan, passwords = [] }) => ({
    plan,
    environment: session.environment,
    passwords: passwords.length,
  }));
  return confirmAll(
    confirmationsFor(asked, undoes),
    { color, review: "Review the plan above; to apply it" },
    io,
  );
}

/** Asks the questions until one is not confirmed; throws RolecallError without a terminal. */
export async function confirmAll(
  questions: readonly Confirmation[],
  { color, review }: { readonly color: boolean; readonly review: string },
  io: Io,
): Promise<boolean> {
  if (!terminalOf(io).asks) {
    throw new RolecallError(
      "confirmation-needed",
      "Confirmation is required, but there is no terminal to ask on.",
      { hint: `${review}, run the command again with --yes.` },
    );
  }
  const style = styleFor(io.stderr, io, color);
  for (const question of questions) if (!(await ask(question, style, io))) return false;
  return true;
}

/** Asks on the terminal; true if the exact answer was typed. */
export async function ask({ lines, answer }: Confirmation, style: Style, io: Io): Promise<boolean> {
  const wrapped = (text: string): string => hangingLines(text, style.columns, "", "").join("\n");
  const [first = "", ...rest] = lines.map(wrapped);
  const prompt = wrapped(`Type ${answer} to continue; anything else cancels:`).replace(
    /(?<=^Type )\S+/,
    style.yellow,
  );
  io.stderr.write(`\n${[style.bold(first), ...rest].join("\n")}\n`);
  const typed = await readLine(`${prompt} `, io);
  if (typed?.trim() === answer) return true;
  io.stderr.write(typed === null ? "Cancelled.\n" : "Not confirmed.\n");
  return false;
}

/**
 * Reads a line from the terminal; `null` if a signal or the end of input comes instead. What is printed is never drawn
 * again, and the terminal itself edits the line: whatever the size of its window, it keeps its history, and Ctrl-Z works.
 */
export async function readLine(prompt: string, io: Io): Promise<string | null> {
  const { stderr } = io;
  const { stdin } = io.terminal;
  stderr.write(prompt);
  // Ink may have unreferenced stdin, and the program must not end before the answer.
  stdin.ref?.();
  const reader = createInterface({ input: stdin, terminal: false });
  const offSignals = io.onStopSignal(() => reader.close());
  const offSuspend = io.onSuspend({ suspend: () => undefined, resume: () => stderr.write(prompt) });
  const typed = await new Promise<string | null>((resolve) => {
    const onClose = (): void => {
      // Text that another listener writes on a signal goes below the question.
      stderr.write("\n");
      resolve(null);
    };
    reader.once("close", onClose);
    reader.once("line", (text) => {
      reader.off("close", onClose);
      resolve(text);
    });
  });
  offSignals();
  offSuspend();
  reader.close();
  return typed;
}

/** A plan to confirm, with its environment. */
export interface ConfirmationInput {
  readonly plan: Plan;
  readonly environment: Environment | null;
  /** Number of passwords that are set in addition; absent: none. */
  readonly passwords?: number;
}

/** A question before an apply: its lines, and the word to type. */
export interface Confirmation {
  readonly lines: readonly string[];
  readonly answer: string;
}

/**
 * Returns one question for each live merchant with removals, with the rest in one line, or else one question for all.
 * `run` is the run that is reverted, with one question for all of it.
 */
export function confirmationsFor(
  asked: readonly ConfirmationInput[],
  run: string | null = null,
): readonly [Confirmation, ...Confirmation[]] {
  const strict = asked.filter(({ environment, plan }) => environment !== "test" && removals([plan]) > 0);
  const rest = asked.filter((asking) => !strict.includes(asking));
  const [first, ...more] = strict.map(
    (asking): Confirmation => ({
      lines: [
        `${changesAt([asking])}.`,
        ...whatGoes(asking.plan),
        ...risksAt([asking])
          .filter(({ kind }) => kind !== "removals")
          .map(({ line }) => line),
        `${oneLine(asking.plan.merchant)} is not a test account.`,
      ],
      answer: asking.plan.merchant,
    }),
  );
  if (run !== null && more.length > 0) return [wholeRun(asked, strict, run)];
  const restRisks = risksAt(rest).map(({ line }) => line);
  if (first === undefined) return [{ lines: [`Apply ${changesAt(rest)}?`, ...restRisks], answer: "yes" }];
  if (rest.length === 0) return [first, ...more];
  return [{ ...first, lines: [...first.lines, `Also: ${changesAt(rest)}.`, ...restRisks] }, ...more];
}

function wholeRun(
  asked: readonly ConfirmationInput[],
  strict: readonly ConfirmationInput[],
  run: string,
): Confirmation {
  const merchants = strict.map(({ plan }) => plan.merchant);
  return {
    lines: [
      `${changesAt(asked)}.`,
      ...strict.slice(0, MOST_SHOWN).flatMap(({ plan }) => {
        return whatGoes(plan).map((line) => `${oneLine(plan.merchant)}: ${line}`);
      }),
      ...risksAt(asked)
        .filter(({ kind }) => kind !== "removals")
        .map(({ line }) => line),
      `${namesOf(merchants)} are not test accounts.`,
    ],
    answer: run,
  };
}

/** Counts the changes, as in "11 changes and 1 new password at MC4F7K2P, 3 of them removals". */
function changesAt(asked: readonly ConfirmationInput[]): string {
  const plans = asked.map(({ plan }) => plan);
  const [only, ...more] = plans;
  const where = only && more.length === 0 ? oneLine(only.merchant) : counted(plans.length, "merchant");
  const changeCount = plans.reduce((sum, { changes }) => sum + changes.length, 0);
  const passwords = asked.reduce((sum, asking) => sum + (asking.passwords ?? 0), 0);
  const what = [
    ...(changeCount > 0 || passwords === 0 ? [counted(changeCount, "change")] : []),
    ...(passwords > 0 ? [counted(passwords, "new password")] : []),
  ].join(" and ");
  return `${what} at ${where}${removalsAmong(changeCount, removals(plans))}`;
}

/** Names the removed resources, and the members who lose permissions. */
function whatGoes({ changes, impact }: Plan): readonly string[] {
  const removed = changes.filter(({ kind }) => kind === "delete");
  const losers = impact.members.filter(({ lost, unknownLost }) => lost.length + unknownLost.length > 0);
  const verb = losers.length === 1 ? "Loses" : "Lose";
  return [
    `Removed: ${namesOf(removed.map(({ resource, name }) => `${resource} ${name}`))}.`,
    ...(losers.length === 0 ? [] : [`${verb} permissions: ${namesOf(losers.map(({ name }) => name))}.`]),
  ];
}

/**
 * Repeats the risks of plans, a line each: "Risk: 248 members gain sensitive permissions, at 60 merchants: payouts_edit."
 */
function risksAt(
  asked: readonly ConfirmationInput[],
): readonly { readonly kind: RiskKind; readonly line: string }[] {
  const { risks } = fleetView(asked.map(({ plan }) => planView(plan)));
  return risks.map((risk) => {
    const { kind, items, merchants } = risk;
    const title = merchants === 1 && asked.length === 1 ? riskTitle(kind, items) : fleetRiskTitle(risk);
    const isGained = kind === "sensitive" || kind === "reach";
    const what = items.flatMap((item) => (isGained ? item.what.split(", ") : item.name));
    return { kind, line: `Risk: ${title}: ${namesOf([...new Set(what)])}.` };
  });
}

const MOST_SHOWN = 5;

function namesOf(names: readonly string[]): string {
  return list(names.map(oneLine));
}

function removalsAmong(changeCount: number, removed: number): string {
  if (removed === 0) return "";
  if (removed === changeCount) return changeCount === 1 ? ", a removal" : ", all of them removals";
  return removed === 1 ? ", 1 of them a removal" : `, ${grouped(removed)} of them removals`;
}

function removals(plans: readonly Plan[]): number {
  return plans.flatMap(({ changes }) => changes).filter(({ kind }) => kind === "delete").length;
}
