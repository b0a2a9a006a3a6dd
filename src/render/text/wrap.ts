import stringWidth from "string-width";

/** How many cells of a terminal a text takes: two for wide characters, none for marks that sit on another. */
export function cellWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}

/** Fills a text up with spaces to a number of cells. */
export function padTo(text: string, width: number): string {
  return `${text}${" ".repeat(Math.max(0, width - cellWidth(text)))}`;
}

/** Breaks a list into lines of at most `width` cells, never inside an item. */
export function wrapList(items: readonly string[], width: number, separator = ", "): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const item of items) {
    const longer = line === "" ? item : `${line}${separator}${item}`;
    if (line !== "" && cellWidth(longer) > width) {
      lines.push(`${line}${separator.trimEnd()}`);
      line = item;
    } else {
      line = longer;
    }
  }
  return line === "" ? lines : [...lines, line];
}

/** Breaks a text into lines of at most `width` cells at its spaces; a longer word keeps its line. */
export function wrapText(text: string, width: number): readonly string[] {
  return wrapList(text.split(" "), width, " ");
}
