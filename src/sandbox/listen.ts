import { createServer, type Server, type ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import type { Sandbox } from "./create-sandbox.ts";
import { ConnectionLost, problemResponse, toResponse } from "./http/response.ts";

/** Address to listen on. */
export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/** A listening sandbox. */
export interface Listening {
  /** Without a trailing slash. */
  readonly url: string;
  /** Stops listening and destroys open connections. */
  close(): Promise<void>;
}

/** Sends the partial response, if any, and destroys the connection. */
function breakConnection(outgoing: ServerResponse, { partial }: ConnectionLost): void {
  if (partial === null) {
    outgoing.destroy();
    return;
  }
  if (typeof partial === "string") {
    outgoing.socket?.write(partial, () => outgoing.destroy());
    return;
  }
  outgoing.writeHead(partial.status, {
    ...(partial.contentType !== null && { "content-type": partial.contentType }),
    "content-length": partial.length,
  });
  outgoing.write(partial.text, () => outgoing.destroy());
}

/** Thrown instead of returning a response that has been written to the socket already. */
class AlreadySent extends Error {}

/** Sends a response without a content type; the server library would add a default. */
async function sendUntyped(outgoing: ServerResponse, response: Response): Promise<never> {
  const bytes = Buffer.from(await response.arrayBuffer());
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    "content-length": bytes.length,
  });
  outgoing.end(bytes);
  throw new AlreadySent();
}

/** Returns the response to a request that could not be parsed; undefined if the socket has been dealt with. */
function errorResponse(error: unknown): Response | undefined {
  if (error instanceof ConnectionLost || error instanceof AlreadySent) return undefined;
  const status = error instanceof RequestError ? 400 : 500;
  return toResponse(problemResponse(status, "The request could not be read.", 0));
}

function started(server: Server, { host, port }: ListenOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** Serves a sandbox on a socket; rejects with the system error if it cannot listen. */
export async function listen(sandbox: Sandbox, options: ListenOptions): Promise<Listening> {
  const respond = async (request: Request, env: HttpBindings): Promise<Response> => {
    try {
      const response = await sandbox.fetch(request);
      const untyped = response.body !== null && !response.headers.has("content-type");
      return untyped ? await sendUntyped(env.outgoing, response) : response;
    } catch (error) {
      if (error instanceof ConnectionLost) breakConnection(env.outgoing, error);
      throw error;
    }
  };
  const listener = getRequestListener((request, env) => respond(request, env as HttpBindings), {
    errorHandler: errorResponse,
  });
  const server = createServer(listener);
  const port = await started(server, options);
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
