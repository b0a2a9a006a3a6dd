#!/usr/bin/env node
import { enableCompileCache } from "./cli/io/compile-cache.ts";

enableCompileCache();
// Static imports would be compiled before the cache is enabled.
await import("./cli/run-program.ts");
