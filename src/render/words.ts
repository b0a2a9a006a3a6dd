/** "1 change", "2 changes". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** A word for a shell to paste: quoted where it would be read as something else. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** "… and 9,980 more (--verbose shows all)": what stands at the end of a list that is cut short. */
export function moreText(count: number): string {
  return `… and ${count.toLocaleString("en-US")} more (--verbose shows all)`;
}
