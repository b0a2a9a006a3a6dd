import { counted } from "../../lib/text.ts";
import { type Amount, DEFAULT_REMOVAL_LIMIT } from "../../model/desired.ts";
import { isPast } from "../diff/active-member.ts";
import { guardRefusal, PARTIAL_UNDO } from "../findings/refusals.ts";
import { textOf } from "../values/values.ts";
import { splitByResource } from "./access.ts";
import { lossByNewAddress } from "./changed-addresses.ts";
import { LEAST_IN_RUN, type LimitedPlan, type LimitedRun, refusedIfMore } from "./people-in-run.ts";
import {
  ALWAYS_ALLOWED,
  joinLosses,
  type Losses,
  laterText,
  losing,
  lossesOf,
  lossesOfPeople,
  lossHint,
  takesPermissions,
} from "./removals.ts";
import type { Guard } from "./rule.ts";
import { allowedOf, amountText, isMore } from "./settings/amount.ts";
import { maxRemovalsSetting } from "./settings/max-removals-setting.ts";

const COMPLETE_HINT =
  'Check that the file is complete. To write the live state to the file, run "rolecall pull".';

/**
 * Limits the number of removals and demotions in one apply: more are usually a mistake. Roles and members are counted
 * separately.
 */
export const maxRemovals = {
  ...maxRemovalsSetting,
  codes: ["max-removals"],
  keepsAccess: true,
  off: { percent: 100 },
  undoHints: { "max-removals": () => PARTIAL_UNDO },
  list: (_, limit) =>
    limit === undefined
      ? []
      : [
          {
            text: `max_removals: ${amountText(limit)}`,
            keys: [],
            entry: null,
            violated: null,
            alone: limit,
            item: { kind: "max-removals", limit },
          } as const,
        ],
  looser: (before = DEFAULT_REMOVAL_LIMIT, after = DEFAULT_REMOVAL_LIMIT) =>
    isMore(before, after, ALWAYS_ALLOWED)
      ? [`at most ${amountText(before)} → ${amountText(after)} may be removed`]
      : [],
  refuse(limit = DEFAULT_REMOVAL_LIMIT, { files, now, scope, changes, after }) {
    const accepted = new Map(
      after.people.flatMap(({ status, email, roles }) =>
        status === "accepted" && email ? [[email.toLowerCase(), roles] as const] : [],
      ),
    );
    const isLoss = lossByNewAddress(
      files.members ?? [],
      ({ email }) => accepted.get(email.toLowerCase()) ?? [],
    );
    const losses = lossesOf(
      {
        roles: changes.roles,
        members: changes.members.filter((change) => change.reason !== "address-changed" || isLoss(change)),
      },
      files,
      now,
    );
    const judge = (resource: "role" | "member", removals: number, live: number, hint: string) => {
      const allowed = allowedRemovals(limit, live);
      if (removals <= allowed) return [];
      const later = resource === "member" ? laterText(losses) : "";
      return [
        guardRefusal(
          "max-removals",
          resource,
          null,
          `${removals} of ${live} ${resource}s would be removed or lose something${later}; the limit is ${allowed}.`,
          hint,
          `max-removals=${removals}`,
        ),
      ];
    };
    const roles = changes.roles.filter(takesPermissions).length;
    const liveRoles = scope.roles.filter(({ predefined }) => !predefined).length;
    return [
      ...judge("role", roles, liveRoles, COMPLETE_HINT),
      ...judge("member", losing(losses).size, scope.members.length, lossHint(losses, COMPLETE_HINT)),
    ];
  },
  ofRun: {
    ...maxRemovalsSetting.ofRun,
    looser: (before, after) =>
      isMore(before, after, LEAST_IN_RUN)
        ? [`at most ${amountText(before)} → ${amountText(after)} may be removed`]
        : [],
    refuse(limits, run) {
      const lossesIn = (part: LimitedPlan): Losses => lossesOfPlan(part, run);
      const removedBy = (part: LimitedPlan) => [...losing(lossesIn(part))].map((name) => [name, []] as const);
      const refused = refusedIfMore(run, limits, removedBy, ({ people, merchants, allowed }) => {
        const losses = joinLosses(run.parts.map(lossesIn));
        return guardRefusal(
          "run-removals",
          "member",
          null,
          `This run would remove ${counted(people.size, "member")}, or take roles from them, at ${counted(merchants, "merchant")}${laterText(losses)}; the limit for the run is ${allowed}.`,
          lossHint(
            losses,
            'Check the file that they share: the usual cause is a line that was left out. The limit is max_removals under "run" in rolecall.yaml.',
          ),
          `run-removals=${people.size}`,
        );
      });
      return refused === null ? [] : [{ ...refused, limit: "removals" }];
    },
  },
  lint(written) {
    const text = textOf(written) ?? "";
    const [, percent] = /^(\d+)\s*%$/.exec(text) ?? [];
    if (percent === undefined || Number(percent) < 100) return [];
    return [
      {
        code: "idle-guard",
        path: [],
        message: `A limit of ${text} lets a plan remove everything.`,
        hint: "Set a percentage such as 25%, and override a single plan that must remove more.",
      },
    ];
  },
} as const satisfies Guard<Amount | undefined>;

/**
 * Returns the people who lose access by a plan; expired invitations and old addresses with the same roles do not
 * count.
 */
function lossesOfPlan({ plan: { changes, reviewed }, files }: LimitedPlan, { personOf }: LimitedRun): Losses {
  const { roles, members } = splitByResource(changes);
  const isLoss = lossByNewAddress(files.members ?? [], ({ roles: grants = [] }) =>
    grants.flatMap(({ role, until }) => (isPast(until, reviewed.at) ? [] : role)),
  );
  const access = members.filter((change) => {
    const { kind, reason } = change;
    if (kind !== "delete") return true;
    return reason === "address-changed" ? isLoss(change) : reason !== "invitation-expired";
  });
  return lossesOfPeople(lossesOf({ roles, members: access }, files, reviewed.at), personOf);
}

/** Returns how many removals a limit allows, given the number of live members or roles. */
function allowedRemovals(limit: Amount, live: number): number {
  return allowedOf(limit, live, ALWAYS_ALLOWED);
}
