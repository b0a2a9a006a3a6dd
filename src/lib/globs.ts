/** Whether a glob matches nothing but its own text, whatever the case of its letters. */
export function isLiteral(glob: string): boolean {
  return !/[*?[{(!\\]/.test(glob);
}
