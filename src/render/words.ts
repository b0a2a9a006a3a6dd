/** "9,980": a count from 0 up, its digits in threes. The engine's own way loads what it knows of languages first. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** "1 change", "2 changes". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** A word for a shell to paste: quoted where it would be read as something else. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** "… and 9,980 more (--verbose shows all)": what stands at the end of a list that is cut short. */
export function moreText(count: number): string {
  return `… and ${grouped(count)} more (--verbose shows all)`;
}
