import { memoized } from "../../lib/memoized.ts";
import { counted, groupByKey } from "../../lib/text.ts";
import type { GainLimit, GainLimits } from "../../model/desired.ts";
import type { Refusal } from "../../model/plan.ts";
import { hash } from "../diff/fingerprint.ts";
import { guardRefusal, list, PARTIAL_UNDO, refusalOfBase } from "../findings/refusals.ts";
import { splitByResource } from "./access.ts";
import { ADMINISTRATORS, gainsOf } from "./gains.ts";
import { LEAST_IN_RUN, type LimitedPlan, refusedIfMore } from "./people-in-run.ts";
import type { Guard, Guarded } from "./rule.ts";
import { allowedOf, amountText, isMore } from "./settings/amount.ts";
import { maxGainsSetting } from "./settings/max-gains-setting.ts";
import { SENSITIVE, sensitiveIn } from "./settings/sensitive.ts";

/** Number of people that any percentage above 0% allows. */
const LEAST = 10;

/** The default limits: on people who gain access other than through a new entry, and on new administrators. */
const DEFAULTS: GainLimits = {
  [SENSITIVE]: { percent: 5 },
  ...Object.fromEntries(ADMINISTRATORS.map((role) => [role, { count: 2 }])),
};

/** Limits on how many people one apply gives a permission or a role. */
export const maxGains = {
  ...maxGainsSetting,
  codes: ["max-gains"],
  off: {},
  undoHints: { "max-gains": () => PARTIAL_UNDO },
  list: (limits) =>
    Object.entries(limits ?? {}).map(([what, limit]) => ({
      text: `max_gains ${what}: ${limitText(limit)}`,
      keys: [what],
      entry: null,
      violated: null,
      alone: { [what]: limit },
      item: { kind: "max-gains", what, reach: limit.reach === true } as const,
    })),
  looser: (before, after) => looserGains(effective(before), effective(after), LEAST),
  refuse(limits, guarded) {
    const { impact, changes, files, merchant, scope } = guarded;
    const projects = files.projects ?? [];
    const isSensitive = sensitiveIn(projects.filter(({ by }) => by === undefined));
    if (files.members === undefined) return [];
    return Object.entries(effective(limits)).flatMap(([what, limit]): readonly Refusal[] => {
      const isDefault = what === SENSITIVE && limit === DEFAULTS[what];
      const hired = isDefault ? permissionsOfHires(guarded) : NOBODY;
      // People with the same roles share the lists.
      const countingOf = memoized((items: readonly string[]) =>
        memoized((granted: ReadonlySet<string> | undefined) => items.filter((item) => !granted?.has(item))),
      );
      const gains = { impact, members: changes.members, entries: files.members };
      const gained = [...gainsOf(what, gains, limit.reach)].flatMap(([name, items]) => {
        const counting = countingOf(items)(hired.get(name));
        return counting.length === 0 ? [] : [[name, counting] as const];
      });
      const allowed = allowedOf(limit, scope.members.length, LEAST);
      if (gained.length <= allowed) return [];
      const items = [...new Set(gained.flatMap(([, permissions]) => permissions))].sort();
      const names = list(gained.map(([name]) => name));
      // Permissions that only the base branch's project lists as sensitive: this pull request removes them from the
      // list.
      const own = gained.filter(([, permissions]) => what !== SENSITIVE || permissions.some(isSensitive));
      const refusal = guardRefusal(
        "max-gains",
        "member",
        null,
        `${counted(gained.length, "member")} would newly hold${limit.reach ? " or reach" : ""} ${gainText(what, items)}; the limit is ${allowed}: ${names}.`,
        "Check that this is intended: the usual cause is one line in a shared role or file.",
        gainOverride(
          "max-gains",
          what,
          gained.map(([name, permissions]) => [name, permissions.map((item) => `${merchant} ${item}`)]),
        ),
        what,
      );
      return [own.length > allowed ? refusal : refusalOfBase(refusal)];
    });
  },
  ofRun: {
    ...maxGainsSetting.ofRun,
    looser: (before, after) => looserGains(before, after, LEAST_IN_RUN),
    refuse(settings, run) {
      const gains = groupByKey(settings.flatMap(Object.entries<GainLimit>), ([what]) => what);
      return gains.flatMap((entries) => {
        const [[what]] = entries;
        const limits = entries.map(([, limit]) => limit);
        const reach = limits.some((limit) => limit.reach === true);
        const gainedBy = ({ plan: { impact, changes }, files: { members } }: LimitedPlan) =>
          members === undefined
            ? []
            : gainsOf(what, { impact, ...splitByResource(changes), entries: members }, reach);
        const refused = refusedIfMore(run, limits, gainedBy, ({ people, items, merchants, allowed }) =>
          guardRefusal(
            "run-gains",
            "member",
            null,
            `This run would give ${counted(people.size, "person", "people")} new access${reach ? ", or a way to it," : ""} to ${gainText(what, items)} at ${counted(merchants, "merchant")}; the limit for the run is ${allowed}.`,
            'Check the role or the file that they share. The limit is max_gains under "run" in rolecall.yaml.',
            gainOverride("run-gains", what, people),
          ),
        );
        return refused === null ? [] : [{ ...refused, limit: what }];
      });
    },
  },
} as const satisfies Guard<
  GainLimits | undefined,
  { readonly kind: "max-gains"; readonly what: string; readonly reach: boolean }
>;

/** Describes how some limits are looser; percentages always allow a minimum. */
function looserGains(before: GainLimits, after: GainLimits, least: number): readonly string[] {
  return Object.entries(before).flatMap(([what, limit]) => {
    const other = after[what];
    const isLooser =
      other === undefined ||
      isMore(limit, other, least) ||
      (limit.reach === true && other.reach !== true) ||
      // By default, new entries do not count.
      (what === SENSITIVE && limit !== other && other === DEFAULTS[what]);
    if (!isLooser) return [];
    const many = other === undefined ? "any number" : limitText(other);
    return [`at most ${limitText(limit)} → ${many} may gain ${what}`];
  });
}

const NOBODY: ReadonlyMap<string, ReadonlySet<string>> = new Map();

/** Returns the limits with the defaults; none for an empty setting. */
function effective(limits: GainLimits | undefined): GainLimits {
  return limits !== undefined && Object.keys(limits).length === 0 ? {} : { ...DEFAULTS, ...limits };
}

function limitText(limit: GainLimit): string {
  const besides = limit === DEFAULTS[SENSITIVE] ? " besides new members" : "";
  return `${amountText(limit)}${limit.reach ? " (reach)" : ""}${besides}`;
}

/** Names what people gain. */
function gainText(what: string, items: readonly string[]): string {
  return what === SENSITIVE ? `sensitive permissions (${list(items)})` : list(items);
}

/** Returns an override that is bound to what each person gains at which merchants, whatever else a plan changes. */
function gainOverride(
  code: string,
  what: string,
  gained: Iterable<readonly [name: string, items: readonly string[]]>,
): string {
  const set = [...gained].map(([name, items]) => [name.toLowerCase(), ...items].join("\n")).sort();
  return `${code}=${what}:${hash(set).slice(0, 12)}`;
}

/**
 * Returns the permissions of new members that do not count: those of roles that granted them before or are new, if the
 * entries and roles are only in the merchant's own file.
 */
function permissionsOfHires({
  files: { members = [] },
  file,
  changes,
  impact,
  before,
  after,
}: Guarded): ReadonlyMap<string, ReadonlySet<string>> {
  const hasMoved = new Set(impact.formerly?.map(({ name }) => name));
  const shared = new Set(
    members.flatMap(({ email, origin, roles = [] }) => {
      const origins = [origin, ...roles.flatMap(({ origins: own = [] }) => own)];
      return origins.every((place) => place.file === file) ? [] : [email.toLowerCase()];
    }),
  );
  const hires = new Set(
    changes.members.flatMap(({ kind, reason, name }) =>
      kind === "create" && reason !== "undone" && !hasMoved.has(name) && !shared.has(name.toLowerCase())
        ? [name]
        : [],
    ),
  );
  if (hires.size === 0) return NOBODY;
  const permissionsOf = (key: string): readonly string[] =>
    (before.roles.get(key) ?? after.roles.get(key))?.permissions ?? [];
  const grantedBy = memoized(
    (roles: readonly string[]): ReadonlySet<string> => new Set(roles.flatMap(permissionsOf)),
    JSON.stringify,
  );
  return new Map(
    after.people.flatMap(({ id, name, roles }) =>
      id === null && hires.has(name) ? [[name, grantedBy(roles)] as const] : [],
    ),
  );
}
