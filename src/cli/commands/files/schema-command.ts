import { Argument, Command } from "commander";
import { ExitCode, type Io } from "../../../app/io/io.ts";
import type { SchemaKind } from "../../../kernel/saved/json-schemas.ts";

/** Declares `schema`. */
export function schemaCommand(io: Io, done: (code: ExitCode) => void): Command {
  return new Command("schema")
    .summary("print the JSON Schema of merchant files, rolecall.yaml or plans")
    .description(
      "Prints a JSON Schema: of merchant files or rolecall.yaml, so that editors can complete and explain keys, or of saved plans, for programs that read them.",
    )
    .addArgument(
      new Argument("[kind]", "which schema: of a merchant's file, of rolecall.yaml, or of a saved plan")
        .choices(["merchant", "project", "plan"])
        .default("merchant"),
    )
    .addHelpText(
      "after",
      `
Examples:
  rolecall schema > merchant.schema.json
  rolecall schema project > rolecall.schema.json
  rolecall schema plan > plan.schema.json

  # first line of a file, for editors with a YAML language server
  # yaml-language-server: $schema=../merchant.schema.json

  # first line of rolecall.yaml
  # yaml-language-server: $schema=rolecall.schema.json
`,
    )
    .action(async (kind: SchemaKind) => {
      const { jsonSchema } = await import("../../../kernel/saved/json-schemas.ts");
      io.stdout.write(`${JSON.stringify(jsonSchema(kind), null, 2)}\n`);
      done(ExitCode.ok);
    });
}
