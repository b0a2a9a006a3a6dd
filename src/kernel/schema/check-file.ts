import type { Problem } from "../problems/problem.ts";
import { fieldsOf } from "../values/values.ts";
import { type MerchantFile, membersSchema, merchantSchema } from "./merchant-schema.ts";
import { type ProjectFile, projectSchema } from "./project-schema.ts";
import { type SchemaIssue, schemaProblems } from "./schema-problems.ts";

/** A file's content, `null` if the schema rejects it, and what is wrong with it. */
interface Checked<Content> {
  readonly content: Content | null;
  readonly problems: readonly Problem[];
}

/** Checks a plain value against the schema. */
export function checkSchema(value: unknown): Checked<MerchantFile> {
  return withinStack(() => checkMerchant(value));
}

/** Checks a file whose issues may be too many: the library passes those of a list as the arguments of one call. */
function withinStack<Content>(check: () => Checked<Content>): Checked<Content> {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return {
      content: null,
      problems: [{ code: "too-many-wrong-values", location: { at: "value", path: [] } }],
    };
  }
}

function checkMerchant(value: unknown): Checked<MerchantFile> {
  const members = membersOf(value) as MerchantFile["members"];
  const checked = merchantSchema.safeParse(members ? { ...fieldsOf(value), members: [] } : value);
  const issues = [...(checked.error?.issues ?? []), ...memberIssues(members ?? [])];
  if (checked.success && issues.length === 0) {
    return { content: { ...checked.data, ...(members && { members }) }, problems: [] };
  }
  return { content: null, problems: schemaProblems(issues, value, merchantSchema) };
}

/** Checks a plain value against the schema of a project's file. */
export function checkProject(value: unknown): Checked<ProjectFile> {
  return withinStack(() => {
    const { data, error } = projectSchema.safeParse(value);
    return data === undefined
      ? { content: null, problems: schemaProblems(error?.issues ?? [], value, projectSchema) }
      : { content: data, problems: [] };
  });
}

/** The number of members that are checked at once: the schema makes a copy of them. */
const BATCH = 1000;

function membersOf(value: unknown): readonly unknown[] | undefined {
  const { members } = fieldsOf(value);
  return Array.isArray(members) ? members : undefined;
}

/** Checks the members of a file, batch by batch. */
function memberIssues(members: readonly unknown[]): readonly SchemaIssue[] {
  return Array.from({ length: Math.ceil(members.length / BATCH) }, (_, batch) => {
    const from = batch * BATCH;
    const { error } = membersSchema.safeParse(members.slice(from, from + BATCH));
    return (error?.issues ?? []).map((issue) => {
      const [index, ...path] = issue.path;
      return { ...issue, path: ["members", from + Number(index), ...path] };
    });
  }).flat();
}
