import { ExitCode, type Io } from "../../app/io/io.ts";
import { outputTo } from "../../app/io/output.ts";
import { defaultPath } from "../../app/project/find-files.ts";
import { loadStates } from "../../app/project/load-states.ts";
import { jsonSchema, type SchemaKind } from "../../kernel/saved/json-schemas.ts";
import { counted } from "../../lib/text.ts";
import { RolecallError } from "../../model/errors.ts";
import { withKnownNames } from "./files-schema.ts";

/** The options of `schema`. */
export interface SchemaCommandOptions {
  readonly forFiles?: true;
  readonly output?: string;
}

/** Prints a JSON Schema; that of merchant files on request with the names in the valid files. */
export async function printSchema(
  kind: SchemaKind,
  options: SchemaCommandOptions,
  io: Io,
): Promise<ExitCode> {
  const { forFiles, output } = options;
  if (forFiles && kind !== "merchant") {
    throw new RolecallError("usage", "--for-files is for the schema of merchant files only.", {
      hint: "Omit --for-files, or the kind.",
    });
  }
  const schema = jsonSchema(kind);
  const { sink, end } = outputTo(output, io);
  sink.write(`${JSON.stringify(forFiles ? await withNamesOfFiles(schema, io) : schema, null, 2)}\n`);
  await end();
  return ExitCode.ok;
}

/** Adds the names in the files; files with errors, such as those being edited, are left out, and counted on stderr. */
async function withNamesOfFiles(schema: object, { cwd, now, stderr }: Io): Promise<object> {
  const { states, diagnostics } = await loadStates([defaultPath(cwd)], { merchants: [], cwd, now: now() });
  const wrong = new Set(diagnostics.flatMap(({ severity, file }) => (severity === "error" ? file : [])));
  if (wrong.size > 0) {
    stderr.write(
      `warning: ${counted(wrong.size, "file")} with errors may be left out (rolecall validate).\n`,
    );
  }
  return withKnownNames(schema, states);
}
