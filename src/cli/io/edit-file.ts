import { spawn } from "node:child_process";
import { basename, resolve } from "node:path";
import type { Io } from "../../app/io/io.ts";

/** The place to open a file at, by its path from the working directory. */
interface EditedPlace {
  readonly file: string;
  readonly line: number;
}

/** Arguments that tell an editor the line; other editors get only the file. */
const LINE_ARGUMENTS: readonly (readonly [
  editors: RegExp,
  argsOf: (file: string, line: number) => string[],
])[] = [
  [
    /^(code|code-insiders|codium|vscodium|cursor|windsurf|positron)$/,
    (file, line) => ["--goto", `${file}:${line}`],
  ],
  [/^(subl|sublime_text|zed|zeditor|hx|helix|lapce)$/, (file, line) => [`${file}:${line}`]],
  [
    /^(idea|webstorm|pycharm|phpstorm|rubymine|goland|clion|rider|mate)$/,
    (file, line) => ["--line", String(line), file],
  ],
  [
    /^(vi|vim|nvim|view|gvim|mvim|vimx|ex|emacs|emacsclient|nano|rnano|pico|micro|kak|joe|jed|mg|ne|jove|gedit|vis|ee)$/,
    (file, line) => [`+${line}`, file],
  ],
];

/** Returns the arguments that open a file at a line in an editor, by its command. */
export function editorArguments(command: string, { file, line }: EditedPlace): readonly string[] {
  const [program = ""] = command.trim().split(/\s+/);
  const name = basename(program.replaceAll("\\", "/")).replace(/\.(exe|cmd|bat)$/i, "");
  const argument = LINE_ARGUMENTS.find(([editors]) => editors.test(name));
  return argument === undefined ? [file] : argument[1](file, line);
}

/**
 * Opens a file in the editor of $VISUAL or $EDITOR, which has the terminal until it ends; returns why it could not, or
 * `null`. As for git, the variable may have arguments, and the shell reads it.
 */
export async function editFile(place: EditedPlace, io: Io): Promise<string | null> {
  const command = io.env["VISUAL"] || io.env["EDITOR"];
  if (!command) return "Set $VISUAL or $EDITOR to open files.";
  const args = editorArguments(command, { ...place, file: resolve(io.cwd, place.file) });
  const { stdin, stdout, stderr } = io.terminal;
  // Otherwise, a pending read would take the editor's first key.
  stdin.resume();
  stdin.pause();
  const giveBack = withoutInterrupts();
  try {
    const isWindows = process.platform === "win32";
    const child = spawn(
      isWindows ? [command, ...args.map((arg) => `"${arg}"`)].join(" ") : "/bin/sh",
      isWindows ? [] : ["-c", `${command} "$@"`, command, ...args],
      { cwd: io.cwd, stdio: [stdin, stdout.isTTY ? stdout : stderr, stderr], shell: isWindows },
    );
    const code = await new Promise<number | null>((done, fail) => {
      child.on("error", fail);
      child.on("close", done);
    });
    return code === 0 ? null : `${command} ended with ${code === null ? "a signal" : `code ${code}`}.`;
  } catch (cause) {
    return `${command} cannot be started: ${(cause as Error).message}.`;
  } finally {
    giveBack();
  }
}

/** Leaves Ctrl-C to the editor, which has the terminal; returns a function that restores it. */
function withoutInterrupts(): () => void {
  const listeners = process.listeners("SIGINT");
  const ignore = (): void => undefined;
  process.removeAllListeners("SIGINT");
  process.on("SIGINT", ignore);
  return () => {
    process.off("SIGINT", ignore);
    for (const listener of listeners) process.on("SIGINT", listener);
  };
}
