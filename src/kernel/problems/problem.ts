import type { BreachCode } from "../../model/diagnostic.ts";
import type { MemberField } from "../../model/field-values.ts";

/** A path of keys and indexes from the top of a file to one value. */
export type Path = readonly (string | number)[];

/** The location of a problem: a value, its key, a mapping's first key, a range of text, or the whole file. */
export type Location =
  | { readonly at: "value" | "key" | "first-key"; readonly path: Path }
  | { readonly at: "text"; readonly start: number; readonly end: number }
  | { readonly at: "file" };

/** A location in one of several files. */
export type FileLocation = Location & { readonly file: string };

/** The kinds of YAML values. */
export type Kind = "text" | "number" | "boolean" | "null" | "list" | "mapping";

/** The codes of the schema's custom checks. */
export type FormatCode =
  | "bad-base-url"
  | "bad-check-entry"
  | "bad-count"
  | "bad-domain"
  | "bad-email"
  | "bad-env-name"
  | "bad-glob"
  | "bad-include"
  | "bad-member-id"
  | "bad-merchant"
  | "bad-override"
  | "bad-period"
  | "bad-limit"
  | "bad-role-id"
  | "bad-until"
  | "blank-text"
  | "control-character"
  | "no-globs"
  | "too-few-roles"
  | "too-many-checks"
  | "too-many-includes"
  | "too-many-metadata"
  | "too-many-permissions";

/** The codes of files that cannot be read. */
export type FileCode =
  | "file-missing"
  | "file-not-a-file"
  | "file-not-utf8"
  | "file-outside-root"
  | "file-unreadable";

/** Why a link below a folder is not read: `folder` for one to another folder of the project. */
export type UnreadLinkReason = "broken" | "outside" | "folder";

/** Problems of files as such: unreadable, no YAML, or a second one of a merchant. */
export type YamlProblem =
  | { readonly code: "duplicate-merchant"; readonly merchant: string }
  /** `name` is the path in an include; `null` for the file of the problem itself. */
  | { readonly code: FileCode; readonly name: string | null }
  | { readonly code: "link-not-read"; readonly why: UnreadLinkReason }
  | { readonly code: "file-empty" }
  | { readonly code: "sandbox-seed" }
  | { readonly code: "file-too-large"; readonly limit: number }
  | { readonly code: "file-too-long"; readonly limit: number }
  | { readonly code: "too-many-problems"; readonly more: number }
  | { readonly code: "too-many-wrong-values" }
  | { readonly code: "yaml-syntax"; readonly kind: string }
  | { readonly code: "merge-conflict"; readonly more: number }
  | { readonly code: "yaml-documents" }
  | { readonly code: "yaml-control"; readonly character: string; readonly more: number }
  | { readonly code: "yaml-line-end" }
  | { readonly code: "yaml-too-deep"; readonly limit: number }
  | { readonly code: "yaml-alias"; readonly name: string; readonly circular: boolean }
  | { readonly code: "yaml-alias-limit"; readonly limit: number }
  | { readonly code: "yaml-tag"; readonly tag: string }
  | { readonly code: "yaml-key" }
  | { readonly code: "yaml-word"; readonly word: string }
  | { readonly code: "number-form"; readonly source: string; readonly value: number }
  | { readonly code: "duplicate-key"; readonly key: string }
  | { readonly code: "literal-key" };

/** Problems of single values. */
export type ShapeProblem =
  | {
      readonly code: "unknown-key";
      readonly key: string;
      readonly path: Path;
      readonly known: readonly string[];
      readonly near: string | null;
      /** True if the mapping has `near` as well. */
      readonly used: boolean;
    }
  | { readonly code: "missing-key"; readonly key: string; readonly path: Path }
  | { readonly code: "null-value"; readonly path: Path; readonly wanted: readonly Kind[] }
  | {
      readonly code: "wrong-type";
      readonly path: Path;
      readonly wanted: readonly Kind[];
      readonly got: Kind;
      readonly value: unknown;
    }
  | {
      readonly code: "wrong-value";
      readonly path: Path;
      readonly allowed: readonly (string | number)[];
      readonly value: unknown;
      readonly near: string | null;
    }
  | { readonly code: FormatCode; readonly path: Path; readonly value: unknown }
  | { readonly code: "check-form"; readonly keys: readonly string[] }
  | { readonly code: "unsafe-key"; readonly key: string; readonly path: Path }
  | { readonly code: "merge-key" }
  | { readonly code: "bad-number"; readonly value: number };

/** Problems of one file by itself. */
export type FileProblem = YamlProblem | ShapeProblem;

/** Problems between files. */
export type IncludeProblem =
  | { readonly code: "duplicate-include"; readonly name: string }
  | { readonly code: "include-cycle"; readonly chain: readonly string[] }
  | { readonly code: "include-identity"; readonly key: string }
  | { readonly code: "include-merchant"; readonly name: string; readonly merchant: string }
  | { readonly code: "include-not-read" }
  | { readonly code: "conflicting-member"; readonly email: string; readonly field: string }
  | { readonly code: "conflicting-setting"; readonly path: Path }
  /** `limit` is the value of the included file. */
  | {
      readonly code: "looser-setting";
      readonly path: Path;
      readonly value: unknown;
      readonly limit: unknown;
      readonly stricter: "less" | "more";
    };

/** Problems between the entries of one merchant. */
export type EntryProblem =
  /** `key` stands beside `adjust`; null if the adjustment is empty. */
  | { readonly code: "adjust-form"; readonly key: string | null }
  | { readonly code: "adjust-included"; readonly role: string }
  | {
      readonly code: "adjust-no-effect";
      readonly role: string;
      readonly permission: string;
      readonly list: "add" | "remove";
    }
  | { readonly code: "adjust-unmanaged"; readonly role: string }
  /** `first` is set if the merchant's own file declares the role. */
  | { readonly code: "adjust-unknown-role"; readonly role: string; readonly near: string | null }
  | { readonly code: "conflicting-grant"; readonly role: string }
  | { readonly code: "duplicate-entry"; readonly text: string; readonly path: Path }
  | { readonly code: "duplicate-role"; readonly name: string }
  | { readonly code: "duplicate-role-id"; readonly id: string }
  | { readonly code: "duplicate-member"; readonly email: string }
  | { readonly code: "duplicate-member-id"; readonly id: string }
  | { readonly code: "ignored-entry"; readonly kind: "role" | "member" | "grant"; readonly name: string }
  | { readonly code: "duplicate-permission"; readonly permission: string }
  | { readonly code: "duplicate-member-role"; readonly role: string }
  | { readonly code: "previous-address"; readonly email: string; readonly kind: "listed" | "twice" }
  | { readonly code: "duplicate-previously"; readonly name: string }
  | {
      readonly code: "previously-declared";
      readonly name: string;
      readonly kind: "own" | "kept" | "swapped";
    }
  | { readonly code: "rare-permission"; readonly permission: string; readonly near: string }
  | { readonly code: "similar-role-id"; readonly role: string; readonly near: string }
  | { readonly code: "role-name-like-id"; readonly name: string }
  | {
      readonly code: "service-limit";
      readonly what: "address" | MemberField;
      readonly count: number;
      readonly limit: number;
    }
  | {
      readonly code: "unheld-role";
      /** At least one; of many, the first stands for all. */
      readonly names: readonly string[];
    }
  /** `places` are all references of the file. */
  | {
      readonly code: "previous-role-name";
      readonly role: string;
      readonly name: string;
      readonly places: readonly FileLocation[];
    }
  | { readonly code: "unknown-role"; readonly role: string; readonly near: string | null }
  /** A rule that several merchants share; another one of them may have the role. */
  | {
      readonly code: "unknown-shared-role";
      readonly role: string;
      readonly near: string | null;
      /** Some merchant may have roles that its files do not declare. */
      readonly open: boolean;
      /** The rule only protects it, which is useful for a live role that no file declares. */
      readonly protects?: true;
    }
  | { readonly code: "from-after-until"; readonly from: string; readonly until: string }
  | { readonly code: "unassignable-role"; readonly role: string; readonly when: "begins" | "returns" }
  | { readonly code: "leaver-listed"; readonly email: string; readonly from: string }
  | { readonly code: "unknown-protected-role"; readonly role: string; readonly near: string | null }
  | { readonly code: "unknown-member"; readonly email: string; readonly near: string | null }
  | { readonly code: "until-after-membership"; readonly until: string; readonly membership: string }
  | {
      readonly code: "until-past";
      readonly until: string;
      readonly what: "grant" | "membership" | "suspension";
    };

/** Violations of policies and checks. */
export type PolicyProblem =
  /** A violation, as worded by the planner. */
  | {
      readonly code: BreachCode;
      readonly severity?: "warning";
      readonly message: string;
      readonly hint: string;
    }
  | {
      readonly code: "holders-contradiction";
      readonly role: string;
      readonly min: number;
      readonly max: number;
      /** The keys that set both. */
      readonly keys: { readonly min: string; readonly max: string };
    }
  | { readonly code: "too-much-to-judge" };

/** A problem as data; its wording is in messages/. */
export type ProblemData =
  | YamlProblem
  | ShapeProblem
  | IncludeProblem
  | EntryProblem
  | PolicyProblem
  | ProjectProblem;

/** Problems between a project's file and the files that it binds. */
export type ProjectProblem =
  | { readonly code: "project-file-name"; readonly name: string }
  | { readonly code: "rules-section"; readonly key: string }
  | { readonly code: "rules-in-reach"; readonly name: string; readonly glob: string }
  | { readonly code: "glob-without-file"; readonly glob: string }
  | { readonly code: "file-not-enforced"; readonly project: string }
  | {
      readonly code: "section-not-allowed";
      readonly key: string;
      readonly allowed: readonly string[];
      /** The file of the rules if the section is in an included file. */
      readonly rulesFile: string | null;
    }
  | { readonly code: "enforced-setting"; readonly path: Path; readonly value: unknown }
  | { readonly code: "across-not-counted"; readonly files: readonly string[] };

/** The stable name of a kind of problem. */
export type Code = ProblemData["code"];

/** A problem with its location; `first` is the first occurrence, `hidden` is text that code frames must not show. */
export type Problem<Data extends ProblemData = ProblemData> = Data & {
  readonly location: Location;
  readonly first?: Location;
  readonly hidden?: Location;
};

/**
 * A problem in one of several files; `via` is the merchant's file that includes it, `alsoVia` those of other merchants
 * with the same problem, and `rule` the enforced rule that it breaks.
 */
export type LocatedProblem<Data extends ProblemData = ProblemData> = Data & {
  readonly location: FileLocation;
  readonly first?: FileLocation;
  readonly hidden?: FileLocation;
  readonly via?: string;
  readonly alsoVia?: readonly string[];
  readonly rule?: FileLocation;
};
