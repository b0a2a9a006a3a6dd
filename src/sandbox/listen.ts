import { createServer, type Server, type ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings, RequestError } from "@hono/node-server";
import { ConnectionLost, problemAnswer, toResponse } from "./answer.ts";
import type { Sandbox } from "./create-sandbox.ts";

/** Where a sandbox listens. */
export interface ListenOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

/** A sandbox that listens. */
export interface Listening {
  /** Without a slash at its end. */
  readonly url: string;
  /** Stops listening and breaks the connections that are still open. */
  close(): Promise<void>;
}

/** Sends what is left of an answer, and breaks the connection. */
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

/** Thrown in place of an answer that is on its way already. */
class AlreadySent extends Error {}

/** Sends an answer without a content type, which the server's library would give one of its own. */
async function sendUntyped(outgoing: ServerResponse, response: Response): Promise<never> {
  const bytes = Buffer.from(await response.arrayBuffer());
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    "content-length": bytes.length,
  });
  outgoing.end(bytes);
  throw new AlreadySent();
}

/** Answers what never became a request that the sandbox could see. */
function withoutAnswer(error: unknown): Response | undefined {
  if (error instanceof ConnectionLost || error instanceof AlreadySent) return undefined;
  const status = error instanceof RequestError ? 400 : 500;
  return toResponse(problemAnswer(status, "The request could not be read.", 0));
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

/** Lets a sandbox answer on a socket; rejects with the system's error where it cannot listen. */
export async function listen(sandbox: Sandbox, options: ListenOptions): Promise<Listening> {
  const answer = async (request: Request, env: HttpBindings): Promise<Response> => {
    try {
      const response = await sandbox.fetch(request);
      const untyped = response.body !== null && !response.headers.has("content-type");
      return untyped ? await sendUntyped(env.outgoing, response) : response;
    } catch (error) {
      if (error instanceof ConnectionLost) breakConnection(env.outgoing, error);
      throw error;
    }
  };
  const listener = getRequestListener((request, env) => answer(request, env as HttpBindings), {
    errorHandler: withoutAnswer,
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
