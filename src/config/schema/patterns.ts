/** Anything but space. */
export const NOT_BLANK = /\S/;

/** Without controls, halves of characters, line breaks, and what turns the direction of the text after it. */
export const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]*$/u;

/** The name of an environment variable. */
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A merchant's code. */
export const MERCHANT = /^[A-Za-z0-9_-]{1,64}$/;

/** A role's id. */
export const ROLE_ID = /^role_[A-Za-z0-9_-]+$/;

/** A member's id. */
export const MEMBER_ID = /^mem_[A-Za-z0-9_-]+$/;

/** A share of what is live. */
export const SHARE = /^(?:100|[1-9]?[0-9])%$/;

/** A period in weeks, days or hours. */
export const PERIOD = /^[1-9][0-9]{0,4}[wdh]$/;

/** A role as a check names it. */
export const ROLE_ENTRY = /^role:\s*\S/;

/** The domain of an address: labels of letters and digits in any script; "*." before it stands for every subdomain. */
export const DOMAIN =
  /^(?=.{3,255}$)(?:\*\.)?(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u;

// No space, no invisible character, one @, a dot in the domain; in quotes, what the address may hold in front of the @
// is free. The service has the last word.
const PART = String.raw`[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}\p{Cs}`;
const QUOTED = String.raw`"(?:[^"\\\p{Cc}\p{Cf}\p{Cs}]|\\[^\p{Cc}\p{Cf}\p{Cs}])+"`;

/** An e-mail address. */
export const EMAIL = new RegExp(`^(?:${PART}]+|${QUOTED})@(?:${PART}.]+\\.)+${PART}.]{2,}$`, "u");

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
