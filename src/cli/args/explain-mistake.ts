import type { Command } from "commander";
import { listText } from "../../lib/text.ts";

/**
 * Adds a hint to the message of a mistake if commander has none: for an unknown option, one with this prefix, a format,
 * or the commands that have it; for an unexpected or missing argument, those that the command accepts.
 */
export function explainMistake(
  message: string,
  command: Command,
  allCommands: () => readonly Command[],
): string {
  if (message.includes("Did you mean")) return message;
  const flag = /unknown option '(--?[\w-]+)/.exec(message)?.[1];
  const isCount = /^error: (?:too many arguments|missing required argument)/.test(message);
  const hint = isCount ? acceptedBy(command) : flag ? hintFor(flag, command, allCommands) : null;
  return hint === null ? message : `${message.trimEnd()}\n(${hint})\n`;
}

/** Names the values of the arguments that a command accepts. */
function acceptedBy({ registeredArguments }: Command): string {
  if (registeredArguments.length === 0) return "It accepts options, but no arguments";
  const values = registeredArguments.map(({ argChoices, description }) =>
    argChoices === undefined ? description : listText(argChoices, "or"),
  );
  return `It accepts ${values.join("; then ")}`;
}

function hintFor(flag: string, command: Command, allCommands: () => readonly Command[]): string | null {
  if (flag === "--dry-run" && command.name() === "apply") {
    return 'Run "rolecall plan", which shows what apply would change';
  }
  const flags = command.options.flatMap(({ long }) => long ?? []);
  const longer = flags.filter((long) => flag.length > 3 && long.startsWith(flag));
  if (longer.length > 0) return `Did you mean ${longer.join(" or ")}?`;
  const format = command.options.find(({ long }) => long === "--format")?.argChoices ?? [];
  if (format.includes(flag.slice(2))) return `Did you mean --format ${flag.slice(2)}?`;
  const owners = allCommands()
    .filter(({ options }) => options.some(({ long, short }) => long === flag || short === flag))
    .map((owner) => owner.name());
  if (owners.length === 0) return null;
  return command.parent === null
    ? `Put it after the command: rolecall ${owners[0]} ${flag}`
    : `It is an option of ${owners.join(", ")}`;
}
