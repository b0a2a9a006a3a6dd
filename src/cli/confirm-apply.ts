import type { PasswordChange } from "../model/apply.ts";
import { RolecallError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import type { Io } from "./io.ts";
import type { Session } from "./planning.ts";
import { questionsFor } from "./questions.ts";

/** A plan that waits for a yes, and the passwords that are to be set besides. */
export interface Due {
  readonly session: Session;
  readonly plan: Plan;
  readonly passwords?: readonly PasswordChange[];
}

/** Asks until everything is answered or one answer is no; without a terminal it refuses to guess. */
export async function confirmApply(due: readonly Due[], io: Io): Promise<boolean> {
  if (!io.stdinIsTTY || !io.stderr.isTTY) {
    throw new RolecallError(
      "confirmation-needed",
      "There is no terminal to ask on, and --yes was not given.",
      {
        hint: "Look at the plan above; if it is what you want, run it again with --yes.",
      },
    );
  }
  // Loaded here only: a terminal is the one place that needs Ink.
  const { confirm } = await import("../render/tui/confirm.tsx");
  const asked = due.map(({ session, plan, passwords = [] }) => ({
    plan,
    environment: session.environment,
    passwords: passwords.length,
  }));
  for (const question of questionsFor(asked)) {
    if (!(await confirm(question, process.stderr))) return false;
  }
  return true;
}
