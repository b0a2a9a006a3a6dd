import type { Path } from "../../kernel/problems/problem.ts";
import { originAcross } from "../../kernel/rules/across-merchants.ts";
import { checkText } from "../../kernel/rules/checks.ts";
import { decides, isSet, pathOfCode } from "../../kernel/rules/every-rule.ts";
import { fieldsOf, listOf, textOf, valueAt } from "../../kernel/values/values.ts";
import { createLocator, indexPositions, spanFinder } from "../../kernel/yaml/locate.ts";
import { parseText } from "../../kernel/yaml/to-value.ts";
import { canonicalJson } from "../../lib/json-text.ts";
import { memoized } from "../../lib/memoized.ts";
import type { ListedRule } from "../../model/coverage.ts";
import type { DesiredState, EnforcedRules, Origin } from "../../model/desired.ts";
import type { Change, Finding, Refusal } from "../../model/plan.ts";
import type { FilePlace } from "../../show/questions/answer-formats.ts";
import type { PlaceOf } from "../../show/view/plan-view.ts";
import { placeFinder } from "./find-places.ts";

/**
 * Returns a function that locates rules in the files, as in `access/shop.yaml:41:3`. A plan holds no locations, so that
 * moving a line changes no plan.
 */
export function ruleLocations(
  states: readonly DesiredState[],
  sources: readonly { readonly file: string; readonly text: string }[],
): PlaceOf {
  const byMerchant = new Map(states.map((state) => [state.merchant, state]));
  const contents = contentsOf(sources);
  const spans = new Map(sources.map(({ file, text }) => [file, spanFinder(text)]));
  const entriesIn = memoized((file: string) => entriesOf(contents(file)));
  const grantsOf = memoized(indexesOfGrants);
  const place = ({ file, path }: Origin): string | null => {
    const span = spans.get(file)?.(path);
    return span ? `${file}:${span.line}:${span.column}` : null;
  };
  const firstPlace = (files: readonly string[], pathIn: (file: string) => Path | null): string | null => {
    for (const file of files) {
      const path = pathIn(file);
      const location = path === null ? null : place({ file, path });
      if (location !== null) return location;
    }
    return null;
  };
  const named = memoized((file: string) => pathsOfNames(contents(file)));
  // A hostile file has as many violations as checks.
  const textsOf = memoized(
    (checks: DesiredState["checks"]): ReadonlyMap<string, Origin> =>
      new Map(checks.toReversed().map((check) => [checkText(check), check.origin])),
  );
  const placeOfCheck = (checks: DesiredState["checks"], text: string): string | null => {
    const written = textsOf(checks).get(text);
    return written ? place(written) : null;
  };
  const ofFinding = (
    { code, severity, resource, name, role, check }: Finding,
    { checks }: Pick<DesiredState, "checks">,
    files: readonly string[],
  ): string | null => {
    if (resource === "member" && severity === "error") {
      const entryIn = (file: string): Path | null => entriesIn(file).get(name.toLowerCase()) ?? null;
      const grantIn = (file: string): Path | null => {
        const entry = entryIn(file);
        if (entry === null || role === undefined) return null;
        const index = grantsOf(valueAt(contents(file), entry)).get(role);
        return index === undefined ? null : [...entry, "roles", index];
      };
      return firstPlace(files, grantIn) ?? firstPlace(files, entryIn);
    }
    if (NAMING_CODES.has(code)) return firstPlace(files, (file) => named(file).get(name) ?? null);
    if (check !== undefined) return placeOfCheck(checks, check);
    return firstPlace(files, () => pathOfCode(code) ?? null);
  };
  return ({ merchant }, refusal) => {
    const state = byMerchant.get(merchant);
    if (state === undefined) return null;
    const across = originAcross(refusal, state);
    if (across !== null) return place(across);
    const { checks, guards, files } = rulesBehind(refusal, state);
    if ("severity" in refusal) return ofFinding(refusal, { checks }, files);
    const { rule, code, check } = refusal;
    if (rule === "check") return placeOfCheck(checks, check ?? "");
    const path = pathOfCode(code);
    if (path === undefined || !isSet(refusal, guards)) return null;
    return firstPlace(files, (file) => (decides(refusal, guards, contents(file)) ? path : null));
  };
}

/** Returns the paths of the members' entries in a file by address, in lower case. */
function entriesOf(value: Readonly<Record<string, unknown>>): ReadonlyMap<string, Path> {
  return new Map(
    listOf(value["members"]).flatMap((entry, index) => {
      const email = textOf(fieldsOf(entry)["email"]);
      return email === null ? [] : [[email.toLowerCase(), ["members", index]] as const];
    }),
  );
}

/** Returns a function that gives the content of a file; each file is parsed once. */
function contentsOf(
  sources: readonly { readonly file: string; readonly text: string }[],
): (file: string) => Readonly<Record<string, unknown>> {
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  return memoized((file) => fieldsOf(parseText(texts.get(file) ?? "").value));
}

/** Returns the line of a rule that a report lists, as `access/shop.yaml:41`; `null` for a default. */
export type ListedPlaceOf = (merchant: string, rule: ListedRule) => string | null;

/** Returns a function that locates the rules that a report lists. */
export function listedRulePlaces(...files: Parameters<typeof listedRuleFinder>): ListedPlaceOf {
  const find = listedRuleFinder(...files);
  return (merchant, rule) => {
    const place = find(merchant, rule);
    return place && `${place.file}:${place.line}`;
  };
}

/** Returns a function that finds the place of a policy, guard or check of a merchant; `null` for a default. */
export function listedRuleFinder(
  states: readonly DesiredState[],
  sources: readonly { readonly file: string; readonly text: string }[],
): (merchant: string, rule: ListedRule) => FilePlace | null {
  const byMerchant = new Map(states.map((state) => [state.merchant, state]));
  const contents = contentsOf(sources);
  const places = placeFinder(sources);
  return (merchant, { origin, keys, entry, enforcedBy }) => {
    if (origin !== null) return places.entry(origin);
    const state = byMerchant.get(merchant);
    if (state === undefined) return null;
    const files =
      enforcedBy === null
        ? [state.origin.file, ...(state.included ?? [])]
        : state.enforced?.find(({ files: [file] }) => file === enforcedBy)?.files;
    for (const item of [entry, null]) {
      for (const file of files ?? []) {
        const path = pathOfListed(contents(file), keys, item);
        const location = path && places.entry({ file, path });
        if (location) return location;
      }
    }
    return null;
  };
}

/** Returns the path of a rule in a file, or of the list that it is in; `null` if the file does not have it. */
function pathOfListed(value: unknown, keys: readonly string[], entry: ListedRule["entry"]): Path | null {
  const setting = keys.reduce<unknown>((outer, key) => fieldsOf(outer)[key], value);
  if (setting === undefined) return null;
  if (entry === null) return keys;
  if (!Array.isArray(setting))
    return typeof entry === "string" && entry in fieldsOf(setting) ? [...keys, entry] : null;
  const canonical = canonicalJson(entry);
  const index = setting.findIndex((item) => canonicalJson(item) === canonical);
  return index < 0 ? null : [...keys, index];
}

/** Returns the enforced rules that refuse or warn, or the merchant's own, with the files that they are in. */
function rulesBehind(
  refusal: Refusal | Finding,
  state: DesiredState,
): Pick<EnforcedRules, "checks" | "guards"> & { readonly files: readonly string[] } {
  const { enforced = [], origin, included = [] } = state;
  const by = enforced.find(({ files: [file] }) => refusal.rules === file);
  return by ?? { ...state, files: refusal.rules === undefined ? [origin.file, ...included] : [] };
}

/** Returns the places of a member's first grant of each role in the list of its entry. */
function indexesOfGrants(entry: unknown): ReadonlyMap<string | null, number> {
  const grants = listOf(fieldsOf(entry)["roles"]);
  return new Map(
    grants
      .map((grant, index) => [textOf(grant) ?? textOf(fieldsOf(grant)["role"]), index] as const)
      .reverse(),
  );
}

/** The findings about a name in a rule. */
const NAMING_CODES: ReadonlySet<string> = new Set([
  "override-left-over",
  "rule-member-unknown",
  "rule-permission-unknown",
  "rule-role-ambiguous",
  "rule-role-unknown",
]);

const RULES = ["policies", "guards", "checks"] as const;

/** Returns the paths at which rules of a file first name roles and permissions, by what they name. */
function pathsOfNames(value: Readonly<Record<string, unknown>>): ReadonlyMap<string, Path> {
  const paths = new Map<string, Path>();
  const add = (name: string, path: Path): void => {
    if (!paths.has(name)) paths.set(name, path);
  };
  const visit = (inner: unknown, path: Path): void => {
    if (typeof inner === "string") {
      add(inner, path);
      if (inner.startsWith("role:")) add(inner.slice("role:".length), path);
    } else if (typeof inner === "object" && inner !== null) {
      for (const [key, each] of Object.entries(inner)) {
        const to = [...path, Array.isArray(inner) ? Number(key) : key];
        add(key, to);
        visit(each, to);
      }
    }
  };
  for (const key of RULES) visit(value[key], [key]);
  return paths;
}

/** The locations of changes in the files. */
export interface ChangeLocations {
  /** Returns the file that declares a change, or that no longer lists it; `null` for an unknown merchant. */
  fileOf(merchant: string, change: Change): string | null;
  /** Returns the file with the line; the first one if the file has no entry. */
  fileLineOf(merchant: string, change: Change): { readonly file: string; readonly line: number } | null;
}

/** Locates changes in the files, which are read when the first line is asked for. */
export function changeLocations(
  states: readonly DesiredState[],
  readText: (file: string) => string | null,
): ChangeLocations {
  const originsOf = memoized(originsIn);
  const byMerchant = new Map(states.map((state) => [state.merchant, state]));
  const originOf = (merchant: string, change: Change): Origin | null => {
    const state = byMerchant.get(merchant);
    if (state === undefined) return null;
    const { resource, id, name } = change;
    const renamed = change.resource === "role" ? change.after?.name : change.after?.email;
    const locations = [id, renamed, name].flatMap(
      (text) => originsOf(state).get(`${resource} ${text?.toLowerCase()}`) ?? [],
    );
    return locations[0] ?? { ...state.origin, path: [`${resource}s`] };
  };
  const textOfFile = memoized((file: string) => locatedText(readText(file)));
  return {
    fileOf: (merchant, change) => originOf(merchant, change)?.file ?? null,
    fileLineOf(merchant, change) {
      const origin = originOf(merchant, change);
      if (origin === null) return null;
      const { file, path } = origin;
      const text = textOfFile(file);
      return text === null ? null : { file, line: text.lineOf(path) };
    },
  };
}

/** Returns where a merchant's roles, members and leavers are declared, by their ids and names. */
function originsIn({ roles = [], members = [], leavers = [] }: DesiredState): ReadonlyMap<string, Origin> {
  return new Map([
    ...leavers.map(({ email, origin }) => [`member ${email.toLowerCase()}`, origin] as const),
    ...members.flatMap(({ email, id, origin }) =>
      [email, ...(id === undefined ? [] : [id])].map(
        (text) => [`member ${text.toLowerCase()}`, origin] as const,
      ),
    ),
    ...roles.flatMap(({ name, id, previously = [], origin, adjusted }) =>
      [...previously, name, ...(id === undefined ? [] : [id])].map(
        (text) => [`role ${text.toLowerCase()}`, adjusted ?? origin] as const,
      ),
    ),
  ]);
}

/** A text whose paths are located one after the other. */
interface LocatedText {
  lineOf(path: Path): number;
}

function locatedText(text: string | null): LocatedText | null {
  if (text === null) return null;
  const locator = createLocator(text);
  const positions = indexPositions(text);
  return {
    lineOf(path) {
      const range = locator({ at: "value", path });
      return range === null ? 1 : positions.span(range.start, range.end).line;
    },
  };
}
