import * as core from "@actions/core";
import { nodeIo } from "../cli/io/node-io.ts";
import { runAction } from "./run-action.ts";

/** The entry point of the bundle; tests run the action within their own process. */
const io = nodeIo();
await runAction(io.env, io, core);
