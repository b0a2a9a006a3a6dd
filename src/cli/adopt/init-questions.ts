import type { Io } from "../../app/io/io.ts";
import { openScreen, styleFor, terminalOf } from "../../app/io/terminal.ts";
import { announceIfSlow } from "../../app/progress/service-log.ts";
import type { ServiceOptions } from "../../app/project/command-options.ts";
import { type Connection, isKey, resolveOwnConnection } from "../../app/session/connection.ts";
import type { Services } from "../../app/session/services.ts";
import type { SharedRoles } from "../../edit/adopt/share-roles.ts";
import { MERCHANT, VARIABLE } from "../../kernel/values/text-schemas.ts";
import { oneLine } from "../../lib/escape.ts";
import { by, counted } from "../../lib/text.ts";
import type { SuggestedRule } from "../../model/coverage.ts";
import type { SyncMode } from "../../model/desired.ts";
import { RolecallError, rolecallErrorOf } from "../../model/errors.ts";
import type { Membership } from "../../model/live.ts";
import { checkBaseUrl } from "../../service/paths.ts";
import { suggestionYaml } from "../../show/questions/coverage-view.ts";
import type { Choice, ListQuestion } from "../../show/screen/browse/list-prompt.tsx";
import { hangingLines } from "../../show/text/wrap.ts";
import { readLine } from "../review/confirm-apply.ts";
import { readMemberships } from "../show/show-memberships.ts";

/** The options of `init`. */
export type InitCommandOptions = Omit<ServiceOptions, "shard"> & {
  readonly all?: true;
  readonly keyEnv?: string;
  readonly sync?: SyncMode;
  readonly shareRoles?: true;
  readonly rules?: true;
  readonly workflows?: true;
  readonly vendor?: true;
  readonly codeowners?: string;
  readonly yes?: true;
  readonly color: boolean;
};

/** A question with a line of text as its answer. */
interface TextQuestion {
  readonly title: string;
  /** The answer that Enter alone gives; `null` if there is none. */
  readonly proposed: string | null;
  /** Returns why a text is not a valid answer; `null` if it is one. */
  readonly problem: (text: string) => string | null;
}

/** Asks on the terminal; every question throws RolecallError if the user leaves it. */
export interface Interview {
  text(question: TextQuestion): Promise<string>;
  /** Resolves to the indexes of the ticked choices, at least one. */
  several(question: ListQuestion): Promise<readonly number[]>;
  /** Resolves to the index of the choice. */
  one(title: string, choices: readonly Choice[]): Promise<number>;
}

/** Returns a way to ask questions; null if there is no terminal for it, or `yes` forbids them. */
export function openInterview(
  { yes, color }: { readonly yes?: true; readonly color: boolean },
  io: Io,
): Interview | null {
  const { asks, draws } = terminalOf(io);
  if (yes || !asks || !draws) return null;
  const style = styleFor(io.stderr, io, color);
  const { stderr, terminal } = io;
  const several = async (question: ListQuestion): Promise<readonly number[]> => {
    const { answerLines, askList } = await import("../../show/screen/browse/list-prompt.tsx");
    const close = openScreen(io);
    const answer = await askList(question, style, terminal).finally(close);
    stderr.write(`${answerLines(question, answer, style).join("\n")}\n`);
    return answered(answer);
  };
  return {
    async text({ title, proposed, problem }) {
      const question = `${title}${proposed === null ? "" : ` [${proposed}]`}:`;
      const prompt = `${hangingLines(question, style.columns, "", "").join("\n")} `;
      for (;;) {
        const typed = answered(await readLine(prompt, io)).trim();
        const text = typed === "" && proposed !== null ? proposed : typed;
        const objection = problem(text);
        if (objection === null) return text;
        stderr.write(`${style.yellow(hangingLines(objection, style.columns, "", "").join("\n"))}\n`);
      }
    },
    several,
    one: async (title, choices) => (await several({ title, choices, single: true }))[0] ?? 0,
  };
}

function answered<T>(answer: T | null): T {
  if (answer !== null) return answer;
  throw new RolecallError("confirmation-needed", "Cancelled: nothing was written.");
}

/** Asks for the base URL. */
function askBaseUrl(interview: Interview): Promise<string> {
  return interview.text({
    title: "Base URL of the service (https://…)",
    proposed: null,
    problem: (text) => failureOf(() => checkBaseUrl(text)),
  });
}

/** Asks for the name of the variable that holds the key. */
function askKeyVariable(interview: Interview, env: Io["env"]): Promise<string> {
  return interview.text({
    title: "Name of the variable with the API key",
    proposed: "ROLECALL_API_KEY",
    problem: (name) => {
      if (isKey(name)) return "This is a key: enter the name of its variable.";
      if (!VARIABLE.test(name)) return "This is not the name of an environment variable.";
      // Not repeated, since it may be a key.
      return env[name]
        ? null
        : "No variable of this name is set. Enter the name of another one, not the key itself; or press Ctrl-C, set it, and run init again.";
    },
  });
}

function failureOf(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return rolecallErrorOf(error).message;
  }
}

/** Chooses the service and the key; asks for what neither an option nor the environment gives. */
export async function chooseConnection(
  options: InitCommandOptions,
  interview: Interview | null,
  io: Io,
): Promise<Connection> {
  const { baseUrl: givenUrl, keyEnv: givenVariable } = options;
  const needsUrl = givenUrl === undefined && !io.env["ROLECALL_BASE_URL"];
  const needsKey = givenVariable === undefined && !io.env["ROLECALL_API_KEY"];
  // First, since a key that is not set yet ends the interview.
  const keyEnv = needsKey && interview ? await askKeyVariable(interview, io.env) : givenVariable;
  const baseUrl = needsUrl && interview ? await askBaseUrl(interview) : givenUrl;
  return resolveOwnConnection(
    { ...(baseUrl !== undefined && { baseUrl }), ...(keyEnv !== undefined && { keyEnv }) },
    io.env,
  );
}

/** The context of choosing merchants. */
export interface Choosing {
  readonly options: InitCommandOptions;
  readonly interview: Interview | null;
  readonly connection: Connection;
  readonly services: Services;
  /** Merchant → its file. */
  readonly declared: ReadonlyMap<string, string>;
}

/** Chooses the merchants to write files for; none if all have one. */
export async function chooseMerchants(choosing: Choosing, io: Io): Promise<readonly string[]> {
  const { options, declared } = choosing;
  const chosen = options.merchant.length > 0 ? [...new Set(options.merchant)] : await offered(choosing, io);
  for (const code of chosen) {
    if (!MERCHANT.test(code)) {
      throw new RolecallError("usage", `"${oneLine(code)}" is not a merchant code.`, {
        hint: "A code has 1 to 64 letters, digits, hyphens and underscores, such as MC4F7K2P.",
      });
    }
  }
  for (const code of options.merchant.filter((code) => declared.has(code))) {
    io.stderr.write(`${code} already has a file: ${oneLine(declared.get(code) ?? "")}.\n`);
  }
  return chosen.filter((code) => !declared.has(code));
}

/** Returns the chosen ones of the merchants that the key can access; without memberships, those that are typed. */
async function offered(
  { options, interview, connection, services, declared }: Choosing,
  io: Io,
): Promise<readonly string[]> {
  const listed = await listMerchants({ options, connection, services }, io);
  const memberships = listed ?? [];
  const undeclared = memberships.filter(({ resource }) => !declared.has(resource.id));
  if (undeclared.length === 0 && memberships.length > 0) return [];
  if (options.all && undeclared.length > 0) return undeclared.map(({ resource }) => resource.id);
  if (interview === null) {
    const none =
      listed === null
        ? "--all selects none, since the key's merchants are unknown."
        : "No merchant without a file is among the key's memberships.";
    const reason = options.all ? none : "No merchant is selected, and there is no terminal to ask on.";
    throw new RolecallError("usage", reason, {
      hint:
        undeclared.length === 0
          ? "Name one: rolecall init CODE."
          : `Pass --all, or codes: the key can access ${counted(undeclared.length, "merchant")}, such as ${oneLine(undeclared[0]?.resource.id ?? "")}.`,
    });
  }
  if (undeclared.length === 0) {
    const text = await interview.text({
      title: "Merchant codes, separated by spaces",
      proposed: null,
      problem: (codes) =>
        codes.split(/[\s,]+/).every((code) => MERCHANT.test(code)) ? null : "Enter codes such as MC4F7K2P.",
    });
    return [...new Set(text.split(/[\s,]+/))];
  }
  const chosen = await interview.several({
    title: "Which merchants?",
    choices: undeclared.map(({ resource }) => ({
      label: resource.id,
      note: [resource.name, resource.sandbox ? "test account" : ""].filter((part) => part !== "").join(", "),
    })),
    ...(undeclared.length === 1 && { ticked: [0] }),
  });
  return chosen.flatMap((index) => undeclared[index]?.resource.id ?? []);
}

/**
 * Lists the merchants among the key's memberships, by code: those with an accepted membership, since no other gives
 * access; `null` if the key is not tied to a user, or the service does not list memberships.
 */
async function listMerchants(
  { options, connection, services }: Pick<Choosing, "options" | "connection" | "services">,
  io: Io,
): Promise<readonly Membership[] | null> {
  try {
    const filter = { type: "merchant", status: "accepted" } as const;
    const memberships = await announceIfSlow("Reading the key's memberships …", io, () =>
      readMemberships(connection, filter, services),
    );
    const byCode = new Map(memberships.map((membership) => [membership.resource.id, membership]));
    return [...byCode.values()].sort(by(({ resource }) => resource.id));
  } catch (error) {
    if (!(error instanceof RolecallError) || ["network", "timeout", "unauthorized"].includes(error.code))
      throw error;
    const style = styleFor(io.stderr, io, options.color);
    const reason = `The key's merchants cannot be listed. ${oneLine(error.message)}`;
    io.stderr.write(`${hangingLines(reason, style.columns, "", "  ").join("\n")}\n`);
    return null;
  }
}

const SYNC_MODES = [
  { mode: "authoritative", note: "an apply removes what is not listed" },
  { mode: "additive", note: "what is not listed is left alone" },
] as const;

/** Chooses the treatment of live entries that a file does not list. */
export async function chooseSync(interview: Interview | null): Promise<SyncMode> {
  const choices = SYNC_MODES.map(({ mode, note }) => ({ label: mode, note }));
  const chosen =
    interview === null
      ? 0
      : await interview.one("How should live entries that a file does not list be treated?", choices);
  return SYNC_MODES[chosen]?.mode ?? "authoritative";
}

/** Chooses whether to share roles. */
export async function choosesShared(
  shared: SharedRoles | null,
  sharedFile: string,
  { shareRoles: isAsked }: InitCommandOptions,
  interview: Interview | null,
): Promise<boolean> {
  if (shared === null || isAsked) return isAsked === true;
  return agrees(interview, `Share ${sharedText(shared)} in ${sharedFile}?`);
}

/** Describes roles that merchants share, as in "2 roles of 3 merchants (1 with adjustments)". */
export function sharedText({ roles, merchants }: SharedRoles): string {
  const adjusted = [...merchants.values()].filter(({ adjustments }) => adjustments.length > 0).length;
  const but = adjusted === 0 ? "" : ` (${adjusted} with adjustments)`;
  return `${counted(roles.length, "role")} of ${counted(merchants.size, "merchant")}${but}`;
}

/** Chooses whether to write rules that the live access meets, by merchant. */
export async function choosesRules(
  rules: readonly SuggestedRule[],
  { rules: isAsked }: InitCommandOptions,
  interview: Interview | null,
): Promise<boolean> {
  const [first] = rules;
  if (first === undefined || isAsked) return isAsked === true;
  const { section, yaml } = suggestionYaml(first);
  const example = `${section}: ${yaml.replace(/^- /, "")}`;
  return agrees(
    interview,
    `Write ${counted(rules.length, "rule")} that today's access meets, such as ${example}?`,
  );
}

/** Asks a question with yes and no; no without a terminal. */
export async function agrees(interview: Interview | null, title: string): Promise<boolean> {
  if (interview === null) return false;
  return (await interview.one(title, [{ label: "no" }, { label: "yes" }])) === 1;
}
