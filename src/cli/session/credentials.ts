import type { Addressed, Environment } from "../../model/desired.ts";
import { RolecallError } from "../../model/errors.ts";
import { normalizeServiceUrl } from "../../plan/service-url.ts";
import type { Io } from "../io/io.ts";

/** The connection of one merchant to its service. */
export interface Connection {
  /** Normalised URL. */
  readonly baseUrl: string;
  /** Origin of the URL: the option, the file or the environment variable. */
  readonly baseUrlSource: string;
  readonly key: string;
  /** Name of the environment variable that held the key. */
  readonly keySource: string;
  /** The file's environment, else that of the key's prefix; `null` if unknown. */
  readonly environment: Environment | null;
}

/**
 * Resolves the base URL and key of a merchant from the option, the file and the environment. Messages never contain the
 * key.
 */
export function resolveConnection(state: Addressed, option: string | undefined, env: Io["env"]): Connection {
  const [baseUrl, baseUrlSource] = baseUrlOf(state, option, env);
  if (!baseUrl) {
    throw new RolecallError("base-url-missing", `No base URL is configured for ${state.merchant}.`, {
      hint: "Set ROLECALL_BASE_URL, pass --base-url, or write api.base_url into the file.",
    });
  }
  const { key, keySource } = keyFor(state, env);
  return {
    baseUrl: normalizeServiceUrl(baseUrl),
    baseUrlSource,
    key,
    keySource,
    environment: agreedEnvironment(state, key, keySource),
  };
}

function baseUrlOf(
  { baseUrl, origin }: Addressed,
  option: string | undefined,
  env: Io["env"],
): readonly [url: string | undefined, source: string] {
  if (option !== undefined) return [option, "--base-url"];
  if (baseUrl !== undefined) return [baseUrl, `api.base_url in ${origin.file}`];
  return [env["ROLECALL_BASE_URL"], "ROLECALL_BASE_URL"];
}

/** Returns the environment variables for a merchant's key, in order of precedence. */
export function keyVariables({
  merchant,
  keyEnv,
}: Pick<Addressed, "merchant" | "keyEnv">): readonly string[] {
  const own = `ROLECALL_API_KEY_${merchant.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
  return keyEnv ? [keyEnv] : [own, "ROLECALL_API_KEY"];
}

function keyFor(state: Addressed, env: Io["env"]): { key: string; keySource: string } {
  const { merchant } = state;
  const candidates = keyVariables(state);
  const keySource = candidates.find((name) => env[name]);
  const key = keySource && env[keySource]?.trim();
  if (!keySource || !key) {
    throw new RolecallError("key-missing", `There is no API key for ${merchant}.`, {
      hint: `Set the environment variable ${candidates.join(", or ")}.`,
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new RolecallError("key-malformed", `The API key in ${keySource} has characters that no key has.`, {
      hint: "Copy it again; a stray space, quote or line break is the usual cause.",
    });
  }
  return { key, keySource };
}

function agreedEnvironment(state: Addressed, key: string, keySource: string): Environment | null {
  const ofKey = key.startsWith("sk_live_") ? "live" : key.startsWith("sk_test_") ? "test" : null;
  if (state.environment && ofKey && state.environment !== ofKey) {
    throw new RolecallError(
      "key-environment",
      `${state.merchant} is declared "environment: ${state.environment}", but ${keySource} holds a ${ofKey} key.`,
      { hint: `Use a key of the ${state.environment} environment, or correct the file.` },
    );
  }
  return state.environment ?? ofKey;
}
