import { fieldsOf, listOf, textOf } from "../../kernel/values/values.ts";
import { parseYaml } from "../../kernel/yaml/parse-yaml.ts";
import { groupByKey, sortedSet } from "../../lib/text.ts";

/** The commands of the action that the set-up of a repository needs. */
export const ACTION_COMMANDS = ["plan", "apply", "due", "drift"] as const;

/** An environment that has the key that can write. */
export interface NeededEnvironment {
  readonly name: string;
  /** Whether it needs reviewers or must have none; `null` if either will do. */
  readonly reviewed: boolean | null;
}

/** A step that runs the action, or a job that calls a workflow that does. */
export interface ActionUse {
  /** The action or the called workflow, as in `uses:`. */
  readonly reference: string;
  readonly isCall: boolean;
  /** The value of `command`, which may be an expression; `null` without one. */
  readonly command: string | null;
  /** The name of the secret that is the key; of a call, only if it passes that on. `null` if it is no secret. */
  readonly key: string | null;
  /** The environment of the job; `null` without one, or if an expression names it. */
  readonly environment: string | null;
  /** Whether it applies what reviewers of the environment have approved. */
  readonly isApproval: boolean;
}

/** A workflow, as far as the set-up depends on it. */
export interface Workflow {
  readonly uses: readonly ActionUse[];
  readonly isScheduled: boolean;
  /** The patterns of the branches on whose pushes it runs, of which the last that matches decides; `null` without pushes. */
  readonly pushed: readonly string[] | null;
}

/** Parses a workflow; one that is not valid YAML runs nothing. */
export async function parseWorkflow(text: string): Promise<Workflow> {
  const { value } = await parseYaml(text);
  const { on, jobs } = fieldsOf(value);
  const isOn = (event: string): boolean =>
    on === event || listOf(on).includes(event) || Object.hasOwn(fieldsOf(on), event);
  return {
    uses: Object.values(fieldsOf(jobs)).flatMap(usesOf),
    isScheduled: isOn("schedule"),
    pushed: isOn("push") ? pushedBranches(fieldsOf(fieldsOf(on)["push"])) : null,
  };
}

function pushedBranches(push: Readonly<Record<string, unknown>>): readonly string[] {
  const { branches, tags, "branches-ignore": ignored, "tags-ignore": ignoredTags } = push;
  if (branches !== undefined) return textsOf(branches);
  if (ignored !== undefined) return ["**", ...textsOf(ignored).map((pattern) => `!${pattern}`)];
  return tags === undefined && ignoredTags === undefined ? ["**"] : [];
}

/** The environments of the set-up, unless the workflows name others. */
const ENVIRONMENTS = [
  { name: "production", command: "apply", isApproval: false, reviewed: null },
  { name: "unreviewed-access", command: "apply", isApproval: true, reviewed: true },
  { name: "nightly", command: "due", isApproval: false, reviewed: false },
] as const;

/** Returns the environments that jobs with the key that can write need. */
export function neededEnvironments(uses: readonly ActionUse[]): readonly NeededEnvironment[] {
  const needed = ENVIRONMENTS.flatMap(({ name, command, isApproval, reviewed }) => {
    const jobs = uses.filter((use) => use.command === command && use.isApproval === isApproval);
    const named = sortedSet(jobs.flatMap(({ environment }) => environment ?? []));
    return (named.length > 0 ? named : [name]).map((each) => ({ name: each, reviewed }));
  });
  return groupByKey(needed, ({ name }) => name.toLowerCase()).map(([first, ...others]) => ({
    name: first.name,
    reviewed: [first, ...others].map(({ reviewed }) => reviewed).find((each) => each !== null) ?? null,
  }));
}

function usesOf(job: unknown): readonly ActionUse[] {
  const { uses, steps, with: inputs, secrets, environment } = fieldsOf(job);
  const { command, unreviewed, environment: passedEnvironment } = fieldsOf(inputs);
  const called = textOf(uses);
  if (called !== null) {
    const isOurs = ACTION_COMMANDS.some((each) => each === command);
    const passed = Object.values(fieldsOf(secrets)).map(secretIn);
    const [key = null] = passed.filter((name) => name !== null && /_KEY$/.test(name));
    if (!isOurs) return [];
    return [
      {
        reference: called,
        isCall: true,
        command: textOf(command),
        key,
        environment: literalIn(passedEnvironment),
        isApproval: unreviewed === true,
      },
    ];
  }
  return listOf(steps).flatMap((step) => {
    const { uses, with: inputs } = fieldsOf(step);
    const reference = textOf(uses);
    if (reference === null || !/\/rolecall(?:@|$)/.test(reference)) return [];
    const { command, "api-key": key, environment: approving } = fieldsOf(inputs);
    return [
      {
        reference,
        isCall: false,
        command: textOf(command),
        key: secretIn(key),
        environment: literalIn(environment) ?? literalIn(fieldsOf(environment)["name"]),
        isApproval: textOf(approving) !== null,
      },
    ];
  });
}

/** Returns a text without expressions, else `null`. */
function literalIn(value: unknown): string | null {
  const text = textOf(value);
  return text?.includes("${{") ? null : text;
}

/** Returns the name of the secret that an expression inserts, as GitHub lists it; `null` without one. */
function secretIn(value: unknown): string | null {
  return /\bsecrets(?:\.|\[')(\w+)/i.exec(textOf(value) ?? "")?.[1]?.toUpperCase() ?? null;
}

function textsOf(value: unknown): readonly string[] {
  return (typeof value === "string" ? [value] : listOf(value)).map(String);
}
