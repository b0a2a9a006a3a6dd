import { counted, grouped } from "../../lib/text.ts";

/** A note about the rules of one merchant that a review has to show. */
export interface RuleNote {
  readonly merchant: string;
  /** Looser than on the base branch, overridden for the plan that is shown, changed in a file of rules, or not compared. */
  readonly kind: "loosened" | "overridden" | "changed" | "unknown";
  /** The part of the file that it is about. */
  readonly topic: string;
  readonly text: string;
}

/** Identical notes about one or more merchants. */
export interface RuleLine extends Omit<RuleNote, "merchant"> {
  readonly merchants: readonly string[];
}

/** Combines identical notes about several merchants. */
export function groupRuleNotes(notes: readonly RuleNote[]): readonly RuleLine[] {
  const lines = new Map<string, RuleLine & { readonly merchants: string[] }>();
  for (const { merchant, ...said } of notes) {
    const key = JSON.stringify([said.kind, said.topic, said.text]);
    const line = lines.get(key) ?? { ...said, merchants: [] };
    lines.set(key, line);
    line.merchants.push(merchant);
  }
  return [...lines.values()];
}

const NAMES_SHOWN = 5;

/** "MC1: at most 25% → 100% may be removed", or "3 merchants: … (MC1, MC2, MC3)". */
function ruleLineText({ text, merchants }: RuleLine): string {
  const [only = "", ...more] = merchants;
  return more.length === 0 ? `${only}: ${text}` : `${merchantsText(merchants)}: ${text}`;
}

function merchantsText(merchants: readonly string[]): string {
  const more = merchants.length - NAMES_SHOWN;
  const names = merchants.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${grouped(more)} more` : "");
  return `${counted(merchants.length, "merchant")} (${names})`;
}

/** "Rules: 3 looser than on the base branch, 1 overridden for this plan". */
export function rulesTitle(lines: readonly RuleLine[]): string {
  const of = (kind: RuleLine["kind"]): number => lines.filter((line) => line.kind === kind).length;
  const parts = [
    [of("loosened"), "looser than on the base branch"],
    [of("overridden"), "overridden for this plan"],
    [of("changed"), `${of("changed") === 1 ? "file" : "files"} of enforced rules changed`],
    [of("unknown"), "not compared"],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, what]) => `${grouped(count)} ${what}`);
  return `Rules: ${said.join(", ")}`;
}

/**
 * Returns the lines. If they are longer than a size, returns the number for each topic, with the first merchants if
 * they fit: whatever the size, every topic is mentioned.
 */
export function ruleTexts(lines: readonly RuleLine[], maxSize = Number.POSITIVE_INFINITY): readonly string[] {
  const fits = (texts: readonly string[]): boolean =>
    texts.reduce((sum, text) => sum + text.length + 3, 0) <= maxSize;
  const texts = lines.map(ruleLineText);
  if (fits(texts)) return texts;
  const topics = new Map<string, RuleLine[]>();
  for (const line of lines) {
    const key = JSON.stringify([line.kind, line.topic]);
    topics.set(key, [...(topics.get(key) ?? []), line]);
  }
  const byTopic = (merchantsOf: (merchants: readonly string[]) => string): readonly string[] =>
    [...topics.values()].map((group) => {
      const merchants = [...new Set(group.flatMap((line) => line.merchants))];
      const [{ kind, topic } = { kind: "", topic: "" }] = group;
      return `${topic}: ${grouped(group.length)} ${kind} at ${merchantsOf(merchants)}`;
    });
  const withMerchants = byTopic(merchantsText);
  return fits(withMerchants) ? withMerchants : byTopic((merchants) => counted(merchants.length, "merchant"));
}
