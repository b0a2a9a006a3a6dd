import * as core from "@actions/core";
import { nodeIo } from "../cli/node-io.ts";
import { streamSink } from "../cli/standard-sink.ts";
import { runAction } from "./main.ts";

// The toolkit writes to the same streams: everything keeps its order.
const io = nodeIo({ stdout: streamSink(process.stdout), stderr: streamSink(process.stderr) });
await runAction(process.env, io, core);
