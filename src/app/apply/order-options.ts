import type { OrderOptions } from "../../kernel/apply/rounds.ts";
import { rolesKeptBy } from "../../kernel/rules/every-rule.ts";
import type { LiveState } from "../../model/live.ts";
import type { Session } from "../session/session.ts";

/** Returns what decides on the order of an apply besides its plan; `live` is absent if it is unknown. */
export function orderOptions({ state }: Pick<Session, "state">, live: LiveState | undefined): OrderOptions {
  const { guards, enforced = [] } = state;
  return {
    caller: live?.members.find(({ id }) => id === live.callerId) ?? null,
    keptRoles: [guards, ...enforced.map((rules) => rules.guards)].flatMap(rolesKeptBy),
  };
}
