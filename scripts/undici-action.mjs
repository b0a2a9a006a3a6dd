import connect from "undici/lib/api/api-connect.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";

// The package adds its methods to the prototype in the file that is left out here; a proxy needs this one.
Dispatcher.prototype.connect = connect;

export { default as ProxyAgent } from "undici/lib/dispatcher/proxy-agent.js";
export { fetch } from "undici/lib/web/fetch/index.js";
export * from "./undici-pool.mjs";
