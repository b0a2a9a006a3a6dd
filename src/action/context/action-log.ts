import type { AnnotationProperties } from "@actions/core";
import type { TextWriter } from "../../app/io/io.ts";
import { oneLine, withoutCommand } from "../../lib/escape.ts";
import { counted } from "../../lib/text.ts";

export type AnnotationLevel = "error" | "warning" | "notice";

export interface Annotation {
  readonly level: AnnotationLevel;
  readonly message: string;
  readonly hint: string | null;
  readonly title: string;
  readonly file: string | null;
  readonly line: number | null;
}

/** The toolkit's logging functions, which escape their arguments. */
export interface RunnerLog {
  info(text: string): void;
  error(text: string, properties?: AnnotationProperties): void;
  warning(text: string, properties?: AnnotationProperties): void;
  notice(text: string, properties?: AnnotationProperties): void;
}

/** GitHub's limit per level and step. */
const MAX_ANNOTATIONS = 10;
const MAX_CHARACTERS = 4000;

/** Creates a stream whose lines cannot be workflow commands. */
export function safeSink(log: Pick<RunnerLog, "info">): TextWriter {
  return {
    isTTY: false,
    columns: undefined,
    write: (text) => {
      const lines = text.split(/\r\n|[\r\n\u2028\u2029]/);
      if (lines.at(-1) === "") lines.pop();
      for (const line of lines) log.info(withoutCommand(line));
    },
  };
}

/** Returns a log that receives converted texts. */
export function convertedLog(log: RunnerLog, convert: (text: string) => string): RunnerLog {
  return {
    info: (text) => log.info(convert(text)),
    error: (text, properties) => log.error(convert(text), properties),
    warning: (text, properties) => log.warning(convert(text), properties),
    notice: (text, properties) => log.notice(convert(text), properties),
  };
}

/** Logs the first annotations of each level and counts the rest. */
export function annotate(annotations: readonly Annotation[], log: RunnerLog): void {
  const rest: string[] = [];
  for (const level of ["error", "warning", "notice"] as const) {
    const ofLevel = annotations.filter((annotation) => annotation.level === level);
    // One notice is reserved for the count of the rest.
    const most = level === "notice" ? MAX_ANNOTATIONS - 1 : MAX_ANNOTATIONS;
    for (const { message, hint, title, file, line } of ofLevel.slice(0, most)) {
      const text = hint === null ? [message] : [message, hint];
      log[level](text.map((part) => cut(oneLine(part))).join("\n"), {
        title: oneLine(title),
        ...(file !== null && { file: oneLine(file) }),
        ...(line !== null && { startLine: line }),
      });
    }
    if (ofLevel.length > most) rest.push(counted(ofLevel.length - most, `more ${level}`));
  }
  if (rest.length > 0) log.notice(`${rest.join(" and ")}: the job summary has all of them.`);
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
