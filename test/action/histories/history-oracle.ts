import {
  type Access,
  type AccessFiles,
  type DateOf,
  datesIn,
  declaredAt,
  FACTS,
  type Fact,
  grantsFact,
  hasFact,
  type Merchant,
  memberFact,
  PERMISSIONS,
  ROLES,
} from "./access-files.ts";

/** What the reviewer of a plan saw of a merchant. */
export interface Sight {
  readonly name: string;
  readonly merchant: Merchant;
  /** In ms since the epoch. */
  readonly at: number;
  /** What was live. */
  readonly before: Access;
  /** What the files of the base declared. */
  readonly base: Access;
  /** What the plan would leave. */
  readonly after: Access;
  readonly files: AccessFiles;
  /** The files of the base. */
  readonly baseFiles: AccessFiles;
  /** The texts of the dates that it showed as given up. */
  readonly givenUp?: ReadonlySet<string>;
}

/** What is live at all merchants. */
export type Live = ReadonlyMap<Merchant, Access>;

/** Facts that a run has changed at a merchant, and what it knew. */
export interface Situation {
  readonly merchant: Merchant;
  readonly before: Access;
  readonly after: Access;
  /** The files of the run's commit. */
  readonly files: AccessFiles;
  readonly now: number;
  /** What the reviewers of merged pull requests saw of the merchant, in the order of the merges. */
  readonly sights: readonly Sight[];
}

/** Returns whether what a reviewer saw decides about a fact: with the person or the role everything comes and goes. */
function decides({ before, base, after }: Sight, { text, existence }: Fact): boolean {
  return [text, existence].some((one) => {
    const shown = after.has(one);
    return before.has(one) !== shown || base.has(one) !== shown;
  });
}

/** Returns whether a plan showed somebody's permissions: some of them change. */
function showsPerson(sight: Sight, { person }: Fact): boolean {
  return person !== null && FACTS.some((fact) => fact.person === person && decides(sight, fact));
}

/** Returns whether a change of a fact is what the last reviewer saw, or what reviewed dates bring. */
function isReviewed(fact: Fact, situation: Situation): boolean {
  const { merchant, before, after, files, now, sights } = situation;
  const { text, existence, person } = fact;
  const is = !before.has(text);
  // A reviewed end takes all that the person has by then.
  const isEnd = before.has(existence) && !after.has(existence) && text !== existence;
  if (isEnd && isReviewed({ ...fact, text: existence }, situation)) return true;
  // So does that of a role, whatever else gave it before.
  const permission = PERMISSIONS.find((one) => text.endsWith(` may ${one}`));
  if (!is && person !== null && permission !== undefined) {
    const givers = ROLES.filter((role) =>
      [hasFact(person, role), grantsFact(role, permission)].every((one) => before.has(one)),
    ).map((role) => hasFact(person, role));
    const isTaken = (giver: string): boolean =>
      !after.has(giver) && isReviewed({ ...fact, text: giver }, situation);
    if (givers.length > 0 && givers.every(isTaken)) return true;
  }
  const decider = sights.findLast((one) => decides(one, fact));
  if (decider !== undefined && decider.after.has(text) === is) return true;
  const shower = decider ?? sights.findLast((one) => showsPerson(one, fact));
  if (shower !== undefined && shower.after.has(text) === is) return true;
  return isBroughtByDates(fact, { merchant, files, now, sights }, shower?.after.has(text) ?? !is, {
    mayDiffer: true,
  });
}

/** What is to be made of what was reviewed. */
export interface Owed {
  /** What the reviewers saw that no apply has accounted for. */
  readonly sights: readonly Sight[];
  /** When an apply looked at the merchant last, in ms since the epoch: dates since then are due. */
  readonly since: number;
}

/** Returns whether a run has to make a change of a fact. */
export function isOwed(fact: Fact, situation: Situation, { sights, since }: Owed): boolean {
  const is = !situation.before.has(fact.text);
  const decider = situation.sights.findLast((one) => decides(one, fact));
  // What was reviewed for a time only is not given without its end.
  const isEndless = droppedDates(situation, Number.NEGATIVE_INFINITY).some(
    ({ person, text }) => person === fact.person && !text.includes(" gets "),
  );
  if (is && isEndless) return false;
  if (decider !== undefined && sights.includes(decider) && decider.after.has(fact.text) === is) return true;
  return isBroughtByDates(fact, situation, !is, { time: since });
}

/**
 * Returns whether reviewed dates alone lead from an expected value of a fact to the one that the files declare by now. With
 * `mayDiffer`, reviewed dates that have passed may be others than those of the files.
 */
function isBroughtByDates(
  { text, person }: Fact,
  { merchant, files, now, sights }: Pick<Situation, "merchant" | "files" | "now" | "sights">,
  expected: boolean,
  {
    time = Number.NEGATIVE_INFINITY,
    mayDiffer = false,
  }: { readonly time?: number; readonly mayDiffer?: boolean } = {},
): boolean {
  const past = effectiveDates(files, merchant, Number.NEGATIVE_INFINITY).filter(
    (one) => one.person === person && one.at <= now,
  );
  const keyOf = ({ effect, text }: DateOf): string => (mayDiffer ? effect : text);
  const shown = new Map(
    sights.flatMap((sight) =>
      datesIn(sight.files, merchant).flatMap((date) =>
        date.at > sight.at && date.at <= now && lastSight(date, { merchant, sights }) !== undefined
          ? [[keyOf(date), declaredAt(sight.files, merchant, date.at)] as const]
          : [],
      ),
    ),
  );
  const is = declaredAt(files, merchant, now).has(text);
  const isGained = is && text.includes(" may ");
  return past.some(({ at: moment }) => {
    if (moment <= time) return false;
    const since = past.filter(({ at }) => at >= moment);
    const was = declaredAt(files, merchant, moment - 1).has(text);
    const isShown = since.every((date) => shown.has(keyOf(date)));
    // A date gives what its reviewer saw that it gives.
    const isGiven = !isGained || since.some((date) => shown.get(keyOf(date))?.has(text));
    return was === expected && is !== was && isShown && isGiven;
  });
}

/** Returns the facts that differ between two states. */
export function differences(one: Access, other: Access): readonly Fact[] {
  return FACTS.filter(({ text }) => one.has(text) !== other.has(text));
}

/** Returns what a run changed, and nobody has seen: nothing more. */
export function unseenChanges(situation: Situation): readonly string[] {
  const { merchant, before, after } = situation;
  return differences(before, after)
    .filter((fact) => !isReviewed(fact, situation))
    .map(({ text }) => `unseen at ${merchant}: ${after.has(text) ? "" : "not "}${text}`);
}

/** Returns the changes of a reviewed plan that are not made, and that nothing later explains: nothing less. */
export function forgottenChanges(
  sight: Sight,
  { merchant, after, files, now, sights }: Omit<Situation, "before">,
): readonly string[] {
  const later = sights.slice(sights.indexOf(sight) + 1);
  return FACTS.filter(({ text }) => sight.base.has(text) !== sight.after.has(text))
    .filter(({ text }) => after.has(text) !== sight.after.has(text))
    .filter((fact) => !later.some((one) => decides(one, fact) || decidesIndirectly(one, fact)))
    .filter((fact) => !isBroughtByDates(fact, { merchant, files, now, sights }, sight.after.has(fact.text)))
    .map(
      ({ text }) =>
        `forgotten at ${merchant} of ${sight.name}: ${sight.after.has(text) ? "" : "not "}${text}`,
    );
}

/**
 * Returns the dates after a time that a reviewer saw a pull request add, and that are gone from the files without another
 * review.
 */
export function droppedDates(
  { merchant, after, files, now, sights }: Omit<Situation, "before">,
  since: number,
): readonly DateOf[] {
  const declared = textsOfDates(files, merchant);
  return sights.flatMap((sight, index) => {
    const before = textsOfDates(sight.baseFiles, merchant);
    const own = datesIn(sight.files, merchant).filter(({ at, text }) => at > since && !before.has(text));
    const later = sights.slice(index + 1);
    return own.filter(({ at, text, person }) => {
      const isDecided = later.some(
        (one) =>
          one.at >= at ||
          one.givenUp?.has(text) ||
          (textsOfDates(one.baseFiles, merchant).has(text) && !textsOfDates(one.files, merchant).has(text)),
      );
      // A membership that is reviewed to end takes its roles with it.
      const isEnded = datesIn(files, merchant).some(
        (date) =>
          date.person === person &&
          date.at <= at &&
          date.text.includes(" leaves ") &&
          lastSight(date, { merchant, sights }) !== undefined,
      );
      const isComing =
        declaredAt(files, merchant, now).has(memberFact(person)) ||
        datesIn(files, merchant).some((date) => date.person === person && date.at > now);
      const isGone = !text.includes(" gets ") && !after.has(memberFact(person)) && !isComing;
      return sight.at < at && !declared.has(text) && !isDecided && !isEnded && !isGone;
    });
  });
}

/** Returns the dates to come that have an effect, and that no reviewer has seen, or not with all that they give. */
export function unseenDates(situation: Omit<Situation, "before">): readonly DateOf[] {
  const { merchant, files, now, sights } = situation;
  return effectiveDates(files, merchant, now).filter((date) => {
    const seen = lastSight(date, { merchant, sights });
    return (
      seen === undefined ||
      givenFacts(date, situation).some((fact) => !isSeenToCome(fact, date, seen, situation))
    );
  });
}

/** Returns the last sight of a date; `undefined` if there is none, or if a later one has seen it removed. */
function lastSight(
  { text, person, at: day, effect }: DateOf,
  { merchant, sights }: Pick<Situation, "merchant" | "sights">,
): Sight | undefined {
  const isIn = (files: AccessFiles, { at }: Sight): boolean =>
    effectiveDates(files, merchant, at).some((date) => date.text === text);
  // The end of the membership hides what comes later.
  const isHiddenIn = (files: AccessFiles): boolean =>
    datesIn(files, merchant).some(
      (one) =>
        one.person === person && one.at <= day && one.text.includes(" leaves ") && one.effect !== effect,
    );
  const decider = sights.findLast(
    (sight) =>
      isIn(sight.files, sight) ||
      (isIn(sight.baseFiles, sight) && !isHiddenIn(sight.files)) ||
      sight.givenUp?.has(text),
  );
  return decider !== undefined && isIn(decider.files, decider) ? decider : undefined;
}

/** Returns what a person may do from a date on, and not before it. */
function givenFacts(
  { person, at }: DateOf,
  { merchant, files }: Pick<Situation, "merchant" | "files">,
): readonly Fact[] {
  const [before, after] = [at - 1, at].map((time) => declaredAt(files, merchant, time));
  return FACTS.filter(
    ({ person: who, text }) =>
      who === person && text.includes(" may ") && after?.has(text) && !before?.has(text),
  );
}

/** Returns whether the reviewer of a date has seen what it gives, or somebody has seen that the person has it. */
function isSeenToCome(
  fact: Fact,
  { at }: DateOf,
  seen: Sight,
  { merchant, sights }: Pick<Situation, "merchant" | "sights">,
): boolean {
  if (declaredAt(seen.files, merchant, at).has(fact.text)) return true;
  const decider =
    sights.findLast((one) => decides(one, fact)) ?? sights.findLast((one) => showsPerson(one, fact));
  return decider?.after.has(fact.text) === true;
}

/** Returns whether the last reviewer has seen everything to come for a person. */
export function areDatesSeen(situation: Omit<Situation, "before">, person: string): boolean {
  const { merchant, files, now, sights } = situation;
  const last = sights.at(-1);
  if (last === undefined) return false;
  const seen = new Set(effectiveDates(last.files, merchant, last.at).map(({ text }) => text));
  const dates = effectiveDates(files, merchant, now).filter((date) => date.person === person);
  return dates.every(
    (date) =>
      seen.has(date.text) &&
      givenFacts(date, situation).every(({ text }) => declaredAt(last.files, merchant, date.at).has(text)),
  );
}

/** Returns the dates after a time, without those of roles at the end of the membership or later. */
function effectiveDates(files: AccessFiles, merchant: Merchant, time: number): readonly DateOf[] {
  const dates = datesIn(files, merchant);
  const endOf = (name: string): number =>
    Math.min(
      ...dates.flatMap(({ person, at, text }) => (person === name && text.includes(" leaves ") ? at : [])),
    );
  return dates.filter(
    ({ at, person, text }) => at > time && (text.includes(" leaves ") || at < endOf(person)),
  );
}

function textsOfDates(files: AccessFiles, merchant: Merchant): ReadonlySet<string> {
  return new Set(datesIn(files, merchant).map(({ text }) => text));
}

/** Returns whether a plan changed a role that gives somebody a permission, or who has the role. */
function decidesIndirectly(sight: Sight, { text, person, existence }: Fact): boolean {
  const permission = PERMISSIONS.find((one) => text.endsWith(` may ${one}`));
  if (person === null || permission === undefined) return false;
  return ROLES.some((role) =>
    [hasFact(person, role), grantsFact(role, permission)].some((one) =>
      decides(sight, { text: one, person, existence }),
    ),
  );
}
