import { type Round, roundsOf } from "../../kernel/apply/rounds.ts";
import { type Write, writesOf } from "../../kernel/apply/write-change.ts";
import { listText } from "../../lib/text.ts";
import type { PasswordChange } from "../../model/apply.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
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
    return rolecallErrorOf(error);
  }
}

/** The operations of an apply. */
interface AppliedOperations {
  /** Those that begin each step of its first round, if they are the same: their denial leaves everything unchanged. */
  readonly tried: readonly Operation[];
  readonly others: readonly Operation[];
}

function operationsOf(rounds: readonly Round[], recheck: boolean): AppliedOperations {
  const neededBy = ({ id, operation }: Write): readonly Operation[] =>
    recheck && id !== null
      ? [operation.endsWith("role") ? "retrieve a role" : "retrieve a member", operation]
      : [operation];
  const begun = (rounds[0]?.steps ?? []).flatMap((step) => writesOf(step).slice(0, 1));
  const isAlike = new Set(begun.map(({ operation }) => operation)).size === 1;
  const tried = new Set(isAlike ? begun.flatMap(neededBy) : []);
  const steps = rounds.flatMap((round) => round.steps);
  const needed = new Set(steps.flatMap((step) => writesOf(step).flatMap(neededBy)));
  return { tried: [...tried], others: [...needed].filter((operation) => !tried.has(operation)) };
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
