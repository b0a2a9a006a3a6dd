import { grouped } from "../../lib/text.ts";
import type { YamlProblem } from "../problems/problem.ts";
import { type MessageTable, type MessageText, quote } from "./message-phrases.ts";

/** Returns the beginning of a sentence about a file that cannot be read. */
function subject(name: string | null): string {
  return name === null ? "This file" : quote(name);
}

/** Messages for files that cannot be read, invalid YAML, and a second file of a merchant. */
export const YAML_MESSAGES: MessageTable<YamlProblem["code"]> = {
  "duplicate-merchant": ({ merchant }, first) => ({
    message: `The merchant ${quote(merchant)} already has a file: ${first}.`,
    hint: "A merchant must have only one file: merge the two, or correct the merchant code.",
  }),
  "file-missing": ({ name }) => ({
    message: name === null ? "There is no such file." : `There is no file ${quote(name)}.`,
    hint: "Check the spelling. An included path is relative to the file that includes it.",
  }),
  "file-not-a-file": ({ name }) => ({
    message: `${subject(name)} is not a YAML file.`,
    hint: "Specify a single file that ends in .yaml or .yml, not a folder or a link to another kind of file.",
  }),
  "file-not-utf8": ({ name }) => ({
    message: `${subject(name)} is not UTF-8 text.`,
    hint: "Save it with UTF-8 encoding.",
  }),
  "file-outside-root": ({ name }) => ({
    message: `${subject(name)} is outside the project.`,
    hint: "Include only files in the project, after links are resolved: other files are not reviewed with it.",
  }),
  "file-unreadable": ({ name }) => ({
    message: `${subject(name)} cannot be read.`,
    hint: "Check its permissions.",
  }),
  "link-not-read": ({ why }) =>
    ({
      broken: {
        message: "This link is broken, so it is skipped.",
        hint: "Correct its target, or remove it.",
      },
      outside: {
        message: "This link leads outside the project, so it is skipped.",
        hint: "The files there could change without a review. Copy them into the project.",
      },
      folder: {
        message: "This link leads to a folder, so it is skipped.",
        hint: "Move the folder here, or specify its own path.",
      },
    })[why],
  "file-empty": () => ({ message: "The file is empty.", hint: BEGINNING }),
  "sandbox-seed": () => ({
    message: "This looks like a seed of the sandbox, not a merchant's file.",
    hint: 'Pass it to "rolecall sandbox --seed". A merchant\'s file begins with "version: 1" and "merchant: <your merchant code>".',
  }),
  "file-too-large": ({ limit }) => ({
    message: `The file is larger than ${limit / 1024 / 1024} MiB.`,
    hint: "A file describes one merchant. Check that this is the right file.",
  }),
  "file-too-long": ({ limit }) => ({
    message: `The file has more than ${limit} YAML tokens.`,
    hint: "A file describes one merchant. Check that this is the right file.",
  }),
  "too-many-problems": ({ more }) => ({
    message: more === 1 ? "One more problem is not shown." : `${grouped(more)} more problems are not shown.`,
    hint: "Fix these first, then run again.",
  }),
  "too-many-wrong-values": () => ({
    message: "The file has too many wrong values to list.",
    hint: "Check that this is the right file.",
  }),
  "yaml-syntax": ({ kind }) => SYNTAX[kind] ?? SYNTAX_UNKNOWN,
  "merge-conflict": ({ more }) => ({
    message: `Git left a merge conflict here${more === 0 ? "" : `, and ${more} more in the file`}.`,
    hint: 'Resolve the conflict, and remove the lines that begin with "<<<<<<<", "=======" and ">>>>>>>".',
  }),
  "yaml-documents": () => ({
    message: 'A second YAML document begins here ("---").',
    hint: "A file describes one merchant: remove the line, or move the rest to a separate file.",
  }),
  "yaml-control": ({ character, more }) => ({
    message: `There is an invisible character here: ${character}${more === 0 ? "" : `, and ${more} more in the file`}.`,
    hint: "Remove it, or check that this is a UTF-8 text file.",
  }),
  "yaml-line-end": () => ({
    message: "This line ends in a carriage return (CR) only.",
    hint: "Save the file with LF or CRLF line endings.",
  }),
  "yaml-too-deep": ({ limit }) => ({
    message: `Lists and mappings are nested more than ${limit} levels deep.`,
    hint: "Check the indentation and the brackets.",
  }),
  "yaml-alias": ({ name, circular }) =>
    circular
      ? {
          message: `The alias ${quote(`*${name}`)} is inside the value that it refers to.`,
          hint: "Write the value out.",
        }
      : {
          message: `YAML reads ${quote(`*${name}`)} as an alias, but there is no anchor ${quote(`&${name}`)} before it.`,
          hint: `If the text itself begins with an asterisk, put it in quotes: ${quote(`*${name}`)}.`,
        },
  "yaml-alias-limit": ({ limit }) => ({
    message: `Aliases add more than ${limit} values to this file.`,
    hint: "Write the values out, or use fewer aliases inside anchored values.",
  }),
  "yaml-tag": ({ tag }) => ({
    message: `The tag ${quote(tag)} is not supported.`,
    hint: "Remove it. If the text itself begins with an exclamation mark, put it in quotes.",
  }),
  "yaml-key": () => ({
    message: "A key must be text.",
    hint: 'Write "key: value". If the key begins with "?", "[", "{" or "*", put it in quotes.',
  }),
  "yaml-word": ({ word }) => ({
    message: `A bare ${word} is the text ${quote(word)}, not ${/^(?:yes|on)$/i.test(word) ? "true" : "false"}.`,
    hint: `YAML 1.2 only has true and false. Write one of them, or put the text in quotes: ${quote(word)}.`,
  }),
  "number-form": ({ source, value }) => ({
    message: `${source} is read as the number ${value}.`,
    hint: `Put it in quotes to keep it as written: ${quote(source)}.`,
  }),
  "duplicate-key": ({ key }, first) => ({
    message: `The key ${quote(key)} appears twice; the first is at ${first}.`,
    hint: "Keep one of the two, or merge their values.",
  }),
  "literal-key": () => ({
    message: "This file contains an API key.",
    hint: 'Remove it, and revoke it if anyone else may have read it. Put the new key in an environment variable, and name the variable in "key_env" under "api".',
  }),
};

/** A hint on the first lines of a file. */
export const BEGINNING = 'Begin with "version: 1" and "merchant: <your merchant code>".';

const INDENTATION = "Put each entry on its own line, indented by two spaces more than its parent.";

const SYNTAX_UNKNOWN: MessageText = {
  message: "This is not valid YAML.",
  hint: `Check for a missing quote, colon or bracket here or on the previous line. ${INDENTATION}`,
};

// By the parser's own codes; the vaguest one is divided up.
const SYNTAX: Readonly<Record<string, MessageText>> = {
  BAD_DIRECTIVE: {
    message: "A line that begins with % is a YAML directive, and this directive is not valid.",
    hint: "Remove the line, or put the text in quotes.",
  },
  BAD_DQ_ESCAPE: {
    message: "This escape sequence is not valid in double quotes.",
    hint: "Use single quotes to keep backslashes as they are, or double the backslash.",
  },
  BAD_INDENT: {
    message: "The indentation of this line does not match the lines around it.",
    hint: "Indent all entries of a list or mapping by the same number of spaces, and close every bracket before this line.",
  },
  BAD_SCALAR_START: {
    message: "A text cannot begin with this character unless it is in quotes.",
    hint: 'Put the whole value in double quotes: "…".',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "A second key begins where a value was expected.",
    hint: `If the text has ": " in it, put it in quotes. ${INDENTATION}`,
  },
  BLOCK_IN_FLOW: {
    message: "An indented list or mapping is not allowed inside brackets.",
    hint: "Close the bracket before it, or use brackets for it, too.",
  },
  MISSING_CHAR: {
    message: "Something is missing here, such as a space, a dash or a colon.",
    hint: `Write "key: value" with a space after the colon, and a space before each "#". ${INDENTATION}`,
  },
  MISSING_COLON: {
    message: "A key has no colon, or the indentation of a line does not match its neighbours.",
    hint: 'Write "key: value", with a space after the colon, and indent all keys of an entry equally.',
  },
  MISSING_COMMA: {
    message: "A comma is missing between two entries in brackets.",
    hint: "Write [one, two] for a list and { a: 1, b: 2 } for a mapping.",
  },
  MISSING_DASH: {
    message: "This line does not begin an entry, and its indentation does not match the entry above.",
    hint: 'Begin a new entry with "- ", or align the line with the other keys of its entry.',
  },
  MISSING_SPACE: {
    message: "A space is missing after this key's colon.",
    hint: 'Write "key: value".',
  },
  UNCLOSED_BRACKET: {
    message: "This bracket is never closed.",
    hint: "Add the closing bracket after the last entry.",
  },
  UNCLOSED_QUOTE: {
    message: "This quote is never closed.",
    hint: "Add the closing quote at the end of the text.",
  },
  MULTILINE_IMPLICIT_KEY: {
    message: "A key must be on one line.",
    hint: `Check for a missing colon or quote on the previous line. ${INDENTATION}`,
  },
  TAB_AS_INDENT: {
    message: "A line must not be indented with a tab.",
    hint: "Use spaces instead of the tab.",
  },
  UNEXPECTED_TOKEN: {
    message: "This is unexpected here.",
    hint: `Check for a missing quote or bracket. ${INDENTATION}`,
  },
};
