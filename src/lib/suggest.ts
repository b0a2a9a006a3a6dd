/** Returns the candidate that was probably meant, regardless of case; `null` if none is near. */
export function suggest(word: string, candidates: Iterable<string>): string | null {
  return openSuggester([...candidates])(word);
}

// Bounds the cost of a hostile file to about a second.
const MAX_WORK = 100_000_000;

/** Creates a function that suggests candidates for many words, within a bound of work. */
export function openSuggester(candidates: readonly string[]): (word: string) => string | null {
  const folded = candidates.map((candidate) => ({ candidate, lower: candidate.toLowerCase() }));
  const suggestions = new Map<string, string | null>();
  let work = 0;
  return (word) => {
    const answered = suggestions.get(word);
    if (answered !== undefined) {
      return answered;
    }
    if (work > MAX_WORK) return null;
    work += folded.length;
    const lowerWord = word.toLowerCase();
    let best: string | null = null;
    let bestDistance = mostEdits(lowerWord.length) + 1;
    if (lowerWord.length <= MAX_LENGTH) {
      for (const { candidate, lower } of folded) {
        if (Math.abs(lower.length - lowerWord.length) >= bestDistance) {
          continue;
        }
        work += lower.length * lowerWord.length;
        const edits = distance(lowerWord, lower, bestDistance);
        if (edits < bestDistance && edits <= mostEdits(lowerWord.length - commonForm(lowerWord, lower))) {
          best = candidate;
          bestDistance = edits;
        }
      }
    }
    best ??= folded.find(({ lower }) => isAbbreviation(lowerWord, lower))?.candidate ?? null;
    suggestions.set(word, best);
    return best;
  };
}

/** Returns the number of edits that make a different word from a word of this length. */
function mostEdits(length: number): number {
  return Math.max(1, Math.floor(length / 3));
}

/** Returns whether a word is the beginning of another one, not counting what they have in common by form. */
function isAbbreviation(word: string, other: string): boolean {
  return other.startsWith(word) && other !== word && word.length - commonForm(word, other) >= 3;
}

/** Returns how many characters two ids or addresses have in common by form alone: `role_`, or the domain. */
function commonForm(a: string, b: string): number {
  if (a.startsWith("role_") && b.startsWith("role_")) return "role_".length;
  const domain = a.includes("@") ? a.slice(a.lastIndexOf("@")) : "";
  return b.endsWith(domain) ? domain.length : 0;
}

/** Returns whether two words differ by a typing error: one edit, or two in long words; short ones are meant to differ. */
export function isSlip(a: string, b: string): boolean {
  // Numbered names, such as till_1 and till_2, are meant to differ.
  if (a.replace(/\d+/g, "") === b.replace(/\d+/g, "") || Math.max(a.length, b.length) > MAX_LENGTH) {
    return false;
  }
  const least = Math.min(a.length, b.length);
  const most = least >= 12 ? 2 : least >= 4 ? 1 : 0;
  return (
    Math.abs(a.length - b.length) <= most && distance(a.toLowerCase(), b.toLowerCase(), most + 1) <= most
  );
}

// Longer words are not typed by hand, and comparing them costs the product of their lengths.
const MAX_LENGTH = 100;

/** Returns the edit distance of two words, or the limit if it is not below; a swap of neighbours counts as one edit. */
function distance(word: string, other: string, limit: number): number {
  const [a, b] = differing(word, other);
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = new Array<number>(b.length + 1).fill(limit);
    row[0] = i;
    let least = i;
    // Further from the diagonal, no cell is below the limit.
    for (let j = Math.max(1, i - limit + 1); j <= Math.min(b.length, i + limit - 1); j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(cellAt(last, j) + 1, cellAt(row, j - 1) + 1, cellAt(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, cellAt(beforeLast, j - 2) + 1);
      }
      row[j] = cost;
      least = Math.min(least, cost);
    }
    if (least >= limit) {
      return limit;
    }
    beforeLast = last;
    last = row;
  }
  return Math.min(cellAt(last, b.length), limit);
}

/** Returns two words without their common beginning and end, which need no edits. */
function differing(a: string, b: string): readonly [string, string] {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

function cellAt(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
