import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** An HTTP proxy on loopback that opens tunnels. */
export interface ConnectProxy {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** What tunnels were asked for, in order: `HOST:PORT`, and the credentials. */
  readonly asked: readonly { readonly to: string; readonly credentials: string | null }[];
  close(): Promise<void>;
}

/** Where a tunnel leads to, or the status that refuses it. */
export type Route = (to: string, credentials: string | null) => number | { readonly port: number };

/** Starts a proxy; without a route it connects to what is asked for. */
export async function startConnectProxy(
  route: Route = (to) => ({ port: Number(to.split(":").at(-1)) }),
): Promise<ConnectProxy> {
  const asked: { to: string; credentials: string | null }[] = [];
  const open = new Set<Socket>();
  const server: Server = createServer((_, response) => response.writeHead(405).end());
  server.on("connection", (socket) => open.add(socket));
  server.on("connect", ({ url = "", headers }, socket: Socket, head) => {
    const basic = /^Basic (.*)$/.exec(headers["proxy-authorization"] ?? "")?.[1];
    const credentials = basic === undefined ? null : Buffer.from(basic, "base64").toString();
    asked.push({ to: url, credentials });
    const to = route(url, credentials);
    socket.on("error", () => undefined);
    if (typeof to === "number") {
      socket.end(`HTTP/1.1 ${to} No\r\ncontent-length: 2\r\n\r\nno`);
      return;
    }
    const upstream = connect(to.port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    open.add(upstream);
    upstream.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
