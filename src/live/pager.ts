import { mapConcurrent } from "../lib/map-concurrent.ts";
import { RolecallError } from "../model/errors.ts";
import type { Page } from "./wire.ts";

/** More requests than any limiter lets through at once, and few enough for a list of any length to fit into memory. */
export const MOST_AT_ONCE = 64;

/** The most items that the contract gives in one page. */
export const PAGE_SIZE = 25;
const LISTINGS = 3;
/** So many pages without anything new end a listing. */
const MOST_REPEATED = 2;
/** The most pages that are asked for before the first has told how many there are. */
const AHEAD = 4;

/** Pages of a list, in all its listings, that held nothing new. */
interface Repeats {
  pages: number;
}

interface Listed {
  readonly id: string;
}

/** Reads the page that begins at an offset. */
type ReadPage<Item> = (offset: number) => Promise<Page<Item>>;

/** Hears how many items have been read, and of how many where the service tells. */
export type ListProgress = (read: number, total: number | null) => void;

/**
 * Lists everything, whole: again from the start when the list shifts while it is read, and then not at all.
 * `what` names the list in the message, as in "The member list of MC1"; `expected` is about how many items there may be.
 */
export async function listAll<Item extends Listed>(
  what: string,
  readPage: ReadPage<Item>,
  {
    expected = 0,
    progress = () => undefined,
  }: { readonly expected?: number; readonly progress?: ListProgress } = {},
): Promise<readonly Item[]> {
  const firsts = new Set<string>();
  const firstIds = new Set<string>();
  const repeats: Repeats = { pages: 0 };
  const noting: ReadPage<Item> = async (offset) => {
    const page = await readPage(offset);
    if (offset === 0) {
      const ids = JSON.stringify(page.items.map(({ id }) => id));
      firsts.add(`${page.total} ${ids}`);
      firstIds.add(ids);
    }
    return page;
  };
  for (let listing = 1; listing <= LISTINGS; listing += 1) {
    const items = await listOnce(listing === 1 ? aheadOf(noting, expected) : noting, progress, repeats);
    if (items !== null) return items;
  }
  // Somebody who changes a list does not make it give the same page twice.
  const isRepeating = firstIds.size === 1 && repeats.pages >= LISTINGS;
  if (firsts.size === 1 || isRepeating) {
    throw new RolecallError(
      "listing-unstable",
      `${what} contradicts itself: its pages do not fit its total_count.`,
      {
        hint: `It began in the same way each of the ${LISTINGS} times it was read, so nobody seems to be changing it. Ask the service's operators.`,
      },
    );
  }
  throw new RolecallError("listing-unstable", `${what} changed each of the ${LISTINGS} times it was read.`, {
    hint: "Somebody is changing it right now. Wait until that is over, then run it again.",
  });
}

/** Asks for a few more pages with the first, as far as so many items may reach: it saves a round trip. */
function aheadOf<Item>(readPage: ReadPage<Item>, expected: number): ReadPage<Item> {
  const asked = new Map<number, Promise<Page<Item>>>();
  return (offset) => {
    const page = asked.get(offset) ?? readPage(offset);
    for (let next = PAGE_SIZE; offset === 0 && next < expected && asked.size < AHEAD; next += PAGE_SIZE) {
      const early = readPage(next);
      // Where it turns out not to be needed, nobody wants to know why it failed.
      early.catch(() => undefined);
      asked.set(next, early);
    }
    return page;
  };
}

/** Null where what was read does not fit together. */
async function listOnce<Item extends Listed>(
  readPage: ReadPage<Item>,
  progress: ListProgress,
  repeats: Repeats,
): Promise<readonly Item[] | null> {
  const first = await readPage(0);
  const { total } = first;
  // The service may give less than it is asked for: its first page tells how much.
  const size = first.items.length;
  progress(size, total);
  if (size === 0) return total === null || total === 0 ? [] : null;
  if (total === null) return listToTheEnd(first, readPage, progress);

  // A page that is not as full as it should be is as good a sign of a shifting list as a count that differs.
  const isSound = (page: Page<Item>, offset: number): boolean =>
    page.total === total && page.items.length === Math.min(size, total - offset);
  if (!isSound(first, 0)) return null;
  let read = size;
  let sound = true;
  // Once the listing is lost, nothing more of it is asked for.
  const offsets = function* (): Generator<number> {
    for (let offset = size; offset < total && sound; offset += size) yield offset;
  };
  const ids = new Set(first.items.map(({ id }) => id));
  let known = 0;
  const rest = await mapConcurrent(offsets(), MOST_AT_ONCE, async (offset) => {
    const page = await readPage(offset);
    const before = ids.size;
    for (const { id } of page.items) ids.add(id);
    if (ids.size === before && page.items.length > 0) {
      known += 1;
      repeats.pages += 1;
    }
    // The list only repeats itself, whatever its count says.
    sound &&= isSound(page, offset) && known < MOST_REPEATED;
    read += page.items.length;
    progress(read, total);
    return page;
  });
  if (!sound) return null;
  const items = new Map<string, Item>();
  for (const page of [first, ...rest]) for (const item of page.items) items.set(item.id, item);
  return items.size === total ? [...items.values()] : null;
}

/** Without a count the only sign of the end is a page with nothing on it: a short one may be one with something left out. */
async function listToTheEnd<Item extends Listed>(
  first: Page<Item>,
  readPage: ReadPage<Item>,
  progress: ListProgress,
): Promise<readonly Item[] | null> {
  const items = new Map<string, Item>();
  let read = 0;
  for (let page = first; ; page = await readPage(read)) {
    for (const item of page.items) items.set(item.id, item);
    read += page.items.length;
    // The same item twice: the list has shifted, or the service gives the same page for ever.
    if (items.size < read) return null;
    if (page !== first) progress(read, null);
    if (page.items.length === 0) return [...items.values()];
  }
}
