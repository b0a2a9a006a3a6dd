import { error, info, notice, setFailed, setOutput, setSecret, warning } from "@actions/core";
import { nodeIo } from "../app/io/node-io.ts";
import { runAction } from "./run-action.ts";

/** The entry point of the bundle; tests run the action within their own process. */
const io = nodeIo();
// By name, so that the bundle does not evaluate the rest of the toolkit.
await runAction(io.env, io, { error, info, notice, setFailed, setOutput, setSecret, warning });
