import type { ManagedAccess } from "../../app/project/declared-merchants.ts";
import type { HealthCheck, NeededPermissions } from "../../model/reports.ts";
import { OPERATIONS, type Operation } from "../../service/http/problem-details.ts";
import type { ProbedMerchant } from "../../service/probe-operations.ts";

/** A command that a key is for. */
export type KeyUse = NeededPermissions["command"];

/** The commands to check for each use of a key: an apply plans first. */
export const COMMANDS_FOR: Readonly<Record<KeyUse, readonly KeyUse[]>> = {
  plan: ["plan"],
  drift: ["drift"],
  apply: ["plan", "drift", "apply"],
};

/** The condition under which an operation is needed: always, or if the file manages a section. */
interface Need {
  readonly operation: Operation;
  readonly commands: readonly KeyUse[];
  readonly when?: (manages: ManagedAccess) => boolean;
}

const ALWAYS: readonly KeyUse[] = ["plan", "drift", "apply"];

const managesRoles: Need["when"] = ({ roles }) => roles;
const managesMembers: Need["when"] = ({ members }) => members;

/** The operations that commands need, in the order in which they are shown. */
const NEEDS: readonly Need[] = [
  { operation: "list roles", commands: ALWAYS },
  { operation: "list members", commands: ALWAYS },
  // Predefined roles are not listed.
  { operation: "retrieve a role", commands: ALWAYS },
  // Each member is read again right before it is changed.
  { operation: "retrieve a member", commands: ["apply"], when: managesMembers },
  { operation: "create a role", commands: ["apply"], when: managesRoles },
  { operation: "update a role", commands: ["apply"], when: managesRoles },
  {
    operation: "delete a role",
    commands: ["apply"],
    when: ({ roles, removesRoles, replacesRoles }) => roles && (removesRoles || replacesRoles),
  },
  { operation: "create a member", commands: ["apply"], when: managesMembers },
  {
    operation: "update a member",
    commands: ["apply"],
    // The holders of a replaced role are moved.
    when: ({ roles, members, replacesRoles }) => members || (roles && replacesRoles),
  },
  { operation: "delete a member", commands: ["apply"], when: managesMembers },
];

/** Returns the operations that these commands need for a merchant, with the commands; all of them without a file. */
export function neededOperations(
  manages: ManagedAccess | null,
  commands: readonly KeyUse[],
): ReadonlyMap<Operation, readonly KeyUse[]> {
  return new Map(
    NEEDS.filter(({ when }) => manages === null || when === undefined || when(manages))
      .map((need) => [need.operation, commands.filter((command) => need.commands.includes(command))] as const)
      .filter(([, users]) => users.length > 0),
  );
}

/** Returns the checks of a probed merchant. */
export function operationChecks(
  { missing, verdicts }: ProbedMerchant,
  needed: ReadonlyMap<Operation, readonly KeyUse[]>,
  keySource: string,
): readonly HealthCheck[] {
  if (missing) {
    return [
      {
        name: "Merchant",
        status: "failed",
        detail: "the service does not know this merchant, or the key cannot access it (404)",
        next: `Check the merchant code, the base URL, and that the key in ${keySource} belongs to that merchant.`,
      },
    ];
  }
  const verdictOf = new Map(verdicts.map((verdict) => [verdict.operation, verdict]));
  const alarms = verdicts.flatMap(({ alarm }) => alarm ?? []);
  return [
    ...alarms.map((detail): HealthCheck => ({ name: "Alarm", status: "failed", detail, next: detail })),
    ...[...needed].map(([operation, commands]): HealthCheck => {
      const { verdict = "unknown", reason = "not tried" } = verdictOf.get(operation) ?? {};
      const detail = `${OPERATIONS[operation]}, for ${commands.join(", ")}`;
      if (verdict === "permitted") return { name: operation, status: "ok", detail };
      if (verdict === "denied") {
        return { name: operation, status: "failed", detail: `${detail}: not permitted (403)` };
      }
      const unclear = { name: operation, detail: `${detail}: ${reason}` };
      // Without the lists, there is no plan, whatever the reason.
      return operation === "list roles" || operation === "list members"
        ? { ...unclear, status: "failed", next: "Try again later, or contact the service's operators." }
        : { ...unclear, status: "unknown" };
    }),
  ];
}

/** A merchant's needs, and what its key may do. */
export interface KeyNeed {
  readonly keySource: string;
  readonly needed: ReadonlyMap<Operation, readonly KeyUse[]>;
  readonly probed: ProbedMerchant;
}

/** Returns the least permissions that each command needs of each key, over all its merchants. */
export function neededPermissions(
  needs: readonly KeyNeed[],
  commands: readonly KeyUse[],
): readonly NeededPermissions[] {
  const keys = [...new Set(needs.map(({ keySource }) => keySource))];
  return keys.flatMap((keySource) => {
    const ofKey = needs.filter((need) => need.keySource === keySource);
    return commands.map((command): NeededPermissions => {
      const operations = NEEDS.map(({ operation }) => operation).filter((operation) =>
        ofKey.some(({ needed }) => needed.get(operation)?.includes(command)),
      );
      const denied = (operation: Operation): boolean =>
        ofKey.some(({ probed }) =>
          probed.verdicts.some((verdict) => verdict.operation === operation && verdict.verdict === "denied"),
        );
      return {
        keySource,
        command,
        permissions: operations.map((operation) => OPERATIONS[operation]),
        missing: operations.filter(denied).map((operation) => OPERATIONS[operation]),
      };
    });
  });
}
