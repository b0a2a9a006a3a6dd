import { RolecallError } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import { leftOutWith, type Ties, tiesOf } from "../../plan/select.ts";
import { changeId } from "../../render/tui/browse-model.ts";
import type { Browsed } from "../../render/tui/browser.tsx";
import type { OutputOptions } from "../args/options.ts";
import type { Io } from "../io/io.ts";
import { styleFor } from "../io/output.ts";
import { terminalOf } from "../io/terminal.ts";

/**
 * The other screen of the terminal, where lines are cut instead of wrapped, and back to the one that was there: what
 * has scrolled by stays as it was.
 */
const [OTHER_SCREEN, FIRST_SCREEN] = ["\u001b[?1049h\u001b[?7l\u001b[H", "\u001b[?7h\u001b[?1049l"];

/** Throws RolecallError where nobody can browse: there has to be a terminal that can be drawn on. */
export function checkInteractive({ format }: Pick<OutputOptions<string>, "format">, io: Io): void {
  if (format !== "text") {
    throw new RolecallError("usage", `--interactive goes with text, and not with --format ${format}.`);
  }
  const { asks, draws } = terminalOf(io);
  if (asks && draws) return;
  throw new RolecallError(
    "usage",
    asks
      ? "--interactive cannot draw on this terminal: TERM is dumb."
      : "--interactive needs a terminal, and there is none.",
    { hint: "Without --interactive the plan is printed as text." },
  );
}

/** Lets somebody look through plans on the terminal; where `selects`, also leave changes out. */
export async function browsePlans(
  plans: readonly Plan[],
  { selects, color }: { readonly selects: boolean; readonly color: boolean },
  io: Io,
): Promise<Browsed> {
  const { browse } = await import("../../render/tui/browser.tsx");
  const ties = tiesOfAll(plans);
  const style = styleFor(io.stderr, io, color);
  const ended = new AbortController();
  const ignoreSignals = io.onStopSignal(() => ended.abort());
  const back = (): void => io.stderr.write(FIRST_SCREEN);
  // Whatever ends the process, the terminal is given back as it was.
  process.once("exit", back);
  // Before the first drawing: keys that are pressed early shall not be echoed into it.
  process.stdin.setRawMode(true);
  io.stderr.write(OTHER_SCREEN);
  try {
    const leftOut = (chosen: ReadonlySet<string>) => leftOutWith(ties, chosen);
    return await browse({ plans, leftOut, selects, style }, process, ended.signal);
  } finally {
    process.off("exit", back);
    back();
    ignoreSignals();
  }
}

function tiesOfAll(plans: readonly Plan[]): Ties {
  return new Map(
    plans.flatMap(({ merchant, changes }) =>
      [...tiesOf(changes)].map(([fingerprint, ties]) => [
        changeId(merchant, { fingerprint }),
        ties.map(({ dependent, why }) => ({
          dependent: changeId(merchant, { fingerprint: dependent }),
          why,
        })),
      ]),
    ),
  );
}
