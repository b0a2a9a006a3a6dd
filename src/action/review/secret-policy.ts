import type { DesiredState } from "../../model/desired.ts";

/** How a pull request's files would be reached, as far as the workflow does not say it itself. */
export interface GivenAccess {
  /** The workflow says where the service is. */
  readonly baseUrl: boolean;
  /** Merchants whose key the workflow says. */
  readonly keys: ReadonlySet<string>;
}

/**
 * Which merchants of a pull request would send a key to a place, or take it from a variable, that the branch it is to be
 * merged into does not: whoever may propose a file could so have a key sent to a service of their own.
 */
export function untrustedAccess(
  head: readonly DesiredState[],
  base: readonly DesiredState[],
  given: GivenAccess,
): readonly DesiredState[] {
  const known = new Map(base.map((state) => [state.merchant, accessOf(state, given)]));
  // What a merchant uses that is there already, a new one may use too: the same key, sent to the same place.
  const used = new Set([...known.values(), DEFAULT].map(text));
  return head.filter((state) => {
    const wanted = text(accessOf(state, given));
    const before = known.get(state.merchant);
    return before === undefined ? !used.has(wanted) : wanted !== text(before) && wanted !== text(DEFAULT);
  });
}

/** Whether a file says itself where its service is, or which variable holds its key. */
export function saysAccess(state: DesiredState, given: GivenAccess): boolean {
  return text(accessOf(state, given)) !== text(DEFAULT);
}

interface Said {
  readonly baseUrl: string | null;
  readonly keyEnv: string | null;
}

/** The workflow alone says both. */
const DEFAULT: Said = { baseUrl: null, keyEnv: null };

function accessOf({ merchant, baseUrl, keyEnv }: DesiredState, given: GivenAccess): Said {
  return {
    baseUrl: given.baseUrl ? null : (baseUrl ?? null),
    keyEnv: given.keys.has(merchant) ? null : (keyEnv ?? null),
  };
}

function text({ baseUrl, keyEnv }: Said): string {
  return JSON.stringify([baseUrl, keyEnv]);
}
