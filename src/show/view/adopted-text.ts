/** Returns the evidence that a write with a lost response took effect. */
export function adoptedText(isPassword: boolean): string {
  return isPassword
    ? "response lost; the retry was refused because the password was reused"
    : "response lost; found in place";
}
