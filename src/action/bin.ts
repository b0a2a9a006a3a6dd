import * as core from "@actions/core";
import { nodeIo } from "../cli/io/node-io.ts";
import { runAction } from "./main.ts";

await runAction(process.env, nodeIo(), core);
