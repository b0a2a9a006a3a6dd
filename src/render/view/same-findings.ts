import { counted, grouped } from "../../lib/text.ts";
import type { Finding } from "../../model/plan.ts";

/** From so many on, findings that say the same are one. */
const MANY = 3;

const NAMES_SHOWN = 10;

/** Joins findings that say the same of several roles or members: the first stands for all, and names the others. */
export function joinSame(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length < MANY) return findings;
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = whatItSays(finding);
    const group = groups.get(key);
    if (group) group.push(finding);
    else groups.set(key, [finding]);
  }
  return [...groups.values()].flatMap((group) => (group.length < MANY ? group : joined(group)));
}

/** All of a finding but the name of what it is about. */
function whatItSays({ code, severity, resource, name, message, hint }: Finding): string {
  const unnamed = (text: string): readonly string[] => text.split(name);
  return JSON.stringify([code, severity, resource, unnamed(message), hint === null ? null : unnamed(hint)]);
}

function joined([first, ...others]: readonly Finding[]): readonly Finding[] {
  if (first === undefined) return [];
  const names = others.map(({ name }) => name);
  const more = names.length - NAMES_SHOWN;
  const listed = names.slice(0, NAMES_SHOWN).join(", ") + (more > 0 ? ` and ${grouped(more)} more` : "");
  const same = `The same goes for ${counted(names.length, `other ${first.resource}`)}: ${listed}.`;
  return [{ ...first, message: `${first.message} ${same}` }];
}
