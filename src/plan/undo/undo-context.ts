import type { IgnorePatterns } from "../../model/desired.ts";
import type { LiveState } from "../../model/live.ts";
import type { Matches, Scope } from "../scope.ts";
import type { NetEffects } from "./net-effects.ts";

/** What an undo is computed from. */
export interface UndoContext {
  readonly effects: NetEffects;
  readonly live: LiveState;
  readonly scope: Scope;
  readonly ignore: IgnorePatterns;
  readonly matches: Matches;
}
