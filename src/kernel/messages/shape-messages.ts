import { baseUrlHint } from "../../lib/base-url.ts";
import { listText } from "../../lib/text.ts";
import type { ShapeProblem } from "../problems/problem.ts";
import { EXAMPLE_OVERRIDE } from "../rules/settings/every-setting.ts";
import { MAX_CHECKS, MAX_INCLUDES, MAX_METADATA, MAX_PERMISSIONS } from "../values/limits.ts";
import { globMistake, includeMistake } from "../values/text-schemas.ts";
import {
  asWritten,
  capital,
  didYouMean,
  EXAMPLES,
  formatMessages,
  KINDS,
  type MessageTable,
  optionalHint,
  owner,
  quote,
  subject,
} from "./message-phrases.ts";
import {
  addressIn,
  conversion,
  GLOB_HINTS,
  INCLUDE_HINTS,
  limitHint,
  nothingNear,
  roleIn,
  SETS,
  sizeOf,
  untilHint,
  waysOut,
} from "./shape-hints.ts";

/** Messages for invalid single values. */
export const SHAPE_MESSAGES: MessageTable<ShapeProblem["code"]> = {
  "unknown-key": ({ key, path, known, near, used }) => ({
    message: `${capital(owner(path))} has no key ${quote(key)}.`,
    hint:
      near === null
        ? nothingNear(key, known)
        : `${didYouMean(near)}${used ? " It is already set here." : ""}`,
  }),
  "missing-key": ({ key, path }) => ({
    message: `${capital(owner(path))} needs ${quote(key)}.`,
    hint:
      key === "merchant"
        ? `Add "merchant: ${EXAMPLES["merchant"]}" with your own code. If the file is meant to be included, list it under "include" in a merchant's file.`
        : `Add "${key}: ${EXAMPLES[key] ?? "…"}".`,
  }),
  "null-value": ({ path, wanted }) => ({
    message: `${subject(path)} has no value.`,
    hint: waysOut(path, wanted),
  }),
  "wrong-type": ({ path, wanted, got, value }) => ({
    message: `${subject(path)} must be ${listText(
      wanted.map((kind) => KINDS[kind]),
      "or",
    )}, not ${KINDS[got]}.`,
    ...optionalHint(conversion(path, wanted, value)),
  }),
  "wrong-value": ({ path, allowed, value, near }) => ({
    message: `${subject(path)} must be ${listText(allowed.map(asWritten), "or")}, not ${asWritten(value)}.`,
    ...optionalHint(
      allowed.some((choice) => typeof choice !== "string" && String(choice) === value)
        ? `Write it without quotes: ${value}.`
        : near === null
          ? null
          : didYouMean(near),
    ),
  }),
  "bad-base-url": formatMessages(({ value }) => ({
    message:
      '"base_url" must be a plain http or https address, without user name, query, fragment or API version.',
    hint: baseUrlHint(String(value)),
  })),
  "bad-check-entry": formatMessages(({ value }) => ({
    message: `${quote(value)} is neither an e-mail address nor a role.`,
    hint: String(value).includes("@")
      ? addressIn(value)
      : `Write an address such as ada@example.com, or a role as ${quote(`role:${roleIn(value)}`)}.`,
  })),
  "bad-count": formatMessages(({ path, value }) => ({
    message: `${subject(path)} must be a whole number, 0 or more, not ${String(value)}.`,
    hint: "Write 0 for none.",
  })),
  "bad-domain": formatMessages(({ value }) => ({
    message: `${quote(value)} is not the domain of an e-mail address.`,
    hint: 'Write the part after the @, such as example.com, or "*.example.com" for its subdomains.',
  })),
  "bad-email": formatMessages(({ value }) => ({
    message: `${quote(value)} is not an e-mail address.`,
    hint: addressIn(value),
  })),
  // The value is not shown: it may be the secret itself.
  "bad-env-name": formatMessages(({ path }) => ({
    message: `${subject(path)} must be the name of an environment variable.`,
    hint: `Use letters, digits and underscores, such as ${EXAMPLES[String(path.at(-1))] ?? "MY_VARIABLE"}; never the secret itself.`,
  })),
  "bad-glob": formatMessages(({ value }) => ({
    message: `${quote(value)} is not a glob over files in the project.`,
    hint: GLOB_HINTS[globMistake(String(value)) ?? "empty"],
  })),
  "bad-include": formatMessages(({ value }) => ({
    message: `${quote(value)} cannot be included.`,
    hint: INCLUDE_HINTS[includeMistake(String(value)) ?? "ending"],
  })),
  "bad-limit": formatMessages(({ path, value }) => ({
    message: `${subject(path)} must be a percentage such as 25%, or a whole number, not ${asWritten(value)}.`,
    hint: limitHint(value),
  })),
  "bad-member-id": formatMessages(({ value }) => ({
    message: `${quote(value)} is not the id of a member.`,
    hint: 'An id begins with "mem_". Remove the key to match the member by e-mail address.',
  })),
  "bad-merchant": formatMessages(({ value }) => ({
    message: `${quote(value)} is not a merchant code.`,
    hint: "Use 1 to 64 letters, digits, hyphens and underscores, such as MC4F7K2P.",
  })),
  "bad-override": formatMessages(({ value }) => ({
    message: `${quote(value)} is not an override.`,
    hint: `Copy it from the plan, such as ${EXAMPLE_OVERRIDE}: a guard, a value, and at least 12 characters of the plan's fingerprint.`,
  })),
  "bad-period": formatMessages(({ path, value }) => ({
    message: `${subject(path)} must be a period such as 30d, not ${asWritten(value)}.`,
    hint: `Use a whole number of weeks (w), days (d) or hours (h)${path[0] === "sync" ? "; to always renew, write reinvite: true" : ""}.`,
  })),
  "bad-role-id": formatMessages(({ value }) => ({
    message: `${quote(value)} is not the id of a role.`,
    hint: 'An id begins with "role_". Remove the key to match the role by name.',
  })),
  "bad-until": formatMessages(({ path, value }) => ({
    message: `${subject(path)} must be a date, or a timestamp with a time zone, not ${quote(value)}.`,
    hint: untilHint(String(value)),
  })),
  "blank-text": formatMessages(({ path }) => ({
    message: `${String(path.at(-1)).trim() === "" ? `A key of ${quote(path.at(-2))}` : subject(path)} is blank.`,
    hint: typeof path.at(-1) === "number" ? "Add text, or remove the entry." : "Fill it in.",
  })),
  "control-character": formatMessages(({ path }) => ({
    message: `${subject(path)} contains a line break or an invisible control character.`,
    hint: "Remove it: the text must be on one line.",
  })),
  "no-globs": formatMessages(({ value }) => ({
    message: `An entry needs 1 to ${MAX_INCLUDES} globs under "files", but has ${sizeOf(value)}.`,
    hint: "For example: files: [access/franchise/**]",
  })),
  "too-few-roles": formatMessages(() => ({
    message: 'A set under "separate" needs at least two roles.',
    hint: SETS,
  })),
  "too-many-checks": formatMessages(({ value }) => ({
    message: `The file has ${sizeOf(value)} checks; the limit is ${MAX_CHECKS}.`,
    hint: "Combine checks for single members or permissions, or use policies.",
  })),
  "too-many-includes": formatMessages(({ value }) => ({
    message: `The file includes ${sizeOf(value)} files; the limit is ${MAX_INCLUDES}.`,
    hint: "Include some of them from another included file.",
  })),
  "too-many-metadata": formatMessages(({ path, value }) => ({
    message: `${subject(path)} has ${Object.keys(Object(value)).length} properties; the service accepts at most ${MAX_METADATA}.`,
    hint: "Remove some, or combine several into one property with a mapping.",
  })),
  "too-many-permissions": formatMessages(({ value }) => ({
    message: `The role has ${sizeOf(value)} permissions; the service accepts at most ${MAX_PERMISSIONS}.`,
    hint: "Split it into two roles, and grant both to its members.",
  })),
  "check-form": ({ keys }) => ({
    message:
      keys.length === 0
        ? "The check is empty."
        : `${capital(listText(keys.map(quote), "and"))} ${keys.length === 1 ? "is not a check" : "do not form one check"}.`,
    hint: "A check must be one of: { can: …, only: […] }, { can: …, at_most: … }, { member: …, cannot: […] }. Write one entry for each.",
  }),
  "unsafe-key": ({ key, path }) => ({
    message: `${subject(path.slice(0, -1))} cannot have a key called ${quote(key)}.`,
    hint: "This name has a special meaning in many programs. Choose another.",
  }),
  "merge-key": () => ({
    message: 'A key cannot be called "<<": merge keys are not supported.',
    hint: "Write the keys out.",
  }),
  "bad-number": ({ value }) => ({
    message: Number.isFinite(value)
      ? "The number is too large to be represented exactly."
      : `${value} cannot be represented in JSON.`,
    hint: "Put it in quotes to make it text.",
  }),
};
