import { VARIABLE } from "../../config/schema/text-schemas.ts";
import { checkBaseUrl } from "../../live/paths.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Choice, ListQuestion } from "../../render/tui/list-prompt.tsx";
import type { TextQuestion } from "../../render/tui/text-prompt.tsx";
import type { Io } from "../io/io.ts";
import { styleFor, terminalOf } from "../io/output.ts";
import { isKey } from "../session/connection.ts";

/** Asks on the terminal; every question throws RolecallError if it is left. */
export interface Interview {
  text(question: TextQuestion): Promise<string>;
  /** Resolves to the indexes of the ticked choices, at least one. */
  several(question: ListQuestion): Promise<readonly number[]>;
  /** Resolves to the index of the choice. */
  one(title: string, choices: readonly Choice[]): Promise<number>;
}

/** Returns a way to ask questions; null if there is no terminal for it, or `yes` forbids them. */
export function openInterview(
  { yes, color }: { readonly yes?: true; readonly color: boolean },
  io: Io,
): Interview | null {
  const { asks, draws } = terminalOf(io);
  if (yes || !asks || !draws) return null;
  const style = styleFor(io.stderr, io, color);
  const { terminal } = io;
  // Set before the first frame, so that early keys are not echoed into it.
  const hideKeys = (): void => void terminal.stdin.setRawMode(true);
  const several = async (question: ListQuestion): Promise<readonly number[]> => {
    hideKeys();
    const { askList } = await import("../../render/tui/list-prompt.tsx");
    return answered(await askList(question, style, terminal));
  };
  return {
    async text(question) {
      hideKeys();
      const { askText } = await import("../../render/tui/text-prompt.tsx");
      return answered(await askText(question, style, terminal));
    },
    several,
    one: async (title, choices) => (await several({ title, choices, single: true }))[0] ?? 0,
  };
}

function answered<T>(answer: T | null): T {
  if (answer !== null) return answer;
  throw new RolecallError("confirmation-needed", "Left without an answer: nothing was written.");
}

/** Asks for the base URL. */
export function askBaseUrl(interview: Interview): Promise<string> {
  return interview.text({
    title: "Base URL of the service:",
    initial: "https://",
    problem: (text) => failureOf(() => checkBaseUrl(text)),
  });
}

/** Asks for the name of the variable that holds the key. */
export function askKeyVariable(interview: Interview, env: Io["env"]): Promise<string> {
  return interview.text({
    title: "Environment variable with the API key:",
    initial: "ROLECALL_API_KEY",
    problem: (name) => {
      if (isKey(name)) return "That is a key: name the variable that holds it.";
      if (!VARIABLE.test(name)) return "That is not the name of an environment variable.";
      return env[name]
        ? null
        : `${name} is not set: leave with Escape, set it, and start again, or name another.`;
    },
  });
}

function failureOf(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof RolecallError) return error.message;
    throw error;
  }
}
