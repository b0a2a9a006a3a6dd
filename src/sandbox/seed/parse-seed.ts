import { checkSeed } from "./check-seed.ts";
import { type DocumentForm, parseAs } from "./parse-document.ts";
import { type Seed, seedSchema } from "./seed-schema.ts";

const MERCHANT_FILE =
  'this looks like a merchant\'s file, for validate, plan and apply; a seed begins with "merchants:"';

/** A merchant's file has one merchant where a seed has many. */
function isMerchantFile(value: unknown): boolean {
  return typeof value === "object" && value !== null && "merchant" in value && !("merchants" in value);
}

const FORM: DocumentForm<Seed> = {
  schema: seedSchema,
  empty: 'the file is empty; a seed begins with "merchants:"',
  mistaken: (value) => (isMerchantFile(value) ? { key: "merchant", message: MERCHANT_FILE } : null),
  check: checkSeed,
};

/** Reads a seed; throws `DocumentInvalid` with every problem and its place. */
export function parseSeed(text: string): Seed {
  return parseAs(text, FORM);
}
