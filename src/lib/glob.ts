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

/** Counts the steps of a match. */
type Spend = (steps: number) => void;

// Takes two or three seconds.
const MAX_STEPS = 100_000_000;
/** The steps of a match besides those through the glob. */
const STEPS_OF_MATCH = 5;

/** Creates a function that matches globs, each compiled once; throws the error of `tooMuch` after too many steps. */
export function boundedMatcher(
  compile: (glob: string, spend: Spend) => (text: string) => boolean,
  tooMuch: () => Error,
): (glob: string, text: string) => boolean {
  const matchers = new Map<string, (text: string) => boolean>();
  let stepsLeft = MAX_STEPS;
  const spend = (steps: number): void => {
    stepsLeft -= steps;
    if (stepsLeft < 0) throw tooMuch();
  };
  return (glob, text) => {
    const matcher = matchers.get(glob) ?? compile(glob, spend);
    matchers.set(glob, matcher);
    spend(STEPS_OF_MATCH);
    return matcher(text);
  };
}

/** Longer globs match only themselves. */
const MAX_LENGTH = 1000;

/**
 * Compiles a glob over names: `*` is any text, `?` any character, `[a-z]` one of some, `[!a-z]` none of them, `{a,b}`
 * either, and a backslash escapes the next character. Unlike with a regular expression, the time is proportional to the
 * lengths of both.
 */
export function compileGlob(glob: string, spend: Spend = () => undefined): (text: string) => boolean {
  const [, head, tail] = /^([^*?[{\\]*)\*([^*?[{\\]*)$/.exec(glob) ?? [];
  if (head !== undefined && tail !== undefined) {
    const least = head.length + tail.length;
    return (text) => text.length >= least && text.startsWith(head) && text.endsWith(tail);
  }
  if (isLiteralGlob(glob) || glob.length > MAX_LENGTH) return (text) => text === glob;
  const run = runnerOf(programOf([...glob], false), spend);
  return (text) => text === glob || run(text);
}

/**
 * Compiles a glob over paths, ignoring case: `*`, `?` and `[…]` stay within a folder, `**` does not, and between
 * slashes it also matches no folder at all.
 */
export function compilePathGlob(glob: string, spend: Spend = () => undefined): (path: string) => boolean {
  const parts = glob.toLowerCase().split("/");
  const lower = parts.filter((part, index) => part !== "**" || parts[index + 1] !== "**").join("/");
  const run = runnerOf(lower.length > MAX_LENGTH ? [] : programOf([...lower], true), spend);
  return (path) => {
    const text = path.toLowerCase();
    return text === lower || run(text);
  };
}

/**
 * An instruction: matches a character and continues with the next instruction, also continues elsewhere, or only jumps
 * there.
 */
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

/** Returns a function that runs all paths through a program side by side, so that none is taken twice. */
function runnerOf(program: readonly Instruction[], spend: Spend): (text: string) => boolean {
  // The step in which an address was last reached.
  const reachedIn = new Int32Array(program.length + 1);
  const reach = (places: number[], address: number, step: number): void => {
    if (reachedIn[address] === step) return;
    reachedIn[address] = step;
    const instruction = program[address];
    if (instruction === undefined || "matches" in instruction) places.push(address);
    else if ("goto" in instruction) reach(places, instruction.goto, step);
    else {
      reach(places, address + 1, step);
      reach(places, instruction.also, step);
    }
  };
  return (text) => {
    reachedIn.fill(0);
    let step = 1;
    let steps = 0;
    let current: number[] = [];
    reach(current, 0, step);
    for (const character of text) {
      step += 1;
      steps += current.length;
      const next: number[] = [];
      for (const address of current) {
        const instruction = program[address];
        if (instruction && "matches" in instruction && instruction.matches(character)) {
          reach(next, address + 1, step);
        }
      }
      current = next;
      if (next.length === 0) break;
    }
    spend(steps);
    return current.includes(program.length);
  };
}
