import type { ApplyPorts } from "../../src/kernel/apply/apply-plan.ts";
import { unknownPutSemantics } from "../../src/kernel/apply/update-member.ts";
import { memoryJournal } from "./memory-journal.ts";
import type { ModelService } from "./model-service.ts";

/** What an apply needs, against a model service; `rest` is what a test wants otherwise. */
export function applyPorts(
  { writer, lookup }: Pick<ModelService, "writer" | "lookup">,
  rest: Partial<ApplyPorts> = {},
): ApplyPorts {
  return {
    writer,
    lookup,
    recheck: true,
    putSemantics: unknownPutSemantics(),
    journal: memoryJournal(),
    password: () => "correct horse",
    emit: () => undefined,
    concurrency: 1,
    stop: new AbortController().signal,
    cause: () => null,
    ...rest,
  };
}
