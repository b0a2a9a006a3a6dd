import type { Breach, BreachSubject } from "../../model/diagnostic.ts";
import type { FileLocation, LocatedProblem, Path } from "../problems/problem.ts";
import { merchantSchema } from "../schema/merchant-schema.ts";
import { SECTIONS } from "../schema/project-schema.ts";
import { keyLocation, locationOf, type RawFile } from "../schema/raw-file.ts";
import { keysAt } from "../schema/schema-keys.ts";
import { breachProblems } from "../validate/judging.ts";
import { knownProtectedRoles, knownRoles } from "../validate/references.ts";
import { namesIn, type RuleContext } from "../validate/rule-context.ts";
import { listOf, sameValue, valueAt } from "../values/values.ts";
import type { Enforcement, RulesFile } from "./load-project.ts";

/** Returns the files of rules that projects enforce on a merchant's file, each once. */
export function enforcedFiles(enforcements: readonly Enforcement[]): readonly RulesFile[] {
  const files = enforcements.flatMap(({ entries }) => entries.flatMap(({ rules }) => rules ?? []));
  return [...new Set(files)];
}

/** Returns the contents of a merchant's files that their projects do not allow. */
export function checkEnforced(
  merchant: RuleContext,
  enforcements: readonly Enforcement[],
): readonly LocatedProblem[] {
  return enforcements.flatMap((enforcement) => {
    const ownFiles = enforcement.by ? [] : enforcedFiles([enforcement]);
    return [
      ...underEntry(merchant, enforcement),
      ...allowedSections(merchant, enforcement),
      ...enforcedSettings(merchant, ownFiles),
      ...knownNames(merchant, ownFiles),
    ];
  });
}

function underEntry({ main }: RuleContext, { unlisted }: Enforcement): readonly LocatedProblem[] {
  if (unlisted === null) return [];
  const { project, location: rule } = unlisted;
  return [{ code: "file-not-enforced", project, location: { at: "first-key", file: main, path: [] }, rule }];
}

const RESTRICTED: ReadonlySet<string> = new Set(SECTIONS);

/** Requires that files, with what they include, have only the sections that every entry allows. */
function allowedSections(
  { main, rawFiles }: RuleContext,
  { entries }: Enforcement,
): readonly LocatedProblem[] {
  // The rules themselves and their includes may have every section.
  const trusted = new Set(entries.flatMap(({ rules }) => rules?.rules.files ?? []));
  const said = rawFiles.filter(({ file }) => !trusted.has(file));
  return entries.flatMap(({ allow, rules }) => {
    if (allow === null) return [];
    const { sections: allowed, location: rule } = allow;
    const [rulesFile = null] = rules?.rules.files ?? [];
    return said.flatMap(({ file, fields }) =>
      Object.keys(fields).flatMap((key): readonly LocatedProblem[] =>
        RESTRICTED.has(key) && !allowed.includes(key)
          ? [
              {
                code: "section-not-allowed",
                key,
                allowed,
                rulesFile: file === main ? null : rulesFile,
                location: keyLocation(file, [key]),
                rule,
              },
            ]
          : [],
      ),
    );
  });
}

const SETTINGS: readonly Path[] = ["sync", "ignore"].flatMap((section) =>
  keysAt([section], merchantSchema).map((key) => [section, key]),
);

/** Requires that files agree with the settings of enforced rules, and the rules with one another. */
function enforcedSettings({ rawFiles }: RuleContext, files: readonly RulesFile[]): readonly LocatedProblem[] {
  const included = new Set(rawFiles.map(({ file }) => file));
  const rules = files.flatMap((file) => file.rawFiles);
  return SETTINGS.flatMap((path) => {
    const [first, ...otherSettings] = rules.flatMap((raw) => settingAt(raw, path));
    if (first === undefined) return [];
    // Files that include one another agree on `sync` anyway.
    const isJoined = path[0] === "sync" && included.has(first.location.file);
    const ownSettings = isJoined ? [] : rawFiles.flatMap((raw) => settingAt(raw, path));
    return [...ownSettings, ...otherSettings].flatMap(({ value, location }): readonly LocatedProblem[] =>
      agrees(value, first.value)
        ? []
        : [{ code: "enforced-setting", path, value: first.value, location, rule: first.location }],
    );
  });
}

/** A setting of one file. */
interface Setting {
  readonly value: unknown;
  readonly location: FileLocation;
}

function settingAt({ file, fields }: RawFile, path: Path): readonly Setting[] {
  const value = valueAt(fields, path);
  return value === undefined ? [] : [{ value, location: locationOf(file, path) }];
}

/** Returns whether a setting is the enforced one; patterns may be some of the enforced ones. */
function agrees(value: unknown, enforced: unknown): boolean {
  if (!Array.isArray(value)) return sameValue(value, enforced);
  return value.every((item) => listOf(enforced).includes(item));
}

/** Requires that the roles which enforced rules name are known; another merchant under them may have them. */
function knownNames(merchant: RuleContext, files: readonly RulesFile[]): readonly LocatedProblem[] {
  const included = new Set(merchant.rawFiles.map(({ file }) => file));
  const rules = files.flatMap(({ rawFiles }) => rawFiles.filter(({ file }) => !included.has(file)));
  if (rules.length === 0) return [];
  const context: RuleContext = {
    ...merchant,
    names: namesIn(rules),
    members: [],
    referencedRoles: new Set(),
  };
  return [...knownRoles(context), ...knownProtectedRoles(context)];
}

/** Converts breaches of enforced rules to problems in the merchant's files, with the rule that each breaks. */
export function enforcedBreaches(
  breaches: readonly Breach[],
  { rawFiles }: RulesFile,
  merchant: RuleContext,
): readonly LocatedProblem[] {
  return breaches.flatMap((breach) => {
    const rule = ruleLocation(breach, rawFiles);
    // The causes of such a violation are spread over the file, and the rule is not in the file.
    const location = locationOf(merchant.main, ["merchant"]);
    const { rule: _, subject, ...problem } = breach;
    const problems: readonly LocatedProblem[] = isOfAll(subject)
      ? [{ ...problem, location }]
      : breachProblems([breach], merchant);
    return problems.map((problem) => ({ ...problem, ...(rule && { rule }) }));
  });
}

function isOfAll({ kind }: BreachSubject): boolean {
  return kind === "check" || kind === "cannot";
}

function ruleLocation({ rule = [], subject }: Breach, rawFiles: readonly RawFile[]): FileLocation | null {
  if ("origin" in subject) return locationOf(subject.origin.file, subject.origin.path);
  const raw = rawFiles.find(({ fields }) => valueAt(fields, rule) !== undefined);
  return raw === undefined ? null : keyLocation(raw.file, rule);
}
