import { Command, CommanderError } from "commander";
import { ExitCode, exitCodeFor, type Io, VERSION } from "../app/io/io.ts";
import { styleFor } from "../app/io/terminal.ts";
import { RolecallError } from "../model/errors.ts";
import { explainMistake } from "./args/explain-mistake.ts";
import { fromRoot } from "./args/from-root.ts";
import { applyCommand } from "./commands/account/apply-command.ts";
import { doctorCommand } from "./commands/account/doctor-command.ts";
import { driftCommand } from "./commands/account/drift-command.ts";
import { evidenceCommand } from "./commands/account/evidence-command.ts";
import { grantCommand, revokeCommand } from "./commands/account/grant-command.ts";
import { initCommand } from "./commands/account/init-command.ts";
import { offboardCommand } from "./commands/account/offboard-command.ts";
import { planCommand } from "./commands/account/plan-command.ts";
import { pullCommand } from "./commands/account/pull-command.ts";
import { reportCommand } from "./commands/account/report-command.ts";
import { runsCommand } from "./commands/account/runs-command.ts";
import { undoCommand } from "./commands/account/undo-command.ts";
import { whoamiCommand } from "./commands/account/whoami-command.ts";
import { completeCommand, completionCommand } from "./commands/completion-command.ts";
import { demoCommand } from "./commands/demo-command.ts";
import { checkCommand } from "./commands/files/check-command.ts";
import { expiringCommand } from "./commands/files/expiring-command.ts";
import { fmtCommand } from "./commands/files/fmt-command.ts";
import { lintCommand } from "./commands/files/lint-command.ts";
import { listCommand } from "./commands/files/list-command.ts";
import { schemaCommand } from "./commands/files/schema-command.ts";
import { validateCommand } from "./commands/files/validate-command.ts";
import { whoCommand } from "./commands/files/who-command.ts";
import { whyCommand } from "./commands/files/why-command.ts";
import { sandboxCommand } from "./commands/sandbox-command.ts";

/** Declares a command; `done` takes its exit code. */
type CommandFactory = (io: Io, done: (code: ExitCode) => void) => Command;

/** The commands in the order and the groups of the help. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, CommandFactory>>>> = {
  "Daily:": {
    validate: validateCommand,
    plan: planCommand,
    apply: applyCommand,
    drift: driftCommand,
    pull: pullCommand,
    grant: grantCommand,
    revoke: revokeCommand,
    offboard: offboardCommand,
    fmt: fmtCommand,
    runs: runsCommand,
    undo: undoCommand,
  },
  "Questions:": {
    who: whoCommand,
    why: whyCommand,
    expiring: expiringCommand,
    lint: lintCommand,
    check: checkCommand,
    report: reportCommand,
    evidence: evidenceCommand,
    list: listCommand,
    whoami: whoamiCommand,
  },
  "Set-up:": {
    demo: demoCommand,
    init: initCommand,
    doctor: doctorCommand,
    sandbox: sandboxCommand,
    schema: schemaCommand,
    completion: completionCommand,
  },
};

/** Declares a command, with its group; `name` need not be one. */
const COMMANDS: ReadonlyMap<string | undefined, CommandFactory> = new Map(
  Object.entries(GROUPS).flatMap(([group, commands]) =>
    Object.entries(commands).map(([name, declare]): [string, CommandFactory] => [
      name,
      (...context) => declare(...context).helpGroup(group),
    ]),
  ),
);

/** Runs rolecall with these arguments (without node and script) and returns the exit code; never throws. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    return await run(argv, io);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.failed;
    const style = styleFor(io.stderr, io, !argv.includes("--no-color"));
    if (error instanceof RolecallError) {
      // Loaded only for a failure, to keep every other start fast.
      const { renderFailure } = await import("../show/documents/failure.ts");
      io.stderr.write(renderFailure(error.failure, style));
      return exitCodeFor(error);
    }
    return reportCrash(error, io);
  }
}

/** Reports an error that nothing has handled, and returns the exit code: a limit of the system, or a bug. */
export function reportCrash(error: unknown, io: Pick<Io, "stderr" | "nodeVersion">): ExitCode {
  if (isOutOfFiles(error)) {
    io.stderr.write("error: Too many files are open for rolecall to run. Raise the limit (ulimit -n).\n");
    return ExitCode.failed;
  }
  if (isOutOfMemory(error)) {
    io.stderr.write(
      "error: There is not enough memory for rolecall to run. Raise the address space limit (ulimit -v); before version 24, Node.js reserves 10 GB for HTTP.\n",
    );
    return ExitCode.failed;
  }
  io.stderr.write(bugReport(error, io));
  return ExitCode.bug;
}

async function run(argv: readonly string[], started: Io): Promise<ExitCode> {
  // Completion works on the words of the shell.
  const project = argv[0] === "complete" ? null : fromRoot(started);
  const io = project?.io ?? started;
  let exitCode: ExitCode = ExitCode.ok;
  const program = new Command("rolecall")
    .description("Access as code for merchant accounts: who can do what, kept in git.")
    .version(VERSION, "-V, --version", "print the version")
    .addHelpCommand(
      new Command("help").arguments("[command]").description("print help for a command").helpGroup("Set-up:"),
    )
    .showHelpAfterError("(--help shows the commands and options)")
    .configureHelp({ subcommandTerm: commandTerm })
    .addHelpText("after", HELP)
    .hook("preAction", (_, command) => project?.adapt(command));
  // Only the requested command is declared; for help, mistakes and completion all of them.
  const asked = COMMANDS.get(argv[0]);
  for (const command of asked ? [asked] : COMMANDS.values()) {
    program.addCommand(
      command(io, (code) => {
        exitCode = code;
      }),
    );
  }
  program.addCommand(
    completeCommand(io, (code) => {
      exitCode = code;
    }),
    { hidden: true },
  );
  const allCommands = (): readonly Command[] =>
    [...COMMANDS.values()].map((declare) => declare(io, () => undefined));
  for (const command of [program, ...program.commands]) {
    command
      .helpOption("-h, --help", "print help")
      .exitOverride()
      .configureOutput({
        writeOut: (text) => io.stdout.write(text),
        writeErr: (text) => io.stderr.write(text),
        outputError: (text, write) => write(explainMistake(text, command, allCommands)),
        getOutHelpWidth: () => Math.min(io.stdout.columns ?? HELP_COLUMNS, HELP_COLUMNS),
        getErrHelpWidth: () => Math.min(io.stderr.columns ?? HELP_COLUMNS, HELP_COLUMNS),
        // Help has no colours.
        getOutHasColors: () => false,
        getErrHasColors: () => false,
      });
  }
  await program.parseAsync(commandLine(program, argv), { from: "user" });
  return exitCode;
}

/** Returns a command with its arguments, as the list of commands shows it: all of them have options. */
function commandTerm(command: Command): string {
  return `${command.name()} ${command.usage().replace(/\[options\] ?/, "")}`.trim();
}

const HELP_WORDS: ReadonlySet<string> = new Set(["help", "--help", "-h"]);

/**
 * Returns the arguments with `--help` moved behind its command, and without it for a command that does not exist.
 */
function commandLine(program: Command, argv: readonly string[]): readonly string[] {
  const command = argv.find((word) => !HELP_WORDS.has(word));
  if (command?.startsWith("-")) return argv;
  if (command && !program.commands.some((each) => each.name() === command)) return [command];
  return HELP_WORDS.has(argv[0] ?? "") ? [...(command ? [command] : []), "--help"] : argv;
}

/** Widest help, in columns. */
const HELP_COLUMNS = 80;

const HELP = `
Try it without any account:
  rolecall demo

Then write files for your own, asking for everything:
  rolecall init

Exit codes: 0 done, 1 failed, 2 differences (drift, lint --strict, and
plan --detailed-exitcode), 3 refused, or a rule is broken (check), 4 apply
stopped part-way, 70 a bug.
`;

/** Returns whether this process may open no more files: even a part of rolecall may fail to load then. */
function isOutOfFiles(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "EMFILE" || code === "ENFILE";
}

/** Returns whether an allocation failed, as it does below a limit of the address space. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof RangeError && /out of memory|allocation failed/i.test(error.message);
}

function bugReport(error: unknown, { nodeVersion }: Pick<Io, "nodeVersion">): string {
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [
    `This is a bug in rolecall ${VERSION}. Please report it with the details below:\n`,
    `${trace}\n`,
    `node ${nodeVersion}\n`,
  ].join("");
}
