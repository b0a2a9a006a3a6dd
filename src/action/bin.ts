import * as core from "@actions/core";
import { nodeIo } from "../cli/node-io.ts";
import { streamSink } from "../cli/standard-sink.ts";
import { runAction } from "./main.ts";

// The toolkit writes to the same streams: everything keeps its order.
const io = nodeIo({
  stdout: (onLost) => streamSink(process.stdout, onLost),
  stderr: (onLost) => streamSink(process.stderr, onLost),
});
await runAction(process.env, io, core);
