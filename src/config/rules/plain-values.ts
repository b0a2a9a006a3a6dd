import type { Draft } from "../draft.ts";
import type { Path, Problem } from "../problem.ts";
import { fieldsOf } from "../values.ts";

/** Metadata is JSON that arrives at the service as it stands in the file. */
export function plainMetadata({ fields, roles, members }: Draft): readonly Problem[] {
  return [...roles, ...members].flatMap(({ path: [section = "", index = 0] }) => {
    const entry = fieldsOf((fields[section] as readonly unknown[])[Number(index)]);
    return Object.hasOwn(entry, "metadata") ? check(entry["metadata"], [section, index, "metadata"]) : [];
  });
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

function check(value: unknown, path: Path): readonly Problem[] {
  if (typeof value === "number") {
    // Beyond these, a number is not sent as it was written: 12345678901234567890 would become …7000.
    const exact = Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
    return exact ? [] : [{ code: "bad-number", value, place: { at: "value", path } }];
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
