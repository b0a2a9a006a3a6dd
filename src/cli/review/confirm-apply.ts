import { createInterface } from "node:readline";
import type { PasswordChange } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { Style } from "../../render/style.ts";
import type { Io, TerminalStreams } from "../io/io.ts";
import { styleFor, terminalOf } from "../io/output.ts";
import type { Session } from "../session/session.ts";
import { type Confirmation, confirmationsFor } from "./confirmation.ts";

/** A plan that waits for confirmation, with the passwords that are set in addition. */
export interface PendingApply {
  readonly session: Session;
  readonly plan: Plan;
  readonly passwords?: readonly PasswordChange[];
  /** Number of changes that the user left out of the plan; absent: none. */
  readonly leftOut?: number;
}

/**
 * Asks every question until one is not confirmed; throws RolecallError without a terminal. `undoes` is the run that is
 * reverted.
 */
export async function confirmApply(
  due: readonly PendingApply[],
  { color, undoes }: { readonly color: boolean; readonly undoes: string | null },
  io: Io,
): Promise<boolean> {
  const { asks, draws } = terminalOf(io);
  if (!asks) {
    throw new RolecallError(
      "confirmation-needed",
      "There is no terminal to ask on, and --yes was not given.",
      {
        hint: "Look at the plan above; if it is what you want, run it again with --yes.",
      },
    );
  }
  const ask = draws
    ? await drawnQuestion(styleFor(io.stderr, io, color), io.terminal)
    : plainQuestion(io.terminal);
  const asked = due.map(({ session, plan, passwords = [] }) => ({
    plan,
    environment: session.environment,
    passwords: passwords.length,
  }));
  for (const question of confirmationsFor(asked, undoes)) if (!(await ask(question))) return false;
  return true;
}

type Ask = (question: Confirmation) => Promise<boolean>;

/** Loads Ink, which only a terminal needs. */
async function drawnQuestion(style: Style, { stdin, stderr }: TerminalStreams): Promise<Ask> {
  const { confirm } = await import("../../render/tui/confirm.tsx");
  return (question) => {
    // Set before the first frame, so that early keys are not echoed into it.
    stdin.setRawMode(true);
    return confirm(question, style, stderr);
  };
}

function plainQuestion({ stdin, stderr }: TerminalStreams): Ask {
  return (question) => askPlainly(question, stdin, stderr);
}

/** Asks on a terminal that cannot be redrawn; true if the exact answer was typed. */
export async function askPlainly(
  { lines, answer }: Confirmation,
  input: NodeJS.ReadStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const reader = createInterface({ input, output });
  output.write(`\n${lines.join("\n")}\n`);
  const typed = await new Promise<string | null>((resolve) => {
    reader.on("SIGINT", () => resolve(null));
    reader.on("close", () => resolve(null));
    reader.question(`Type ${answer} to continue; anything else cancels: `, resolve);
  });
  reader.close();
  if (typed !== null && typed.trim() !== answer) output.write(`Not confirmed.\n`);
  return typed?.trim() === answer;
}
