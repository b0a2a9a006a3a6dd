import { fieldsOf, listOf, textOf } from "../../kernel/values/values.ts";
import { parseYaml } from "../../kernel/yaml/parse-yaml.ts";

/** The commands of the action that the set-up of a repository needs. */
export const ACTION_COMMANDS = ["plan", "apply", "due", "drift"] as const;

/** A step that runs the action, or a job that calls a workflow that does. */
export interface ActionUse {
  /** The action or the called workflow, as in `uses:`. */
  readonly reference: string;
  readonly isCall: boolean;
  /** The value of `command`, which may be an expression; `null` without one. */
  readonly command: string | null;
  /** The name of the secret that is the key; of a call, only if it passes that on. `null` if it is no secret. */
  readonly key: string | null;
}

/** A workflow, as far as the set-up depends on it. */
export interface Workflow {
  readonly uses: readonly ActionUse[];
  readonly isScheduled: boolean;
  /** The patterns of the branches on whose pushes it runs: empty for all, `null` if it runs on none. */
  readonly pushed: readonly string[] | null;
}

/** Parses a workflow; one that is not valid YAML runs nothing. */
export async function parseWorkflow(text: string): Promise<Workflow> {
  const { value } = await parseYaml(text);
  const { on, jobs } = fieldsOf(value);
  const push = fieldsOf(on)["push"];
  const isOn = (event: string): boolean =>
    on === event || listOf(on).includes(event) || Object.hasOwn(fieldsOf(on), event);
  return {
    uses: Object.values(fieldsOf(jobs)).flatMap(usesOf),
    isScheduled: isOn("schedule"),
    pushed: isOn("push") ? textsOf(fieldsOf(push)["branches"]) : null,
  };
}

function usesOf(job: unknown): readonly ActionUse[] {
  const { uses, steps, with: inputs, secrets } = fieldsOf(job);
  const { command } = fieldsOf(inputs);
  const called = textOf(uses);
  if (called !== null) {
    const isOurs = ACTION_COMMANDS.some((each) => each === command);
    const passed = Object.values(fieldsOf(secrets)).map(secretIn);
    const [key = null] = passed.filter((name) => name !== null && /_KEY$/.test(name));
    return isOurs ? [{ reference: called, isCall: true, command: textOf(command), key }] : [];
  }
  return listOf(steps).flatMap((step) => {
    const { uses, with: inputs } = fieldsOf(step);
    const reference = textOf(uses);
    if (reference === null || !/\/rolecall(?:@|$)/.test(reference)) return [];
    const { command, "api-key": key } = fieldsOf(inputs);
    return [{ reference, isCall: false, command: textOf(command), key: secretIn(key) }];
  });
}

/** Returns the name of the secret that an expression inserts; `null` without one. */
function secretIn(value: unknown): string | null {
  return /\bsecrets\.(\w+)/.exec(textOf(value) ?? "")?.[1] ?? null;
}

function textsOf(value: unknown): readonly string[] {
  return (typeof value === "string" ? [value] : listOf(value)).map(String);
}
