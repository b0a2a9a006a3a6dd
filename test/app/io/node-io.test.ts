import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { textWriter } from "../../../src/app/io/node-io.ts";

test("a stream that fails is reported once, and nothing else is written to it", () => {
  const stream = new PassThrough();
  const lost: string[] = [];
  const sink = textWriter(stream as unknown as NodeJS.WriteStream, (code) => void lost.push(code));
  sink.write("1 file válid.\n");
  stream.emit("error", Object.assign(new Error("no space left"), { code: "ENOSPC" }));
  stream.emit("error", new Error("again"));
  sink.write("more");
  expect([lost, String(stream.read())]).toEqual([["ENOSPC"], "1 file válid.\n"]);
});
