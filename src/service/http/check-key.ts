import { RolecallError } from "../../model/errors.ts";

/** Throws RolecallError for a key that cannot be valid; unlike Node's own error, it does not show the key. */
export function checkKey(key: string, keySource: string): void {
  if (/^(["']).*\1$/.test(key)) {
    throw new RolecallError("key-malformed", `The key in ${keySource} is in quotes.`, {
      hint: "Set it again without quotes. In a file for docker --env-file, for example, quotes are part of the value.",
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new RolecallError(
      "key-malformed",
      `The key in ${keySource} is empty or contains invalid characters.`,
      {
        hint: "Set it again, without spaces, quotes or line breaks.",
      },
    );
  }
}
