import { counted, firstOf } from "../../lib/text.ts";
import { fenced } from "../../show/markdown/markdown-blocks.ts";
import { type ActionResult, failed, type OfflineContext, passed } from "../context/action-context.ts";
import { annotate } from "../context/action-log.ts";
import { diagnosticAnnotations, diagnosticLine, maskAddresses } from "../review/annotations.ts";
import { loadFiles, withActionErrors } from "../review/load-and-plan.ts";

const MAX_SHOWN = 500;

/** Runs `validate`: checks the files without the network. */
export async function runValidate(context: OfflineContext): Promise<ActionResult> {
  const loaded = await withActionErrors(() => loadFiles(context.inputs, context.io));
  const { sources } = loaded;
  const isMasked = context.inputs.maskAddresses === "on";
  const diagnostics = loaded.diagnostics.map((diagnostic) =>
    isMasked ? { ...maskAddresses(diagnostic), file: diagnostic.file } : diagnostic,
  );
  annotate(diagnosticAnnotations(diagnostics), context.log);
  const lines = diagnostics.map(diagnosticLine);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const verdict =
    errors.length === 0
      ? `✅ rolecall validate: ${counted(sources.length, "file")} valid`
      : `❌ rolecall validate: ${counted(errors.length, "error")}`;
  const shown = lines.length === 0 ? "" : `\n${fenced("text", firstOf(lines, MAX_SHOWN, "problem"))}\n`;
  await context.appendSummary(`## ${verdict}\n${shown}`);
  if (!loaded.valid) {
    return failed("invalid", "invalid-files", `The files have ${counted(errors.length, "error")}.`);
  }
  if (errors.length > 0) {
    return failed("invalid", "refused", "The files break their own policies or checks.");
  }
  return passed("valid");
}
