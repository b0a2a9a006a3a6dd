import { FILE_MESSAGES } from "../../kernel/messages/file-messages.ts";
import { toDiagnostics } from "../../kernel/messages/to-diagnostics.ts";
import { inFile } from "../../kernel/problems/in-file.ts";
import { addressSchema } from "../../kernel/schema/address-schema.ts";
import { schemaProblems } from "../../kernel/schema/schema-problems.ts";
import { omitUndefined } from "../../kernel/values/values.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { IndexedMerchants } from "./declared-merchants.ts";

/** Returns the problems of the files that merchants were looked for in, with those of their addresses. */
export function declaredDiagnostics({
  problems,
  invalid,
  texts,
}: Omit<IndexedMerchants, "merchants">): readonly Diagnostic[] {
  const ofAddresses = invalid.flatMap(({ file, fields }) => {
    const { merchant, environment, api } = fields ?? {};
    const address = omitUndefined({ merchant, environment, api });
    const { error } = addressSchema.safeParse(address);
    return schemaProblems(error?.issues ?? [], address, addressSchema).map((problem) =>
      inFile(file, problem),
    );
  });
  return toDiagnostics(texts, [...problems, ...ofAddresses], FILE_MESSAGES);
}
