import { type DocumentForm, parseAs } from "../seed/parse-document.ts";
import { type FaultSettings, faultsBody } from "./fault-rules.ts";

/** What goes wrong, as a file or a control route says it; without a seed, another one counts. */
export interface FaultsText {
  readonly seed?: number | undefined;
  readonly rules: FaultSettings["rules"];
}

const FORM: DocumentForm<FaultsText> = {
  schema: faultsBody,
  empty: 'the file is empty; faults begin with "rules:"',
};

/** Reads faults from YAML or JSON; throws `DocumentInvalid` with every problem and its place. */
export function parseFaults(text: string): FaultsText {
  return parseAs(text, FORM);
}
