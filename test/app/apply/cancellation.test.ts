import { expect, test } from "vitest";
import { createCancellation } from "../../../src/app/apply/cancellation.ts";
import type { Io, StopSignal } from "../../../src/app/io/io.ts";
import { testIo } from "../../support/io.ts";

function start() {
  const said: string[] = [];
  const left: number[] = [];
  let listen: Parameters<Io["onStopSignal"]>[0] = () => undefined;
  let listening = true;
  const losing = new AbortController();
  const { io } = testIo({
    outputLost: losing.signal,
    onStopSignal: (listener) => {
      listen = listener;
      return () => {
        listening = false;
      };
    },
    exit: ((code: number) => void left.push(code)) as Io["exit"],
  });
  const cancellation = createCancellation((text) => void said.push(text), io);
  const lose = () => losing.abort({ stream: "stdout", code: "ENOSPC" });
  return {
    cancellation,
    said,
    left,
    lose,
    send: (signal: StopSignal = "SIGINT") => listen(signal),
    listening: () => listening,
  };
}

test("Ctrl-C while it reads or asks leaves at once with 1, and says that nothing was changed", () => {
  const { send, said, left } = start();
  send();
  expect(said).toEqual(["Interrupted. Nothing was changed."]);
  expect(left).toEqual([1]);
});

test("Ctrl-C during an apply starts no other change, and ends all waits", () => {
  const { cancellation, send, left } = start();
  cancellation.onForcedExit(() => 4);
  send();
  expect(cancellation.signal.aborted).toBe(true);
  expect(cancellation.cancelled.aborted).toBe(true);
  expect(cancellation.cause()).toEqual({ by: "signal", signal: "SIGINT" });
  expect(left).toEqual([]);
  send();
  expect(left).toEqual([4]);
});

test("a terminal that is closed stops it like Ctrl-C, however often that is signalled", () => {
  const { cancellation, send, left } = start();
  cancellation.onForcedExit(() => 4);
  send("SIGHUP");
  send("SIGHUP");
  expect(cancellation.cancelled.aborted).toBe(true);
  expect(cancellation.cause()).toEqual({ by: "signal", signal: "SIGHUP" });
  expect(left).toEqual([]);
  send("SIGTERM");
  expect(left).toEqual([4]);
});

test("a merchant that stops does not cut the waits of the others, and stays the cause", () => {
  const { cancellation, send } = start();
  cancellation.onForcedExit(() => 4);
  cancellation.stop({ by: "merchant", merchant: "MC2" });
  expect(cancellation.signal.aborted).toBe(true);
  expect(cancellation.cancelled.aborted).toBe(false);
  send();
  expect(cancellation.cause()).toEqual({ by: "merchant", merchant: "MC2" });
});

test("lost output stops the apply after the writes in flight", () => {
  const { cancellation, lose, said, left } = start();
  cancellation.onForcedExit(() => 4);
  lose();
  expect([cancellation.signal.aborted, cancellation.cancelled.aborted]).toEqual([true, true]);
  expect(cancellation.cause()).toEqual({ by: "output", stream: "stdout" });
  expect(said).toEqual(["stdout is closed: nothing new starts; requests in flight finish first."]);
  expect(left).toEqual([]);
});

test("restores the signal handlers at the end", () => {
  const { cancellation, listening } = start();
  cancellation.close();
  expect(listening()).toBe(false);
});
