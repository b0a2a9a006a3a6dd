import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { locate } from "../../config/yaml/locate.ts";
import type { Origin } from "../../model/desired.ts";
import type { Io } from "../io/io.ts";
import { type FileTimes, gitTimes } from "./git-times.ts";

/** A file as it is, and when its lines were last committed. */
export interface History {
  readonly text: string;
  readonly times: FileTimes;
}

/** Reads a file, and asks git about it. */
export async function readHistory(file: string, { cwd, now }: Pick<Io, "cwd" | "now">): Promise<History> {
  const [text, times] = await Promise.all([readFile(resolve(cwd, file), "utf8"), gitTimes(file, cwd, now())]);
  return { text, times };
}

/** When an entry was last committed, in milliseconds since the epoch; null: unknown. */
export function entryTime({ text, times }: History, { path }: Pick<Origin, "path">): number | null {
  const span = locate(text, path);
  return span ? times.lines(span.line, span.endLine) : null;
}

/** Reads the time of an entry: git is asked about each file once. */
export function entryTimes(io: Pick<Io, "cwd" | "now">): (origin: Origin) => Promise<number | null> {
  const histories = new Map<string, Promise<History>>();
  return async (origin) => {
    const { file } = origin;
    const history = histories.get(file) ?? readHistory(file, io);
    histories.set(file, history);
    return entryTime(await history, origin);
  };
}
