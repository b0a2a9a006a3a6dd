import { mapConcurrent } from "../lib/map-concurrent.ts";
import { grouped } from "../lib/text.ts";
import { RolecallError } from "../model/errors.ts";
import type { Page } from "./response-json.ts";

/** Requests in the queue at once: more than any limiter allows in flight, and few enough to bound memory. */
export const MAX_QUEUED = 64;

/** Maximum number of items in a page, by the contract. */
export const PAGE_SIZE = 25;
/** Maximum number of items in a list of one account, unless another one is given. */
export const DEFAULT_MAX_ITEMS = 250_000;
const LISTINGS = 3;
/** Number of pages without new items that ends a listing. */
const MAX_REPEATED_PAGES = 2;
/** Counts the pages without new items, over all listings. */
interface Repeats {
  pages: number;
}

interface Listed {
  readonly id: string;
}

/** Reads the page that begins at an offset. */
type ReadPage<Item> = (offset: number) => Promise<Page<Item>>;

/** Throws RolecallError if a list has, or claims to have, more items than permitted: it may never end. */
export function checkSize(what: string, items: number, maxItems: number): void {
  if (items <= maxItems) return;
  throw new RolecallError(
    "too-many-items",
    `${what} has more than ${grouped(maxItems)} entries, so it was not read completely.`,
    {
      hint: "If the account is that large, raise --max-items. Otherwise, the service returns an endless list: contact its operators.",
    },
  );
}

/** Reports how many items are read, and of how many; `null` if unknown. */
export type ListProgress = (read: number, total: number | null) => void;

/**
 * Lists all items consistently: starts over if the list changes meanwhile, and throws after three times, or above
 * `maxItems`. `what` names the list in messages, as in "The member list of MC1".
 */
export async function listAll<Item extends Listed>(
  what: string,
  readPage: ReadPage<Item>,
  { maxItems, progress = () => undefined }: { readonly maxItems: number; readonly progress?: ListProgress },
): Promise<readonly Item[]> {
  const firsts = new Set<string>();
  const firstIds = new Set<string>();
  let isCounted = false;
  const repeats: Repeats = { pages: 0 };
  const recordFirstPages: ReadPage<Item> = async (offset) => {
    const page = await readPage(offset);
    checkSize(what, Math.max(offset + page.items.length, page.total ?? 0), maxItems);
    if (offset === 0) {
      const ids = JSON.stringify(page.items.map(({ id }) => id));
      firsts.add(`${page.total} ${ids}`);
      firstIds.add(ids);
      isCounted = page.total !== null;
    }
    return page;
  };
  for (let listing = 1; listing <= LISTINGS; listing += 1) {
    const items = await listOnce(recordFirstPages, progress, repeats);
    if (items !== null) return items;
  }
  // Concurrent changes do not make a list return the same page twice.
  const isRepeating = firstIds.size === 1 && repeats.pages >= LISTINGS;
  if (firsts.size === 1 || isRepeating) {
    throw new RolecallError(
      "listing-unstable",
      `${what} contradicts itself: its pages ${isCounted ? "do not match its total_count" : "repeat entries"}.`,
      {
        hint: `All ${LISTINGS} attempts began with the same entries, so it is probably not being changed. Contact the service's operators.`,
      },
    );
  }
  throw new RolecallError("listing-unstable", `${what} changed each of the ${LISTINGS} times it was read.`, {
    hint: "It is probably being changed right now. Run the command again later.",
  });
}

/** Lists all items once; `null` if the pages are inconsistent. */
async function listOnce<Item extends Listed>(
  readPage: ReadPage<Item>,
  progress: ListProgress,
  repeats: Repeats,
): Promise<readonly Item[] | null> {
  const first = await readPage(0);
  const { total } = first;
  // The service may return smaller pages than requested, which the first one shows.
  const size = first.items.length;
  progress(size, total);
  if (size === 0) return total === null || total === 0 ? [] : null;
  if (total === null) return listWithoutTotal(first, readPage, progress);

  // An incomplete page is a sign of a changing list, just as a different total is.
  const isSound = (page: Page<Item>, offset: number): boolean =>
    page.total === total && page.items.length === Math.min(size, total - offset);
  if (!isSound(first, 0)) return null;
  let read = size;
  let sound = true;
  // Stops requesting pages of an inconsistent listing.
  const offsets = function* (): Generator<number> {
    for (let offset = size; offset < total && sound; offset += size) yield offset;
  };
  const ids = new Set(first.items.map(({ id }) => id));
  let repeatedPages = 0;
  const rest = await mapConcurrent(offsets(), MAX_QUEUED, async (offset) => {
    const page = await readPage(offset);
    const before = ids.size;
    for (const { id } of page.items) ids.add(id);
    if (ids.size === before && page.items.length > 0) {
      repeatedPages += 1;
      repeats.pages += 1;
    }
    // Too many pages without new ids: the list repeats entries, so its total is wrong.
    sound &&= isSound(page, offset) && repeatedPages < MAX_REPEATED_PAGES;
    read += page.items.length;
    progress(read, total);
    return page;
  });
  if (!sound) return null;
  const items = new Map<string, Item>();
  for (const page of [first, ...rest]) for (const item of page.items) items.set(item.id, item);
  return items.size === total ? [...items.values()] : null;
}

/** Lists items of a list without a total, which ends with an empty page: a short page may not be the last. */
async function listWithoutTotal<Item extends Listed>(
  first: Page<Item>,
  readPage: ReadPage<Item>,
  progress: ListProgress,
): Promise<readonly Item[] | null> {
  const items = new Map<string, Item>();
  let read = 0;
  for (let page = first; ; page = await readPage(read)) {
    for (const item of page.items) items.set(item.id, item);
    read += page.items.length;
    // A repeated item: the list has shifted, or the service repeats a page.
    if (items.size < read) return null;
    if (page !== first) progress(read, null);
    if (page.items.length === 0) return [...items.values()];
  }
}
