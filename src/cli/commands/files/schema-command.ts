import { Argument, Command } from "commander";
import type { ExitCode, Io } from "../../../app/io/io.ts";
import type { SchemaKind } from "../../../kernel/saved/json-schemas.ts";
import { withOutputFileOption } from "../../args/options.ts";
import type { SchemaCommandOptions } from "../../schema/print-schema.ts";

/** Declares `schema`. */
export function schemaCommand(io: Io, done: (code: ExitCode) => void): Command {
  const command = new Command("schema")
    .summary("print the JSON Schema of merchant files, rolecall.yaml or plans")
    .description(
      "Prints a JSON Schema: of merchant files or rolecall.yaml, so that editors can complete and explain keys, or of saved plans, for programs that read them.",
    )
    .addArgument(
      new Argument("[kind]", "which schema: of a merchant's file, of rolecall.yaml, or of a saved plan")
        .choices(["merchant", "project", "plan"])
        .default("merchant"),
    )
    .option(
      "--for-files",
      "with the roles, permissions and addresses of the files in access/, for editors to suggest",
    )
    .addHelpText(
      "after",
      `
Examples:
  rolecall schema > merchant.schema.json
  rolecall schema project > rolecall.schema.json
  rolecall schema plan > plan.schema.json
  rolecall schema --for-files --output schemas/merchant.schema.json

  # first line of a file, for editors with a YAML language server
  # yaml-language-server: $schema=../merchant.schema.json

  # first line of rolecall.yaml
  # yaml-language-server: $schema=rolecall.schema.json
`,
    )
    .action(async (kind: SchemaKind, options: SchemaCommandOptions) => {
      const { printSchema } = await import("../../schema/print-schema.ts");
      done(await printSchema(kind, options, io));
    });
  return withOutputFileOption(command);
}
