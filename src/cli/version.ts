import packageJson from "../../package.json" with { type: "json" };

/** rolecall's own version. */
export const VERSION: string = packageJson.version;
