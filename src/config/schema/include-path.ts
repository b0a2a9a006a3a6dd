/** What is wrong with the path of an included file, before anybody has looked for it; null where nothing is. */
export function includeMistake(path: string): "absolute" | "backslash" | "pattern" | "ending" | null {
  if (/^(?:[/~]|[A-Za-z][A-Za-z0-9+.-]*:)/.test(path)) {
    return "absolute";
  }
  if (path.includes("\\")) {
    return "backslash";
  }
  if (/[*?:\p{Cc}]/u.test(path)) {
    return "pattern";
  }
  // A file of another kind, such as one with secrets, must not end up in a frame.
  return isYamlName(path) ? null : "ending";
}

/** Whether a file's name is one of YAML. */
export function isYamlName(path: string): boolean {
  return /[^/]\.ya?ml$/i.test(path);
}
