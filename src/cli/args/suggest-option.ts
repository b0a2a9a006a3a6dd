import type { Command } from "commander";

/**
 * Adds a suggestion to the message of an unknown option if commander has none: an option with this prefix, a format, or
 * the commands that have it.
 */
export function suggestOption(
  message: string,
  command: Command,
  allCommands: () => readonly Command[],
): string {
  const flag = /unknown option '(--?[\w-]+)/.exec(message)?.[1];
  if (flag === undefined || message.includes("Did you mean")) return message;
  const hint = hintFor(flag, command, allCommands);
  return hint === null ? message : `${message.trimEnd()}\n(${hint})\n`;
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
