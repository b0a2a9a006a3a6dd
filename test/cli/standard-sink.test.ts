import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { standardSink, streamSink } from "../../src/cli/standard-sink.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rolecall-sink-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const never = (): never => {
  throw new Error("the stream was opened");
};

const neverLost = (code: string): void => {
  throw new Error(`${code}: the output was lost`);
};

/** A stream and what has been written to it. */
function heard(): { readonly stream: NodeJS.WriteStream; text(): string } {
  const stream = new PassThrough();
  return {
    stream: stream as unknown as NodeJS.WriteStream,
    text: () => (stream.read() as Buffer | null)?.toString() ?? "",
  };
}

test("little goes to a file without a stream", () => {
  const file = join(folder, "out");
  const fd = openSync(file, "w");
  const sink = standardSink(fd, never, neverLost);
  sink.write("1 file ");
  sink.write("válid.\n");
  closeSync(fd);
  expect(readFileSync(file, "utf8")).toBe("1 file válid.\n");
  expect([sink.isTTY, sink.columns]).toEqual([false, undefined]);
});

test("much goes through the stream, and so does all that follows", () => {
  const file = join(folder, "out");
  const fd = openSync(file, "w");
  const { stream, text } = heard();
  const sink = standardSink(fd, () => stream, neverLost);
  sink.write("a".repeat(3000));
  sink.write("b".repeat(3000));
  sink.write("c");
  closeSync(fd);
  expect(readFileSync(file, "utf8")).toBe("a".repeat(3000));
  expect(text()).toBe(`${"b".repeat(3000)}c`);
});

test("what a full pipe does not take goes through the stream", () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  expect(() => {
    for (;;) writeSync(fd, "x".repeat(4096));
  }).toThrow("EAGAIN");
  const { stream, text } = heard();
  const sink = standardSink(fd, () => stream, neverLost);
  sink.write("1 file valid.\n");
  sink.write("more\n");
  closeSync(fd);
  expect(text()).toBe("1 file valid.\nmore\n");
});

test("a file or pipe that takes nothing more is told once, and nothing else is written to it", () => {
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const fd = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  closeSync(reader);
  const lost: string[] = [];
  const sink = standardSink(fd, never, (code) => void lost.push(code));
  sink.write("1 file valid.\n");
  sink.write("more\n");
  closeSync(fd);
  expect(lost).toEqual(["EPIPE"]);
});

test("a stream that fails is told once, and nothing else is written to it", () => {
  const { stream, text } = heard();
  const lost: string[] = [];
  const sink = streamSink(stream, (code) => void lost.push(code));
  stream.emit("error", Object.assign(new Error("no space left"), { code: "ENOSPC" }));
  stream.emit("error", new Error("again"));
  sink.write("more");
  expect([lost, text()]).toEqual([["ENOSPC"], ""]);
});
