import type { PasswordChange } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import type { Io } from "../io/io.ts";

const SHORTEST_PASSWORD = 8;

/** Finds the password of a managed user by the name of its environment variable. */
export type Passwords = (variable: string) => string;

/** Looks every needed password up before anything is asked or changed, so that none is missing half-way. */
export function passwordsFor(
  plans: readonly Plan[],
  rotations: readonly PasswordChange[],
  env: Io["env"],
): Passwords {
  const lengthOf = (variable: string): number => env[variable]?.length ?? 0;
  const created = plans.flatMap(passwordVariables);
  const rotated = rotations.map(({ passwordEnv }) => passwordEnv);
  const needed = [...new Set([...created, ...rotated])].sort();
  const unset = needed.filter((name) => lengthOf(name) === 0);
  const short = needed.filter((name) => lengthOf(name) > 0 && lengthOf(name) < SHORTEST_PASSWORD);
  if (unset.length + short.length > 0) {
    const wrong = [
      ...(unset.length > 0 ? [`${unset.join(", ")} ${unset.length === 1 ? "is" : "are"} not set`] : []),
      ...(short.length > 0
        ? [
            `${short.join(", ")} ${short.length === 1 ? "has" : "have"} fewer than ${SHORTEST_PASSWORD} characters`,
          ]
        : []),
    ];
    throw new RolecallError(
      "password-missing",
      `${purpose(created.length > 0, rotated.length > 0)} from the environment: ${wrong.join("; ")}.`,
      { hint: `Give each variable at least ${SHORTEST_PASSWORD} characters. Nothing was changed.` },
    );
  }
  return (variable) => env[variable] ?? "";
}

function purpose(creates: boolean, rotates: boolean): string {
  if (!rotates) return "The plan creates managed users, each with a first password";
  if (!creates) return "--rotate-password sets passwords";
  return "The plan creates managed users, and --rotate-password sets passwords, all";
}

function passwordVariables({ changes }: Plan): readonly string[] {
  return changes.flatMap((change) =>
    change.resource === "member" ? (change.after?.managed?.passwordEnv ?? []) : [],
  );
}
