import {
  MEMBER_ID,
  MERCHANT,
  NOT_BLANK,
  ONE_LINE,
  PERIOD,
  ROLE_ENTRY,
  ROLE_ID,
  SHARE,
  VARIABLE,
} from "./forms.ts";
import { includeMistake } from "./include-path.ts";
import { MAX_CHECKS, MAX_INCLUDES, MAX_METADATA, MAX_PERMISSIONS } from "./limits.ts";
import type { MerchantFile } from "./schema/merchant-file.ts";
import { mapInSteps, type Steps } from "./steps.ts";
import { parseUntil } from "./until.ts";
import { countOf } from "./values.ts";

/**
 * The file, where it is certainly right; null where the schema has to say. To load the schema and to make it ready takes
 * longer than all else that is done with a file of a usual size. Whatever this takes, the schema takes in the same way.
 */
export function* plainFile(value: unknown): Steps<MerchantFile | null> {
  if (!isMapping(value)) return null;
  const { members = [], ...others } = value;
  if (!hasPlainKeys(others) || !Array.isArray(members)) return null;
  const judged = yield* mapInSteps(members, isMember);
  return judged.includes(false) ? null : (value as MerchantFile);
}

type Check = (value: unknown) => boolean;

const anything: Check = () => true;
const flag: Check = (value) => typeof value === "boolean";
const count: Check = (value) => countOf(value) !== null;
const string: Check = (value) => typeof value === "string";
const text: Check = (value) => typeof value === "string" && NOT_BLANK.test(value) && ONE_LINE.test(value);
const until: Check = (value) => typeof value === "string" && parseUntil(value) !== null;
const includePath: Check = (value) => typeof value === "string" && includeMistake(value) === null;

// In ASCII: the patterns for all scripts take a millisecond to make ready, and are for the schema.
const address = matching(/^(?=.{3,254}$)[\w.+'-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z0-9-]{2,}$/);
const domain = matching(
  /^(?=.{3,255}$)(?:\*\.)?(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,}$/,
);

/** A service that leaves nothing to judge: without user, query, and characters that a URL would write in another way. */
const baseUrl: Check = (value) =>
  typeof value === "string" && /^https?:\/\/[\w.:[\]-]+(?:\/[\w./~%-]*)?$/.test(value) && URL.canParse(value);

function matching(pattern: RegExp): Check {
  return (value) => typeof value === "string" && pattern.test(value);
}

function oneOf(...values: readonly unknown[]): Check {
  return (value) => values.includes(value);
}

function either(...checks: readonly Check[]): Check {
  return (value) => checks.some((check) => check(value));
}

function list(item: Check, most = Number.POSITIVE_INFINITY, least = 0): Check {
  return (value) =>
    Array.isArray(value) && value.length >= least && value.length <= most && value.every((one) => item(one));
}

function record(key: Check, item: Check, most = Number.POSITIVE_INFINITY): Check {
  return (value) => {
    if (!isMapping(value)) return false;
    const keys = Object.keys(value);
    return keys.length <= most && keys.every((one) => one !== "__proto__" && key(one) && item(value[one]));
  };
}

/** A mapping with these keys and no others; any may be left out but those that are needed. */
function mapping(checks: Readonly<Record<string, Check>>, needed: readonly string[] = []): Check {
  const known = new Map(Object.entries(checks));
  return (value) => {
    if (!isMapping(value)) return false;
    for (const key of Object.keys(value)) {
      if (known.get(key)?.(value[key]) !== true) return false;
    }
    return needed.every((key) => Object.hasOwn(value, key));
  };
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const texts = list(text);
const modes = oneOf("authoritative", "additive");
const metadata = record(string, anything, MAX_METADATA);

const role = mapping(
  {
    name: text,
    description: string,
    permissions: list(text, MAX_PERMISSIONS),
    metadata,
    previously: text,
    id: matching(ROLE_ID),
  },
  ["name"],
);

const isMember = mapping(
  {
    email: address,
    roles: list(either(text, mapping({ role: text, until }, ["role"]))),
    until,
    metadata,
    managed: mapping({ nickname: text, password_env: matching(VARIABLE) }, ["password_env"]),
    id: matching(MEMBER_ID),
  },
  ["email"],
);

const check = either(
  mapping({ can: text, only: list(either(address, matching(ROLE_ENTRY))) }, ["can", "only"]),
  mapping({ can: text, at_most: count }, ["can", "at_most"]),
  mapping({ member: address, cannot: texts }, ["member", "cannot"]),
);

/** All but the members, who may be many. */
const hasPlainKeys = mapping(
  {
    version: oneOf(1),
    merchant: matching(MERCHANT),
    environment: oneOf("live", "test"),
    api: mapping({ base_url: baseUrl, key_env: matching(VARIABLE) }),
    include: list(includePath, MAX_INCLUDES),
    sync: mapping({
      roles: modes,
      members: modes,
      reinvite: either(flag, mapping({ for: matching(PERIOD) }, ["for"])),
      replace_roles: flag,
    }),
    ignore: mapping({ roles: texts, members: texts }),
    guards: mapping({
      max_removals: either(count, matching(SHARE)),
      protect: mapping({ roles: texts, members: texts }),
      min_holders: record(text, count),
    }),
    policies: mapping({
      email_domains: list(domain),
      separate: list(list(text, Number.POSITIVE_INFINITY, 2)),
      max_holders: record(text, count),
      require_until: texts,
      require_mfa: texts,
      forbid_permissions: texts,
    }),
    checks: list(check, MAX_CHECKS),
    roles: list(role),
  },
  ["version"],
);
