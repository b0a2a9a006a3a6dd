import type { Path, Problem } from "../diagnostics/problem.ts";
import type { Draft, DraftRole } from "../raw-file.ts";
import { fieldsOf } from "../values.ts";

/** Metadata is JSON that arrives at the service as it stands in the file. */
export function plainMetadata({ roles, members }: Draft): readonly Problem[] {
  return [
    ...withStrange(roles).flatMap(({ path, fields }) => check(fields["metadata"], [...path, "metadata"])),
    ...withStrange(members).flatMap(({ index, fields }) =>
      check(fields["metadata"], ["members", index, "metadata"]),
    ),
  ];
}

/** A number of holders is for a role that can have that name. */
export function plainMaps({ fields }: Draft): readonly Problem[] {
  return [
    ["guards", "min_holders"],
    ["policies", "max_holders"],
  ].flatMap(([section = "", key = ""]) =>
    Object.keys(fieldsOf(fieldsOf(fields[section])[key])).flatMap((name) =>
      checkKey(name, [section, key, name]),
    ),
  );
}

/** Those whose metadata has something wrong in it; only of them it is worth finding out the place. */
function withStrange<T extends Pick<DraftRole, "fields">>(entries: readonly T[]): readonly T[] {
  return entries.filter(({ fields }) => !isPlain(fields["metadata"]));
}

/** Whether there is nothing wrong anywhere in a value. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) {
    return typeof value !== "number" || isExact(value);
  }
  return Array.isArray(value)
    ? value.every(isPlain)
    : Object.keys(value).every((key) => key !== "__proto__" && key !== "<<" && isPlain(fieldsOf(value)[key]));
}

/** Beyond these, a number is not sent as it was written: 12345678901234567890 would become …7000. */
function isExact(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

function check(value: unknown, path: Path): readonly Problem[] {
  if (typeof value === "number") {
    return isExact(value) ? [] : [{ code: "bad-number", value, place: { at: "value", path } }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => check(item, [...path, index]));
  }
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, item]) => [
    ...checkKey(key, [...path, key]),
    ...check(item, [...path, key]),
  ]);
}

function checkKey(key: string, path: Path): readonly Problem[] {
  if (key === "__proto__") {
    return [{ code: "unsafe-key", key, path, place: { at: "key", path } }];
  }
  return key === "<<" ? [{ code: "merge-key", place: { at: "key", path } }] : [];
}
