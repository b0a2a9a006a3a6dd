import { type Block, type Sentence, sentence, toned } from "../blocks/block.ts";
import type { FindingView, RefusalView } from "../view/plan-view.ts";

/** Says where a finding or a refusal comes from, and what to do about it. */
export function remedies({
  place,
  hint,
  override = null,
}: Pick<FindingView, "place"> & {
  readonly hint: string | null;
  readonly override?: string | null;
}): readonly Block[] {
  return [
    ...(place === null ? [] : [sentence(`written at ${place}`, { tone: "dim", isProse: true })]),
    ...(hint === null ? [] : [sentence(hint, { mark: "next" })]),
    ...(override === null ? [] : [overrideStep(override)]),
  ];
}

/** Says how to override a refusal; the command is kept on one line where it fits. */
export function overrideStep(override: string): Sentence {
  return sentence(["To override: ", { text: override, isWhole: true }], { mark: "next" });
}

/** Returns the line that overrides refusals in a file; a line break between its parts does not matter in YAML. */
export function fileOverride(line: string, where = IN_FILE): Sentence {
  return sentence(where, { mark: "next", below: [sentence(line)] });
}

const IN_FILE = "To override in git, add under guards in the file:";

/** Returns a refusal of a plan, or a rule that live access breaks. */
export function refusalBlock(refusal: RefusalView): Sentence {
  const { rule, code, message } = refusal;
  return sentence([toned("red", `${rule} ${code}`), `: ${message}`], { below: remedies(refusal) });
}

/** Returns refusals; what several in a row that are about one rule share is said below the last of them. */
export function refusalBlocks(refusals: readonly RefusalView[]): readonly Sentence[] {
  const shared = ({ place, hint, override }: RefusalView): string => JSON.stringify([place, hint, override]);
  return refusals.map((refusal, index) => {
    const next = refusals[index + 1];
    const isShared = refusal.place !== null && next !== undefined && shared(next) === shared(refusal);
    const block = refusalBlock(refusal);
    return isShared ? { ...block, below: [] } : block;
  });
}

/** Returns a refusal that is overridden. */
export function overriddenBlock({ rule, code, message }: RefusalView): Sentence {
  return sentence([toned("yellow", "overridden"), `: ${rule} ${code}: ${message}`]);
}

/** Returns an error or a warning of a plan. */
export function findingBlock(finding: FindingView): Sentence {
  const { severity, message } = finding;
  const tone = severity === "error" ? "red" : "yellow";
  return sentence([toned(tone, severity), `: ${message}`], { below: remedies(finding) });
}
