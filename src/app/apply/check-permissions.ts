import { type Round, roundsOf } from "../../kernel/apply/rounds.ts";
import { isPasswordChange, isReinvitation } from "../../kernel/apply/write-change.ts";
import { listText } from "../../lib/text.ts";
import type { PasswordChange, Step } from "../../model/apply.ts";
import { RolecallError } from "../../model/errors.ts";
import type { LiveState } from "../../model/live.ts";
import type { Plan } from "../../model/plan.ts";
import type { DeniedOperation } from "../../service/find-denied.ts";
import type { Operation } from "../../service/http/problem-details.ts";
import type { Session, UnplannedMerchant } from "../session/session.ts";
import { orderOptions } from "./order-options.ts";

/** A plan that is about to be applied, with the passwords that are set in addition. */
interface DuePlan {
  readonly session: Session;
  readonly plan: Plan;
  readonly live?: LiveState;
  readonly passwords?: readonly PasswordChange[];
}

/** Finds the merchants whose key lacks permissions for its plan, before anything is changed. */
export async function checkPermissions(
  due: readonly DuePlan[],
  recheck: boolean,
): Promise<readonly UnplannedMerchant[]> {
  const checked = await Promise.all(
    due.map(async (planned): Promise<readonly UnplannedMerchant[]> => {
      const { merchant } = planned.plan;
      const error = await permissionError(planned, recheck);
      return error === null ? [] : [{ status: "failed", merchant, error }];
    }),
  );
  return checked.flat();
}

async function permissionError(
  { session, plan, live, passwords = [] }: DuePlan,
  recheck: boolean,
): Promise<RolecallError | null> {
  const rounds = roundsOf([...plan.changes, ...passwords], orderOptions(session, live));
  const { tried, others } = operationsOf(rounds, recheck);
  try {
    await session.checkAccount();
    const denied = await session.findDenied(others);
    if (denied.length === 0) return null;
    const deniedOperations = [...(await session.findDenied(tried)), ...denied];
    return lacksPermissions(plan.merchant, session.keySource, deniedOperations);
  } catch (error) {
    if (error instanceof RolecallError) return error;
    throw error;
  }
}

/** The operations of an apply. */
interface AppliedOperations {
  /** Those that begin each step of its first round, if they are the same: their denial leaves everything unchanged. */
  readonly tried: readonly Operation[];
  readonly others: readonly Operation[];
}

function operationsOf(rounds: readonly Round[], recheck: boolean): AppliedOperations {
  const readsOf = (step: Step): readonly Operation[] =>
    recheck && !isCreation(step) ? [`retrieve a ${step.change.resource}`] : [];
  const first = rounds[0]?.steps ?? [];
  const begun = new Set(first.flatMap((step) => writesOf(step)[0] ?? []));
  const tried = new Set(begun.size === 1 ? [...first.flatMap(readsOf), ...begun] : []);
  const steps = rounds.flatMap((round) => round.steps);
  const needed = new Set(steps.flatMap((step) => [...readsOf(step), ...writesOf(step)]));
  return { tried: [...tried], others: [...needed].filter((operation) => !tried.has(operation)) };
}

function isCreation({ change, part }: Step): boolean {
  return change.kind === "create" || part === "create";
}

/** Returns the operations of a step's writes, in order. */
function writesOf({ change, part }: Step): readonly Operation[] {
  const { resource } = change;
  if (isReinvitation(change)) return ["create a member", "delete a member"];
  if (isPasswordChange(change) || part === "set-aside") return [`update a ${resource}`];
  if (part === "create") return [`create a ${resource}`];
  if (part === "remove") return [`delete a ${resource}`];
  return change.kind === "replace" ? [] : [`${change.kind} a ${resource}`];
}

function lacksPermissions(
  merchant: string,
  keySource: string,
  denied: readonly DeniedOperation[],
): RolecallError {
  const operations = denied.map(({ operation }) => `${operation.replace(" a ", " ")}s`);
  const permissions = [...new Set(denied.map(({ permission }) => permission))];
  const [these, it] = permissions.length === 1 ? ["this permission", "it"] : ["these permissions", "them"];
  return new RolecallError(
    "forbidden",
    `The key in ${keySource} may not ${listText(operations, "or")} at ${merchant}: it lacks ${listText(permissions)}.`,
    {
      hint: `Grant the key ${these}, or use a key that has ${it}; "rolecall doctor" lists what a key may do.`,
    },
  );
}
