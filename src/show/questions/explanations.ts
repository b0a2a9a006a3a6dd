import { cellWidth, counted, shorten, sortedSet } from "../../lib/text.ts";
import { type Block, below, type Document, fold, sentence, verboseShows } from "../blocks/block.ts";
import { cutText } from "../blocks/cut-list.ts";
import { ignoredTexts } from "../text/ignored-text.ts";
import {
  type ExplanationsView,
  type FilePlace,
  type LocatedExplanation,
  type LocatedWay,
  otherHolders,
  textOfPlace,
} from "./answer-formats.ts";
import { caveatBlocks, commitNote, holdingText, ignoredAdvice, incompleteText } from "./answers.ts";

/** Says why somebody can do something, and what has to change to end it; `verbose` shows every merchant. */
export function explanationsDocument(view: ExplanationsView, verbose: boolean): Document {
  return [
    commitNote(view.question),
    ...(view.explanations.length === 0
      ? [[sentence(notFound(view))]]
      : grouped(view, verbose).flatMap((group) => explanationParagraphs(group, view, verbose))),
    caveatBlocks(explanationCaveats(view)),
  ];
}

/** Returns sentences about what the explanations leave out. */
export function explanationCaveats({ incomplete, ignored, question }: ExplanationsView): readonly string[] {
  return [
    ...(incomplete.length === 0 ? [] : [incompleteText(incomplete, question.at === null)]),
    ...ignoredTexts(ignored, ignoredAdvice(question)),
  ];
}

function notFound({ question, nearMember, merchants }: ExplanationsView): string {
  if (merchants.length === 0) return "No merchant is selected.";
  const hint = nearMember === null ? "" : ` Did you mean ${nearMember}?`;
  const what = question.source === "live" ? "a live member" : "a member in the files";
  return `${shorten(question.member)} is not ${what} of ${counted(merchants.length, "merchant")}.${hint}`;
}

/** Joins the explanations of merchants that differ only in their line numbers. */
function grouped(
  { explanations, now }: Pick<ExplanationsView, "explanations" | "now">,
  verbose: boolean,
): readonly (readonly LocatedExplanation[])[] {
  const groups = new Map<string, LocatedExplanation[]>();
  for (const explanation of explanations) {
    const { merchant, member, permission, ways, without, unclear } = explanation;
    const texts = [ways, without].map((some) =>
      some.map((way) => [way.role.title, holdingText(way.held, now)]),
    );
    const key = JSON.stringify([
      member.name.toLowerCase(),
      permission,
      texts,
      unclear,
      verbose ? merchant : "",
    ]);
    const group = groups.get(key) ?? [];
    group.push(explanation);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function explanationParagraphs(
  group: readonly LocatedExplanation[],
  view: ExplanationsView,
  verbose: boolean,
): Document {
  const [first] = group;
  if (first === undefined) return [];
  const { member, permission, ways, without, unclear } = first;
  const codes = sortedSet(group.map(({ merchant }) => merchant));
  const place = `at ${codes.length > 3 ? counted(codes.length, "merchant") : codes.join(", ")}`;
  const who = shorten(member.name);
  const what = permission;
  const groupWays = group.flatMap((explanation) => explanation.ways);
  if (ways.length === 0) {
    const unknown = unknownReason(first, view);
    const text =
      unknown === null
        ? `${who} cannot ${what} ${place}${reasonOf(first, view)}`
        : `It is not known whether ${who} can ${what} ${place}: ${unknown}${hintOf(view)}`;
    const none = group.flatMap((explanation) => explanation.without);
    const roles = without.map(({ role, held }) => {
      const same = none.filter((way) => isSameRole(way.role, role));
      return withoutBlock(role, holdingText(held, view.now), same, verbose);
    });
    return [[fold(text, roles, unknown === null ? "bold" : "yellow")]];
  }
  const roles =
    ways.length === 1 ? "through 1 role" : `through ${ways.length} roles, each of which is enough`;
  const through = ways.map(({ role, held }) => {
    const same = groupWays.filter((way) => isSameRole(way.role, role));
    return wayBlock(role, holdingText(held, view.now), same, verbose);
  });
  const others = `It is not known whether ${unclear.join(", ")} ${unclear.length === 1 ? "grants" : "grant"} it too.`;
  return [
    [fold(`${who} can ${what} ${place} ${roles}:`, through)],
    [
      ...endBlocks(ways, groupWays, { who, what, member: member.name }, verbose),
      ...(unclear.length > 0 ? [sentence(others, { tone: "yellow" })] : []),
    ],
  ];
}

function reasonOf({ without }: LocatedExplanation, view: ExplanationsView): string {
  if (without.length > 0) {
    if (view.question.at !== null) return " then:";
    const statuses = sortedSet(without.map(({ held }) => held.status));
    if (statuses.every((status) => status === "not-begun")) return " yet:";
    return statuses.some((status) => status === "not-begun" || status === "suspended")
      ? " now:"
      : " any more:";
  }
  return view.permissions.length > 0 ? "." : `: no role is known to grant it.${hintOf(view)}`;
}

function hintOf({ nearPermission }: ExplanationsView): string {
  return nearPermission === null ? "" : ` Did you mean ${nearPermission}?`;
}

/** Returns why it is unknown whether a member can use a permission; `null` if it is known. */
function unknownReason(
  { member, unclear }: LocatedExplanation,
  { question: { source, at } }: ExplanationsView,
): string | null {
  const live = at === null && source === "declared" ? "; --live does" : "";
  if (!member.rolesKnown) return `the files do not say what roles they hold${live}.`;
  if (unclear.length === 0) return null;
  const says = source === "live" ? "the service does" : "the files do";
  const roles = sortedSet(unclear);
  return `${says} not say what ${roles.join(", ")} ${roles.length === 1 ? "grants" : "grant"}${live}.`;
}

function isSameRole(role: LocatedWay["role"], other: LocatedWay["role"]): boolean {
  return role.name === other.name && role.id === other.id;
}

/** Returns a role that gives no access: its status, and where that comes from. */
function withoutBlock(
  role: LocatedWay["role"],
  status: string,
  same: readonly LocatedWay[],
  verbose: boolean,
): Block {
  const granted = placesOf(same.flatMap(({ grantedAt }) => grantedAt));
  const because = placesOf(same.flatMap(({ statusAt }) => statusAt));
  const label = same.some(({ held }) => held.suspension !== null) ? "suspended at" : "ended at";
  return below(`${shorten(role.title)}: ${status}`, [
    ...(granted.length > 0 ? [places("granted at", granted, verbose)] : []),
    ...(because.length > 0 ? [places(label, because, verbose)] : []),
  ]);
}

function wayBlock(
  role: LocatedWay["role"],
  status: string,
  same: readonly LocatedWay[],
  verbose: boolean,
): Block {
  const shown = status === "active" ? "" : `, ${status}`;
  const granted = placesOf(same.flatMap(({ grantedAt }) => grantedAt));
  const permitted = placesOf(same.flatMap(({ permittedAt }) => permittedAt));
  const elsewhere = role.predefined ? "predefined" : "not in the files";
  return below(`${shorten(role.title)}${shown}`, [
    places("granted at", granted.length > 0 ? granted : ["not in the files"], verbose),
    places("grants it at", permitted.length > 0 ? permitted : [elsewhere], verbose),
  ]);
}

/** Places of one label without `verbose`. */
const MAX_PLACES = 5;

function places(label: string, texts: readonly string[], verbose: boolean): Block {
  const shown = verbose ? texts : texts.slice(0, MAX_PLACES);
  const more = texts.length - shown.length;
  const rows = [...shown, ...(more > 0 ? [`${cutText(more)} (--verbose shows all)`] : [])];
  return {
    kind: "facts",
    rows: rows.map((text, index) => ({ label: index === 0 ? label : "", text })),
    width: LABEL,
    isPlain: true,
  };
}

const LABEL = cellWidth("grants it at") + 1;

function placesOf(places: readonly FilePlace[]): readonly string[] {
  return [...new Set(places.map(textOfPlace))];
}

/** Returns what has to change to end the access. */
function endBlocks(
  ways: readonly LocatedWay[],
  allWays: readonly LocatedWay[],
  { who, what, member }: { readonly who: string; readonly what: string; readonly member: string },
  verbose: boolean,
): readonly Block[] {
  const lines = new Map<string, Set<string>>();
  for (const { role, grantedAt } of allWays) {
    for (const place of grantedAt.map(textOfPlace)) {
      lines.set(place, (lines.get(place) ?? new Set()).add(shorten(role.title)));
    }
  }
  const rows = [...lines].map(([label, roles]) => ({ label, text: [...roles].join(", ") }));
  const shown = verbose ? rows : rows.slice(0, MAX_PLACES * ways.length);
  const outside = allWays.some(({ grantedAt }) => grantedAt.length === 0);
  const custom = ways.filter(({ role }) => !role.predefined);
  const holderCounts = custom.map(({ role }) => {
    const holders = otherHolders(
      allWays.filter((way) => way.role.name === role.name),
      member,
    );
    return `${shorten(role.title)} (${holders === 0 ? "no other holder" : counted(holders, "other holder")})`;
  });
  const these = allWays.length === 1 && rows.length === 1 ? "this role" : "all of these";
  return [
    ...(rows.length > 0
      ? [
          below(`To end it, take ${these} from ${who}:`, [
            { kind: "facts", rows: shown, isPlain: true },
            ...verboseShows(rows.length - shown.length),
          ]),
        ]
      : []),
    ...(outside
      ? [
          sentence(
            "A grant that is not in the files must be removed at the service; rolecall plan shows whether an apply does so.",
          ),
        ]
      : []),
    ...(custom.length === ways.length
      ? [sentence(`Or take ${what} from ${holderCounts.join(" and ")}.`)]
      : []),
  ];
}
