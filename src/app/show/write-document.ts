import type { FailureJson } from "../../model/events.ts";
import { sentence } from "../../show/blocks/block.ts";
import { documentText } from "../../show/blocks/text-blocks.ts";
import { isTablesOnly, printAs } from "../../show/formats/every-format.ts";
import type { AnswerDocument, Documents } from "../../show/formats/format.ts";
import { ExitCode, type Io } from "../io/io.ts";
import { type Output, outputTo } from "../io/output.ts";
import { styleFor, verbosityOf } from "../io/terminal.ts";
import type { DocumentOptions, OutputOptions } from "../project/command-options.ts";

/** Writes a document in the format of the options to stdout, or to the file of `--output`. */
export async function writeDocument<Kind extends keyof Documents>(
  kind: Kind,
  document: Documents[Kind],
  options: OutputOptions & DocumentOptions & { readonly verbose?: true },
  io: Io,
  { sink, end }: Output = outputTo(options.output, io),
): Promise<void> {
  const { format, maxSize, color } = options;
  const paper = {
    style: styleFor(sink, io, color),
    verbosity: verbosityOf(options),
    ...(maxSize !== undefined && { maxSize }),
  };
  sink.write(await printAs(kind, format, document, paper));
  await end();
}

/** Writes an answer, and to stderr what its format cannot express; a merchant without an answer fails the command. */
export async function writeAnswer(
  answer: AnswerDocument,
  failures: readonly FailureJson[],
  options: Parameters<typeof writeDocument>[2],
  io: Io,
): Promise<ExitCode> {
  writeCaveats(answer, options, io);
  await writeDocument("answer", answer, options, io);
  return failures.length > 0 ? ExitCode.failed : ExitCode.ok;
}

/** Writes the caveats of an answer on stderr if its format has no room for them. */
export function writeCaveats(
  { caveats }: Pick<AnswerDocument, "caveats">,
  { format, color }: OutputOptions,
  io: Io,
): void {
  if (!isTablesOnly(format)) return;
  const blocks = caveats.map((text) => sentence(text, { tone: "yellow" }));
  io.stderr.write(documentText([blocks], styleFor(io.stderr, io, color)));
}
