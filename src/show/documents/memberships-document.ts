import { counted, shellWord, shorten } from "../../lib/text.ts";
import type { MemberStatus, Membership } from "../../model/live.ts";
import {
  type Block,
  type Document,
  fold,
  type Grid,
  names,
  sentence,
  verboseShows,
} from "../blocks/block.ts";
import type { Tone } from "../style.ts";

/** The memberships of one key's user, compared with the files. */
export interface MembershipsView {
  readonly service: string;
  /** Name of the environment variable that held the key. */
  readonly keySource: string;
  /** Merchants first, then by id. */
  readonly memberships: readonly Membership[];
  /** Codes of the merchants with an accepted membership and no file. */
  readonly withoutFile: readonly string[];
  /** Merchants of the files that use this key without an accepted membership; `null` if a filter may hide some. */
  readonly notReached: readonly { readonly merchant: string; readonly file: string }[] | null;
}

/** Returns the memberships of each key; `anyFiles` is true if the project has files at all. */
export function membershipsDocument(
  views: readonly MembershipsView[],
  { anyFiles, filtered }: { readonly anyFiles: boolean; readonly filtered: boolean },
  isVerbose: boolean,
): Document {
  return views.flatMap((view) => [
    view.memberships.length === 0 ? [] : [membershipGrid(view.memberships)],
    [
      sentence(totalText(view, filtered)),
      ...withoutFile(view, anyFiles, isVerbose),
      ...notReached(view, isVerbose),
    ],
  ]);
}

function totalText({ memberships, keySource, service }: MembershipsView, filtered: boolean): string {
  const of = `of the key in ${keySource} at ${service}`;
  if (memberships.length === 0) return `No membership ${of}${filtered ? " matches" : ""}.`;
  const merchants = memberships.filter(isMerchant).length;
  const organizations = memberships.filter(({ resource }) => resource.type === "organization").length;
  const otherResources = memberships.length - merchants - organizations;
  const kinds = [
    ...(merchants > 0 ? [counted(merchants, "merchant")] : []),
    ...(organizations > 0 ? [counted(organizations, "organization")] : []),
    ...(otherResources > 0 ? [counted(otherResources, "other resource")] : []),
  ];
  return `${counted(memberships.length, "membership")} ${of}: ${kinds.join(", ")}.`;
}

function isMerchant({ resource }: Membership): boolean {
  return resource.type === "merchant";
}

/** Maximum number of merchants in a suggested command, to keep it readable. */
const MAX_SUGGESTED = 5;

function withoutFile(
  { withoutFile: codes }: MembershipsView,
  anyFiles: boolean,
  isVerbose: boolean,
): readonly Block[] {
  const suggested = codes.slice(0, MAX_SUGGESTED).map(shellWord).join(" ");
  const head = `${counted(codes.length, "merchant has", "merchants have")} no file:`;
  return noted(head, codes, anyFiles ? `rolecall pull ${suggested}` : "rolecall init", isVerbose);
}

function notReached({ notReached: files }: MembershipsView, isVerbose: boolean): readonly Block[] {
  const items = (files ?? []).map(({ merchant, file }) => `${merchant} (${file})`);
  const head = `${counted(items.length, "file names a merchant", "files name merchants")} without an accepted membership:`;
  return noted(head, items, "rolecall doctor", isVerbose);
}

const MAX_NOTED = 10;

function noted(head: string, items: readonly string[], next: string, isVerbose: boolean): readonly Block[] {
  if (items.length === 0) return [];
  const shown = isVerbose ? items : items.slice(0, MAX_NOTED);
  return [
    fold(
      head,
      [
        sentence(names(shown), { isProse: true }),
        ...verboseShows(items.length - shown.length),
        sentence(next, { mark: "next" }),
      ],
      "yellow",
    ),
  ];
}

const HEADS = ["Code", "Name", "Type", "Status", "Roles"] as const;
const [NAME, STATUS, ROLES] = [1, 3, 4];

function membershipGrid(memberships: readonly Membership[]): Grid {
  const rows = memberships.map(({ resource, status, roles }) => {
    const { id, name, type, sandbox } = resource;
    const cells = [
      shorten(id),
      shorten(name) || "-",
      shorten(sandbox === true ? `${type} (test)` : type),
      status,
      roles.map(shorten).join(", ") || "-",
    ];
    return { cells, tone: cells.map((_, column) => (column === STATUS ? TONES[status] : undefined)) };
  });
  return { kind: "grid", heads: HEADS, rows, isGrouped: true, flexible: [NAME, ROLES] };
}

const TONES: Readonly<Record<MemberStatus, Tone>> = {
  accepted: "green",
  pending: "yellow",
  expired: "yellow",
  disabled: "red",
  unknown: "dim",
};
