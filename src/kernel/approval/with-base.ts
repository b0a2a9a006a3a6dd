import type { Reviewed, ReviewedPerson, ReviewedResource, ReviewedState } from "../../model/reviewed.ts";

/**
 * Returns the reviewed state of a branch's plan with the state that results from the files of its base, so that it
 * shows what the branch changes in the files, regardless of the live state. Both plans are of the same live state and
 * time.
 */
export function withBase(head: ReviewedState, base: ReviewedState): ReviewedState {
  const sets = [...head.permissionSets];
  const indexes = new Map(sets.map((set, index) => [set.join("\n"), index]));
  const indexIn = (index: number): number => {
    const set = base.permissionSets[index] ?? [];
    const cached = indexes.get(set.join("\n"));
    if (cached !== undefined) return cached;
    indexes.set(set.join("\n"), sets.length);
    return sets.push(set) - 1;
  };
  const basePeople = base.people.map(
    (row): ReviewedPerson => ({ ...row, held: moved(row.held, indexIn), reach: moved(row.reach, indexIn) }),
  );
  return {
    ...head,
    hasBase: true,
    roles: joined(head.roles, base.roles),
    members: joined(head.members, base.members),
    people: joinedPeople(head.people, basePeople),
    ...(datesText(base) !== datesText(head) && {
      // Permissions do not matter here, since removed dates have no effect.
      baseDates: base.dates.map((date) => ({ ...date, brings: 0, reach: 0 })),
    }),
    permissionSets: sets,
  };
}

function datesText({ dates }: ReviewedState): string {
  return JSON.stringify(dates.map(({ brings, reach, ...date }) => date));
}

function moved({ before, after }: Reviewed<number>, indexOf: (index: number) => number): Reviewed<number> {
  return { before: indexOf(before), after: indexOf(after) };
}

function joined(
  head: readonly ReviewedResource[],
  base: readonly ReviewedResource[],
): readonly ReviewedResource[] {
  const baseRows = new Map(base.map((row) => [keyOf(row), row]));
  const headKeys = new Set(head.map(keyOf));
  return [
    ...head.map((row): ReviewedResource => {
      const other = baseRows.get(keyOf(row));
      if (other === undefined) return { ...row, base: row.before };
      const isSame = textOf(other.after) === textOf(row.after) && other.replaced === row.replaced;
      return isSame ? row : { ...row, base: other.after };
    }),
    ...base
      .filter((row) => !headKeys.has(keyOf(row)))
      .map(
        ({ id, name, before, after }): ReviewedResource => ({ id, name, before, after: before, base: after }),
      ),
  ];
}

function keyOf({ id, name }: ReviewedResource): string {
  return id ?? `new ${name}`;
}

function textOf(value: unknown): string {
  return JSON.stringify(value);
}

function joinedPeople(
  head: readonly ReviewedPerson[],
  base: readonly ReviewedPerson[],
): readonly ReviewedPerson[] {
  const baseRows = new Map(base.map((row) => [row.name, row]));
  const headNames = new Set(head.map(({ name }) => name));
  return [
    ...head.map((row): ReviewedPerson => {
      const other = baseRows.get(row.name) ?? unchanged(row);
      return { ...row, held: withBaseOf(row.held, other.held), reach: withBaseOf(row.reach, other.reach) };
    }),
    ...base
      .filter(({ name }) => !headNames.has(name))
      .map((row): ReviewedPerson => {
        const { held, reach } = unchanged(row);
        return { ...row, held: withBaseOf(held, row.held), reach: withBaseOf(reach, row.reach) };
      }),
  ];
}

function unchanged(row: ReviewedPerson): ReviewedPerson {
  const { held, reach } = row;
  return {
    ...row,
    held: { before: held.before, after: held.before },
    reach: { before: reach.before, after: reach.before },
  };
}

function withBaseOf(head: Reviewed<number>, base: Reviewed<number>): Reviewed<number> {
  return base.after === head.after ? head : { ...head, base: base.after };
}
