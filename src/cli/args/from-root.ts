import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { type Io, ioWith } from "../../app/io/io.ts";
import { DEFAULT_PATH } from "../../app/project/find-files.ts";
import { projectRoot } from "../../app/project/project-root.ts";
import { PROJECT_FILE } from "../../kernel/schema/project-file.ts";

/** An environment whose working directory is the root of the files, so that messages show paths relative to it. */
export interface FromRoot {
  readonly io: Io;
  /** Makes the paths among a command's arguments and options relative to the root. */
  readonly adapt: (command: Command) => void;
}

/** Returns the environment at the root of the files; `null` if that is the working directory, or there is none. */
export function fromRoot(started: Io): FromRoot | null {
  const cwd = existsSync(started.cwd) ? realpathSync.native(started.cwd) : null;
  const root = cwd && rootOfFiles(cwd);
  if (cwd === null || root === null || root === cwd) return null;
  const inRoot = (path: string): string =>
    path === "" || path === "-" || isAbsolute(path) ? path : relative(root, resolve(cwd, path)) || ".";
  return {
    io: ioWith(started, { cwd: root, startedIn: cwd }),
    adapt(command) {
      for (const [index, argument] of command.registeredArguments.entries()) {
        const words: unknown = command.processedArgs[index];
        const isPath = argument.name() === "path";
        // Addresses, followed by paths.
        if (!Array.isArray(words) || !(isPath || argument.name() === "email")) continue;
        command.processedArgs[index] = words.map((word: string) =>
          isPath || existsSync(resolve(cwd, word)) ? inRoot(word) : word,
        );
      }
      for (const option of command.options) {
        const name = option.attributeName();
        const value: unknown = command.getOptionValue(name);
        if (!option.flags.includes("<file>") || typeof value !== "string") continue;
        command.setOptionValueWithSource(name, inRoot(value), command.getOptionValueSource(name));
      }
    },
  };
}

/** Returns the nearest folder above that has the folder of merchants' files or the project's file. */
function rootOfFiles(cwd: string): string | null {
  const root = projectRoot(cwd, cwd);
  for (let folder = cwd; ; folder = dirname(folder)) {
    if ([DEFAULT_PATH, PROJECT_FILE].some((name) => existsSync(join(folder, name)))) return folder;
    if (folder === root || dirname(folder) === folder) return null;
  }
}
