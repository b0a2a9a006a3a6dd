import { ExitCode, type Io } from "../../app/io/io.ts";
import type { OutputOptions, ServiceOptions } from "../../app/project/command-options.ts";
import { isFileError } from "../../app/project/file-errors.ts";
import { type Loaded, loadWithSharers, reachNotes } from "../../app/project/load-states.ts";
import { noneChanged } from "../../app/project/pick-merchants.ts";
import { emptyShard, inShard } from "../../app/project/shard.ts";
import { globMatcher, type PlannedMerchant, plannedOnly } from "../../app/session/session.ts";
import { printUnread } from "../../app/show/show-plans.ts";
import { declaredSnapshot, liveSnapshot } from "../../ask/access/access-snapshot.ts";
import { ignoredPatterns } from "../../ask/access/ignored-access.ts";
import { lintAccess, lintTable } from "../../ask/lint/lint-access.ts";
import { codesOf, type LintMerchant, merchantsOf } from "../../ask/lint/lint-context.ts";
import { byPlace, findingDiagnostics } from "../../kernel/messages/to-diagnostics.ts";
import { filesOf } from "../../kernel/read/files-of.ts";
import { diagnosticTable } from "../../kernel/rules/every-rule.ts";
import { ADMINISTRATORS } from "../../kernel/rules/gains.ts";
import { sensitiveIn } from "../../kernel/rules/settings/sensitive.ts";
import { fieldsOf } from "../../kernel/values/values.ts";
import { parseText } from "../../kernel/yaml/to-value.ts";
import { counted } from "../../lib/text.ts";
import type { DesiredState } from "../../model/desired.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { RolecallError } from "../../model/errors.ts";
import { tidyFiles } from "../adopt/tidy-files.ts";
import { withPlans } from "../progress/with-plans.ts";
import { printProblems } from "../show/validate-files.ts";
import { ignoredPlanned, writeIgnored } from "../show/write-ignored.ts";

/** The options of `lint`. */
export type LintCommandOptions = ServiceOptions &
  OutputOptions & {
    readonly live?: true;
    readonly strict?: true;
    /** Removes what has no effect. */
    readonly fix?: true;
    readonly check?: true;
    readonly yes?: true;
  };

/** Prints what is valid but unwise in the files, with the warnings of `validate`. */
export async function lintFiles(
  paths: readonly string[],
  options: LintCommandOptions,
  io: Io,
): Promise<ExitCode> {
  checkUsage(options);
  const now = io.now();
  const { merchant, changedSince, shard } = options;
  const project = await loadWithSharers(paths, {
    merchants: merchant,
    cwd: io.cwd,
    now,
    everyFile: true,
    ...(changedSince !== undefined && { changedSince }),
  });
  const states = inShard(project.states, shard);
  const loaded = { ...project, states };
  if (!options.quiet) io.stderr.write(reachNotes(loaded) || noneChanged(options, loaded));
  io.stderr.write(emptyShard(project.states, shard));
  if (options.fix) return tidyFiles(loaded, options, io);
  const live = options.live ? await readLive(paths, options, io) : { planned: [], failed: false };
  const findings = findingsOf(loaded, live.planned, { now, thorough: options.verbose === true });
  const diagnostics = [...ofSelected(loaded), ...findings].toSorted(byPlace);
  const { sources } = loaded;
  const none = `Nothing found in ${counted(sources.length, "file")}.\n`;
  const rules = [...diagnosticTable(), ...lintTable()];
  await printProblems({ diagnostics, sources, rules, none, command: "lint" }, options, io);
  if (options.format === "text" && !options.quiet) {
    if (options.live) writeIgnored(ignoredPlanned(live.planned), "", options, io);
    else writeIgnored(ignoredPatterns(states), "--live also looks at their access.", options, io);
  }
  if (diagnostics.some(isFileError) || live.failed) return ExitCode.failed;
  return options.strict && diagnostics.length > 0 ? ExitCode.differences : ExitCode.ok;
}

/** Returns the problems of the selected merchants' files, and the errors of all. */
function ofSelected({ diagnostics, states, all: allStates }: Loaded): readonly Diagnostic[] {
  if (states.length === allStates.length) return diagnostics;
  const files = new Set(states.flatMap(filesOf));
  return diagnostics.filter(({ severity, file }) => severity === "error" || files.has(file));
}

function checkUsage({ fix, check, yes, format }: LintCommandOptions): void {
  if (fix && format !== "text") {
    throw new RolecallError("usage", `--fix shows a patch, and does not support --format ${format}.`);
  }
  if (!fix && (check || yes)) {
    throw new RolecallError("usage", `${check ? "--check" : "--yes"} needs --fix.`);
  }
}

async function readLive(
  paths: readonly string[],
  options: LintCommandOptions,
  io: Io,
): Promise<{ readonly planned: readonly PlannedMerchant[]; readonly failed: boolean }> {
  // The problems of the files are among the findings.
  return withPlans(
    paths,
    { ...options, quiet: true, roleIds: () => ADMINISTRATORS },
    io,
    async ({ planned }) => {
      printUnread(planned, options, io);
      const read = plannedOnly(planned);
      return { planned: read, failed: read.length < planned.length };
    },
  );
}

/**
 * Returns the findings in files of the selected merchants; a shared file is judged for all merchants that include it.
 */
function findingsOf(
  { all: allStates, states, sources }: Loaded,
  planned: readonly PlannedMerchant[],
  { now, thorough }: { readonly now: number; readonly thorough: boolean },
): readonly Diagnostic[] {
  const live = new Map(planned.map((outcome) => [outcome.live.merchant, outcome]));
  const merchants = allStates.map((state): LintMerchant => {
    const outcome = live.get(state.merchant);
    return {
      state,
      declared: declaredSnapshot(state, now),
      live: outcome
        ? { state: outcome.live, access: liveSnapshot(outcome.live, state, outcome.session.environment) }
        : null,
    };
  });
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const context = {
    merchants,
    files: sources.map(({ file, text }) => ({
      file,
      fields: fieldsOf(parseText(text).value),
    })),
    now,
    timeOf: Date.parse,
    thorough,
    matches: globMatcher(),
    isSensitive: sensitiveIn([...new Set(allStates.flatMap(({ projects = [] }) => projects))]),
  };
  const selected = new Set(states.map(({ merchant }: DesiredState) => merchant));
  const findings = lintAccess(context).filter(({ origin }) =>
    codesOf(merchantsOf(context, origin.file)).some((code) => selected.has(code)),
  );
  return findingDiagnostics(
    texts,
    findings.map(({ code, message, hint, origin }) => ({
      code,
      message,
      hint,
      location: { at: "value", ...origin },
    })),
  );
}
