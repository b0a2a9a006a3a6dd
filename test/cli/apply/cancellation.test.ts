import { expect, test } from "vitest";
import { createStopper } from "../../../src/cli/apply/cancellation.ts";
import type { Io, StopSignal } from "../../../src/cli/io/io.ts";
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
    leave: ((code: number) => void left.push(code)) as Io["leave"],
  });
  const stopper = createStopper((text) => void said.push(text), io);
  const lose = () => losing.abort({ stream: "stdout", code: "ENOSPC" });
  return {
    stopper,
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
  expect(said).toEqual(["SIGINT: nothing was changed."]);
  expect(left).toEqual([1]);
});

test("Ctrl-C while things change stops what is to come, and nothing is waited for", () => {
  const { stopper, send, left } = start();
  stopper.changing(() => 4);
  send();
  expect(stopper.signal.aborted).toBe(true);
  expect(stopper.hurry.aborted).toBe(true);
  expect(stopper.cause()).toEqual({ by: "signal", signal: "SIGINT" });
  expect(left).toEqual([]);
  send();
  expect(left).toEqual([4]);
});

test("a terminal that is closed stops it like Ctrl-C, however often that is signalled", () => {
  const { stopper, send, left } = start();
  stopper.changing(() => 4);
  send("SIGHUP");
  send("SIGHUP");
  expect(stopper.hurry.aborted).toBe(true);
  expect(stopper.cause()).toEqual({ by: "signal", signal: "SIGHUP" });
  expect(left).toEqual([]);
  send("SIGTERM");
  expect(left).toEqual([4]);
});

test("a merchant that stops lets the others' requests wait as long as they have to, and stays the cause", () => {
  const { stopper, send } = start();
  stopper.changing(() => 4);
  stopper.stop({ by: "merchant", merchant: "MC2" });
  expect(stopper.signal.aborted).toBe(true);
  expect(stopper.hurry.aborted).toBe(false);
  send();
  expect(stopper.cause()).toEqual({ by: "merchant", merchant: "MC2" });
});

test("output that is lost stops what is to come, and lets what is in flight end", () => {
  const { stopper, lose, said, left } = start();
  stopper.changing(() => 4);
  lose();
  expect([stopper.signal.aborted, stopper.hurry.aborted]).toEqual([true, true]);
  expect(stopper.cause()).toEqual({ by: "output", stream: "stdout" });
  expect(said).toEqual(["stdout is lost: nothing new starts; what is in flight ends first."]);
  expect(left).toEqual([]);
});

test("in the end signals are what they were", () => {
  const { stopper, listening } = start();
  stopper.close();
  expect(listening()).toBe(false);
});
