import { LostResponse, type OpenTransport } from "../../src/service/http/transport.ts";

/** A transport that hands each request to a handler in this process; where the handler rejects, the connection broke. */
export function inProcess(fetch: (request: Request) => Promise<Response>): OpenTransport {
  return {
    close: async () => undefined,
    async send({ method, path, headers, body, signal }) {
      signal?.throwIfAborted();
      const request = new Request(`http://127.0.0.1${path}`, {
        method,
        headers,
        ...(body !== undefined && { body }),
      });
      try {
        const response = await fetch(request);
        return {
          status: response.status,
          header: (name) => response.headers.get(name) ?? undefined,
          body: await response.text(),
        };
      } catch (error) {
        throw error instanceof LostResponse
          ? error
          : new LostResponse("network", "the connection to 127.0.0.1 broke", true, error);
      }
    },
  };
}
