/** "1 change", "2 changes". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** Breaks a list into lines of at most `width` characters, never inside an item. */
export function wrapList(items: readonly string[], width: number, separator = ", "): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const item of items) {
    const longer = line === "" ? item : `${line}${separator}${item}`;
    if (line !== "" && longer.length > width) {
      lines.push(`${line}${separator.trimEnd()}`);
      line = item;
    } else {
      line = longer;
    }
  }
  return line === "" ? lines : [...lines, line];
}

/** Breaks a text into lines of at most `width` characters at its spaces; a longer word keeps its line. */
export function wrapText(text: string, width: number): readonly string[] {
  return wrapList(text.split(" "), width, " ");
}

/** A word for a shell to paste: quoted where it would be read as something else. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** "… and 9,980 more (--verbose shows all)": what stands at the end of a list that is cut short. */
export function moreText(count: number): string {
  return `… and ${count.toLocaleString("en-US")} more (--verbose shows all)`;
}
