import { byCodeUnit, counted, groupByKey, shorten, sortedSet, utcMinute } from "../../lib/text.ts";
import type { HeldRole, UnknownAnswer } from "../../model/questions.ts";
import {
  type Block,
  below,
  type Document,
  type Fold,
  fold,
  names,
  sentence,
  verboseShows,
} from "../blocks/block.ts";
import { ignoredTexts } from "../text/ignored-text.ts";
import {
  type AccessQuestion,
  type AnswersView,
  type FilePlace,
  type LocatedAnswer,
  textOfPlace,
} from "./answer-formats.ts";

/** Returns the answers to a question; `verbose` shows every merchant of a grant, and grants that give no access. */
export function answersDocument(view: AnswersView, verbose: boolean): Document {
  const { question, answers } = view;
  // For a single member, everything is of interest, including what has ended.
  const shown = verbose || question.kind === "is" ? answers : answers.filter(isEffective);
  const hidden = answers.length - shown.length;
  const sections = sectionsOf(view, shown).map((section) => [sectionFold(section, view, verbose)]);
  return [
    commitNote(question),
    ...(sections.length === 0 ? [[sentence(nobody(view))]] : sections),
    caveatBlocks(answerCaveats(view, hidden)),
  ];
}

/** Says which files, or which recorded states, were read: those of a commit. */
export function commitNote({ at, source }: Pick<AccessQuestion, "at" | "source">): readonly Block[] {
  if (at === null) return [];
  const commit = `commit ${at.commit.slice(0, 12)} of ${utcMinute(at.committed)}`;
  const text =
    source === "live"
      ? `What was live as recorded last by ${utcMinute(at.time)}: ${commit}. Later changes may not be recorded.`
      : `As merged by ${utcMinute(at.time)}, which may differ from what was live: ${commit}.`;
  return [sentence(text, { tone: "dim" })];
}

function isEffective({ held }: LocatedAnswer): boolean {
  return held?.effective === true;
}

/** Answers under one heading. */
interface Section {
  readonly title: string;
  readonly answers: readonly LocatedAnswer[];
}

function sectionsOf(
  { question, matched }: AnswersView,
  answers: readonly LocatedAnswer[],
): readonly Section[] {
  switch (question.kind) {
    case "can":
      return permissionSections(matched, answers);
    case "has":
      return sections(answers, ({ role }) => role?.title ?? "");
    case "is":
      // Merchants may have one address in different case.
      return sections(
        answers,
        ({ member }) => member.name,
        (name) => name.toLowerCase(),
      );
    default:
      return question.kind satisfies never;
  }
}

function sections(
  answers: readonly LocatedAnswer[],
  titleOf: (answer: LocatedAnswer) => string,
  keyOf: (title: string) => string = (title) => title,
): readonly Section[] {
  const sections = new Map<string, { readonly title: string; readonly answers: LocatedAnswer[] }>();
  for (const answer of answers) {
    const title = titleOf(answer);
    const section = sections.get(keyOf(title)) ?? { title, answers: [] };
    section.answers.push(answer);
    sections.set(keyOf(title), section);
  }
  return [...sections.values()].sort((a, b) => byCodeUnit(a.title, b.title));
}

/** Returns a section for each permission; permissions with the same answers share one. */
function permissionSections(
  permissions: readonly string[],
  answers: readonly LocatedAnswer[],
): readonly Section[] {
  // The answers of a role share its list: there are far fewer lists than answers.
  const sharing = groupByKey([...answers.entries()], ([, answer]) => answer.permissions);
  const granting = new Map<string, number[]>();
  for (const [index, [[, { permissions: list }]]] of sharing.entries()) {
    for (const permission of new Set(list)) {
      const indexes = granting.get(permission);
      if (indexes) indexes.push(index);
      else granting.set(permission, [index]);
    }
  }
  const answersWith = (indexes: readonly number[]): readonly LocatedAnswer[] =>
    indexes
      .flatMap((index) => sharing[index] ?? [])
      .sort(([position], [other]) => position - other)
      .map(([, answer]) => answer);
  const sections = new Map<
    string,
    { readonly names: string[]; readonly answers: readonly LocatedAnswer[] }
  >();
  for (const permission of permissions) {
    const indexes = granting.get(permission);
    if (indexes === undefined) continue;
    const key = indexes.join(" ");
    const section = sections.get(key) ?? { names: [], answers: answersWith(indexes) };
    section.names.push(permission);
    sections.set(key, section);
  }
  return [...sections.values()].map(({ names, answers: of }) => ({ title: names.join(", "), answers: of }));
}

/** Rows of a section without `verbose`. */
const MAX_ROWS = 50;

function sectionFold({ title, answers }: Section, view: AnswersView, verbose: boolean): Fold {
  const { question, merchants, now } = view;
  const people = new Set(answers.filter(isEffective).map(({ member }) => member.name.toLowerCase())).size;
  const codes = new Set(answers.map(({ merchant }) => merchant));
  const where = codes.size === 1 ? `at ${[...codes].join("")}` : `at ${counted(codes.size, "merchant")}`;
  const held = new Set(answers.flatMap(({ role }) => role?.title ?? [])).size;
  const count =
    question.kind === "is"
      ? held === 0
        ? "no role"
        : counted(held, "role")
      : counted(people, "person", "people");
  const groups = verbose ? answers.map((answer) => [answer]) : grouped(answers);
  const rows = (verbose ? groups : groups.slice(0, MAX_ROWS)).map((group) => rowOf(group, now));
  const isNeeded: Readonly<Record<Column, boolean>> = {
    member: question.kind !== "is",
    role: question.kind !== "has",
    merchant: merchants.length > 1,
    since: rows.some(({ since }) => since !== ""),
    status: rows.some(({ status }) => status !== "active" && status !== "accepted"),
    place: true,
  };
  const columns = COLUMNS.filter((column) => isNeeded[column]);
  return fold(`${title}: ${count} ${where}`, [
    {
      kind: "grid",
      heads: columns.map((column) => HEADS[column]),
      rows: rows.map((row) => ({
        cells: columns.map((column) => row[column]),
        ...(!row.effective && { tone: "dim" }),
      })),
      isGrouped: isNeeded.member,
    },
    ...verboseShows(groups.length - rows.length),
    ...(question.kind === "is" ? permissionBlocks(answers) : []),
  ]);
}

/** Groups the grants of one role to one member that differ only in the merchant. */
function grouped(answers: readonly LocatedAnswer[]): readonly (readonly LocatedAnswer[])[] {
  const groups = new Map<string, LocatedAnswer[]>();
  for (const answer of answers) {
    const { member, role, held } = answer;
    const key = JSON.stringify([
      member.name.toLowerCase(),
      role?.title,
      held?.status,
      held?.from?.text,
      held?.end?.text,
      held?.suspension?.until?.text,
      member.rolesKnown,
    ]);
    const group = groups.get(key) ?? [];
    group.push(answer);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap((group) =>
    group.length > MAX_SINGLE ? [group] : group.map((answer) => [answer]),
  );
}

/** Grants at so few merchants have a row each. */
const MAX_SINGLE = 3;

const HEADS = {
  member: "Who",
  role: "Role",
  merchant: "Merchant",
  since: "Since",
  status: "Status",
  place: "Where",
} as const;

type Column = keyof typeof HEADS;

const COLUMNS = Object.keys(HEADS) as readonly Column[];

type Row = Readonly<Record<Column, string>> & { readonly effective: boolean };

function rowOf(group: readonly LocatedAnswer[], now: number): Row {
  const [first] = group;
  const { member, role } = first ?? { member: null, role: null };
  const codes = sortedSet(group.map(({ merchant }) => merchant));
  return {
    member: shorten(member?.name ?? ""),
    role: role === null ? "-" : shorten(role.title),
    merchant: codes.length === 1 ? (codes[0] ?? "") : counted(codes.length, "merchant"),
    since: sinceText(group),
    status: first === undefined ? "" : statusText(first, now),
    place: placeText(group.flatMap(({ grantedAt }) => grantedAt)),
    effective: first !== undefined && isEffective(first),
  };
}

function statusText({ member, held }: LocatedAnswer, now: number): string {
  if (held === null) return member.rolesKnown ? "no role" : "roles not in the files";
  return holdingText(held, now);
}

/** Returns the status of a held role at a time, in ms since the epoch, with its end, as in "until 2027-01-31". */
export function holdingText({ status, from, end, suspension }: HeldRole, now: number): string {
  if (status === "not-begun" && from !== null) return `from ${from.text}`;
  if (end !== null && end.ends <= now) {
    const past = `${end.by === "leaver" ? "left" : "ended"} ${end.text}`;
    // Live access may last longer than in the files.
    return status === "ended" ? past : `${status}, though ${past}`;
  }
  if (suspension?.until) {
    const back = `suspended until ${suspension.until.text}`;
    return end === null ? back : `${back}, ${end.by === "leaver" ? "leaves" : "ends"} ${end.text}`;
  }
  const until = end === null ? "" : `${end.by === "leaver" ? "leaves" : "until"} ${end.text}`;
  if (status === "not-begun") return "not begun";
  if (status === "ends") return until;
  return until === "" ? status : `${status}, ${until}`;
}

/** Returns the day since which a member has a role, or the first and last of several. */
function sinceText(group: readonly LocatedAnswer[]): string {
  const days = sortedSet(
    group.flatMap(({ since }) => {
      if (since === null) return [];
      if (since.time === null) return "not committed";
      return `${since.kind === "by" ? "by " : ""}${since.time.slice(0, 10)}`;
    }),
  );
  return days.length > 1 ? `${days[0]} to ${days.at(-1)}` : (days[0] ?? "");
}

/** Returns the first of some places, and how many more there are. */
export function placeText(places: readonly FilePlace[]): string {
  const texts = [...new Set(places.map(textOfPlace))];
  const [first = "not in the files", second = ""] = texts;
  if (texts.length > 2) return `${first} and ${texts.length - 1} more`;
  return texts.length === 2 ? `${first}, ${second}` : first;
}

/** Returns what a member can do; merchants where that is the same are joined. */
function permissionBlocks(answers: readonly LocatedAnswer[]): readonly Block[] {
  const byMerchant = new Map<string, Set<string>>();
  for (const { merchant, permissions, held } of answers) {
    const granted = byMerchant.get(merchant) ?? new Set<string>();
    byMerchant.set(merchant, granted);
    for (const permission of held?.effective ? (permissions ?? []) : []) granted.add(permission);
  }
  const groups = new Map<string, string[]>();
  for (const [merchant, permissions] of byMerchant) {
    const key = sortedSet(permissions).join(", ");
    groups.set(key, [...(groups.get(key) ?? []), merchant]);
  }
  return [...groups].flatMap(([permissions, merchants]) => {
    if (permissions === "") return [];
    const place =
      groups.size === 1
        ? ""
        : ` at ${merchants.length > 3 ? counted(merchants.length, "merchant") : merchants.join(", ")}`;
    return below(`can${place}:`, [sentence(names(permissions.split(", ")), { isProse: true })]);
  });
}

/** Says why there is no answer. */
function nobody({
  question: { kind, name, source },
  matched,
  near,
  merchants,
  ignored,
}: AnswersView): string {
  if (merchants.length === 0) return "No merchant is selected.";
  const asked = shorten(name);
  const where = source === "live" ? "live" : "in the files";
  const member = source === "live" ? "a live member" : "a member in the files";
  const place = merchants.length === 1 ? `of ${merchants[0]}` : `of ${counted(merchants.length, "merchant")}`;
  const hint = near === null ? "" : ` Did you mean ${near}?`;
  if (matched.length === 0) {
    if (kind === "can") return `No role ${place} is known to grant ${asked} ${where}.${hint}`;
    return kind === "has"
      ? `There is no role ${asked} ${where} ${place}.${hint}`
      : `${asked} is not ${member} ${place}.${hint}`;
  }
  if (source === "declared" && ignored.length > 0) {
    const does = kind === "can" ? `can ${matched.join(", ")}` : `holds ${matched.join(", ")}`;
    return `The files ${place} list nobody who ${does}.`;
  }
  return kind === "can"
    ? `Nobody can ${matched.join(", ")} ${where} ${place}.`
    : `Nobody holds ${matched.join(", ")} ${where} ${place}.`;
}

/** Returns what the answers leave out, with the number of those that are hidden. */
export function answerCaveats(
  { question, matched, answers, unknown, incomplete, ignored }: AnswersView,
  hidden = 0,
): readonly string[] {
  const { kind, name, source, at } = question;
  const gone = source === "live" ? "expired or disabled" : "not in force";
  const begins = sortedSet(
    answers.flatMap(({ since }) => (since?.kind === "by" ? (since.time ?? []) : [])),
  )[0];
  // Today's live state says nothing about the past.
  const live = (text: string): string => (at === null ? text : "");
  const unclear = kind === "has" ? [] : rolesOf(unknown, kind);
  const hasRoles = sortedSet(
    unknown.flatMap(({ reason, members }) => (reason === "member-roles" ? members : [])),
  );
  const says = source === "declared" ? "The files do" : "The service does";
  const texts = [
    hidden > 0 ? `${counted(hidden, "grant is", "grants are")} ${gone}: --verbose shows all.` : "",
    unclear.length > 0
      ? `${says} not say what these roles grant${source === "declared" ? live("; --live does") : ""}: ${unclear.join(", ")}.`
      : "",
    hasRoles.length > 0
      ? `The files leave the roles of ${someOf(hasRoles, "member")} as they are${live("; --live shows them")}.`
      : "",
    incomplete.length > 0 ? incompleteText(incomplete, at === null) : "",
    source === "declared" && matched.length > 0 && (kind !== "is" || /[*?[{]/.test(name))
      ? `The answer lacks service accounts that no file lists, and members without an address${live("; --live includes them")}.`
      : "",
    ...ignoredTexts(ignored, ignoredAdvice(question)),
    begins === undefined
      ? ""
      : `The history in this clone begins on ${begins.slice(0, 10)}; if it is shallow, run git fetch --unshallow to get the rest.`,
  ];
  return texts.filter((text) => text !== "");
}

/** Returns caveats, each a sentence. */
export function caveatBlocks(caveats: readonly string[]): readonly Block[] {
  return caveats.map((text) => sentence(text, { tone: "yellow" }));
}

/**
 * Says that others may be members at merchants whose files do not list all of them; `now` if --live would show them.
 */
export function incompleteText(merchants: readonly string[], now: boolean): string {
  const live = now ? "; --live shows the others" : "";
  return `The files of ${someOf(merchants, "merchant")} do not list all members${live}.`;
}

/** Says how to see the access of what the files ignore; empty if it is in the answer. */
export function ignoredAdvice({ source, at }: Pick<AccessQuestion, "source" | "at">): string {
  if (source === "live") return "";
  return at === null ? "--live includes their access." : "It is not known who had their access then.";
}

/** Returns a few names, or how many there are. */
function someOf(names: readonly string[], what: string): string {
  return names.length > 3 ? counted(names.length, what) : names.join(", ");
}

/** Returns the roles of unknown permissions, with the number of their holders unless one member is asked about. */
function rolesOf(unknown: readonly UnknownAnswer[], kind: AccessQuestion["kind"]): readonly string[] {
  const holders = new Map<string, Set<string>>();
  for (const { role, members } of unknown) {
    if (role === null) continue;
    const people = holders.get(role) ?? new Set();
    for (const member of members) people.add(member.toLowerCase());
    holders.set(role, people);
  }
  return [...holders].map(([role, people]) =>
    kind === "is" ? role : `${role} (${counted(people.size, "person", "people")})`,
  );
}
