/** Returns whether a glob matches only its own text, ignoring case. */
export function isLiteralGlob(glob: string): boolean {
  return !/[*?[{\\]/.test(glob);
}

/**
 * Returns whether a glob certainly matches a text, ignoring case; false for a glob with more than words and `*`.
 */
export function matchesSimpleGlob(glob: string, text: string): boolean {
  if (!/^[\p{L}\p{N} _.@*'&,-]+$/u.test(glob) || glob.includes("**") || text.startsWith(".")) return false;
  return compileGlob(glob.toLowerCase())(text.toLowerCase());
}

/** Longer globs match only themselves. */
const MAX_LENGTH = 1000;

/**
 * Compiles a glob over names: `*` is any text, `?` any character, `[a-z]` one of some, `[!a-z]` none of them, `{a,b}`
 * either, and a backslash takes the next character as it is. It takes time in proportion to the lengths of both, which
 * a regular expression does not.
 */
export function compileGlob(glob: string): (text: string) => boolean {
  const [, head, tail] = /^([^*?[{\\]*)\*([^*?[{\\]*)$/.exec(glob) ?? [];
  if (head !== undefined && tail !== undefined) {
    const least = head.length + tail.length;
    return (text) => text.length >= least && text.startsWith(head) && text.endsWith(tail);
  }
  if (isLiteralGlob(glob) || glob.length > MAX_LENGTH) return (text) => text === glob;
  const program = programOf([...glob], false);
  return (text) => text === glob || run(program, text);
}

/**
 * Compiles a glob over paths, ignoring case: `*`, `?` and `[…]` stay within a folder, `**` does not, and between slashes
 * it also stands for no folder.
 */
export function compilePathGlob(glob: string): (path: string) => boolean {
  const parts = glob.toLowerCase().split("/");
  const lower = parts.filter((part, index) => part !== "**" || parts[index + 1] !== "**").join("/");
  const program = lower.length > MAX_LENGTH ? [] : programOf([...lower], true);
  return (path) => {
    const text = path.toLowerCase();
    return text === lower || run(program, text);
  };
}

/** An instruction: matches a character and goes on with the next one, goes on elsewhere as well, or only there. */
type Instruction =
  | { readonly matches: (character: string) => boolean }
  | { readonly also: number }
  | { readonly goto: number };

/** Compiles a glob, as characters, to instructions; their end is a match. */
function programOf(glob: readonly string[], isPath: boolean): readonly Instruction[] {
  const program: Instruction[] = [];
  const closing = closingBraces(glob);
  const inFolder = (matches: (character: string) => boolean) => (character: string) =>
    matches(character) && !(isPath && character === "/");
  const literal = (literalCharacter: string | undefined) =>
    void program.push({ matches: (character) => character === literalCharacter });
  const anyText = (matches: (character: string) => boolean): void => {
    const start = program.length;
    program.push({ also: start + 3 }, { matches }, { goto: start });
  };

  /** Compiles the characters from one place to another. */
  function part(from: number, to: number): void {
    for (let index = from; index < to; index += 1) {
      const character = glob[index];
      if (character === "*") index = stars(index);
      else if (character === "?") program.push({ matches: inFolder(() => true) });
      else if (character === "[") index = characterClass(index);
      else if (character === "{" && closing.has(index)) index = alternatives(index);
      else if (character === "\\" && index + 1 < to) literal(glob[++index]);
      else literal(character);
    }
  }

  function stars(from: number): number {
    let end = from;
    while (glob[end + 1] === "*") end += 1;
    const crosses = isPath && end > from;
    const isFolders = crosses && glob[end + 1] === "/" && /[/{,]/.test(glob[from - 1] ?? "/");
    if (!isFolders) {
      anyText(crosses ? () => true : inFolder(() => true));
      return end;
    }
    program.push({ also: program.length + 5 });
    anyText(() => true);
    literal("/");
    return end + 1;
  }

  function characterClass(from: number): number {
    const isNegated = glob[from + 1] === "!" || glob[from + 1] === "^";
    const { ranges, end } = rangesFrom(glob, from + (isNegated ? 2 : 1));
    if (end >= glob.length) {
      literal("[");
      return from;
    }
    const isIn = (character: string): boolean =>
      ranges.some(([low, high]) => low <= character && character <= high);
    program.push({ matches: inFolder((character) => isIn(character) !== isNegated) });
    return end;
  }

  function alternatives(from: number): number {
    const { commas, end } = closing.get(from) ?? { commas: [], end: from };
    const exits: number[] = [];
    const starts = [from, ...commas];
    for (const [index, start] of starts.entries()) {
      const next = commas[index];
      const fork = program.length;
      if (next !== undefined) program.push({ also: 0 });
      part(start + 1, next ?? end);
      if (next === undefined) break;
      exits.push(program.length);
      program.push({ goto: 0 });
      program[fork] = { also: program.length };
    }
    for (const exit of exits) program[exit] = { goto: program.length };
    return end;
  }

  part(0, glob.length);
  return program;
}

/** Reads the characters and ranges of a class, up to its closing bracket; a bracket at the start is one of them. */
function rangesFrom(
  glob: readonly string[],
  start: number,
): { readonly ranges: readonly (readonly [string, string])[]; readonly end: number } {
  const ranges: (readonly [string, string])[] = [];
  let index = start;
  while (index < glob.length && (glob[index] !== "]" || index === start)) {
    if (glob[index] === "\\") index += 1;
    const low = glob[index] ?? "";
    const high = glob[index + 1] === "-" ? glob[index + 2] : undefined;
    const isRange = high !== undefined && high !== "]";
    ranges.push([low, isRange ? high : low]);
    index += isRange ? 3 : 1;
  }
  return { ranges, end: index };
}

interface Braces {
  readonly commas: readonly number[];
  readonly end: number;
}

/** Finds the braces that are closed and hold a comma, by where they open. */
function closingBraces(glob: readonly string[]): ReadonlyMap<number, Braces> {
  const closed = new Map<number, Braces>();
  const openBraces: { readonly start: number; readonly commas: number[] }[] = [];
  for (let index = 0; index < glob.length; index += 1) {
    const character = glob[index];
    if (character === "\\") index += 1;
    else if (character === "{") openBraces.push({ start: index, commas: [] });
    else if (character === ",") openBraces.at(-1)?.commas.push(index);
    else if (character === "}") {
      const braces = openBraces.pop();
      if (braces && braces.commas.length > 0) closed.set(braces.start, { commas: braces.commas, end: index });
    }
  }
  return closed;
}

/** Runs all ways through a program side by side, so that none is gone twice. */
function run(program: readonly Instruction[], text: string): boolean {
  let current = new Set<number>();
  const reach = (places: Set<number>, from: number): void => {
    const unvisited = [from];
    for (let address = unvisited.pop(); address !== undefined; address = unvisited.pop()) {
      if (places.has(address)) continue;
      places.add(address);
      const instruction = program[address];
      if (instruction === undefined || "matches" in instruction) continue;
      if ("goto" in instruction) unvisited.push(instruction.goto);
      else unvisited.push(instruction.also, address + 1);
    }
  };
  reach(current, 0);
  for (const character of text) {
    const next = new Set<number>();
    for (const address of current) {
      const instruction = program[address];
      if (instruction && "matches" in instruction && instruction.matches(character)) reach(next, address + 1);
    }
    if (next.size === 0) return false;
    current = next;
  }
  return current.has(program.length);
}
