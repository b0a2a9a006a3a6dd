import type { LintSetting } from "../../model/questions.ts";
import type { Path } from "../problems/problem.ts";
import { countOf, fieldsOf, listOf, textOf, valueAt } from "../values/values.ts";

const LISTS: readonly (readonly [LintSetting["kind"], Path])[] = [
  ["ignored-role", ["ignore", "roles"]],
  ["ignored-member", ["ignore", "members"]],
  ["protected-role", ["guards", "protect", "roles"]],
  ["protected-member", ["guards", "protect", "members"]],
  ["email-domain", ["policies", "email_domains"]],
];

const COUNTS: readonly (readonly [LintSetting["kind"], Path])[] = [
  ["min-holders", ["guards", "min_holders"]],
  ["max-holders", ["policies", "max_holders"]],
];

/** Returns the settings of a file that `lint` looks at, with their locations. */
export function lintSettings(file: string, value: unknown): readonly LintSetting[] {
  const limit = ["guards", "max_removals"];
  const removals = textOf(valueAt(value, limit));
  return [
    ...LISTS.flatMap(([kind, path]) =>
      listOf(valueAt(value, path)).flatMap((entry, index): readonly LintSetting[] => {
        const text = textOf(entry);
        return text === null ? [] : [{ kind, text, count: null, origin: { file, path: [...path, index] } }];
      }),
    ),
    ...COUNTS.flatMap(([kind, path]) =>
      Object.entries(fieldsOf(valueAt(value, path))).map(
        ([text, count]): LintSetting => ({
          kind,
          text,
          count: countOf(count),
          origin: { file, path: [...path, text] },
        }),
      ),
    ),
    ...(removals === null
      ? []
      : [{ kind: "max-removals" as const, text: removals, count: null, origin: { file, path: limit } }]),
  ];
}
