import { runBundled } from "./run-bundled.mjs";

/** `npm run chaos -- --runs N --seed S`: applies generated files through faults, signals and kills. */
await runBundled("test/chaos/main.ts");
