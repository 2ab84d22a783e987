/** Watches sockets and listening servers, both TCP and local ones, on both sides of a connection. */

import { subscribe } from "node:diagnostics_channel";
import { type AddressInfo, Server, Socket } from "node:net";
import { currentScope, type Scope, watch } from "./scope.ts";
import { seeCalls } from "./wrap.ts";

/** The servers that listen in this process, each with the scope that created it. */
const listening = new Map<Server, Scope>();

export function watchSockets(): void {
  seeCalls(Server.prototype, "listen", (server) => {
    if (!(server instanceof Server)) return;
    const scope = currentScope();
    if (scope !== undefined) listening.set(server, scope);
    watch({
      describe: () => `a listening server: ${addressOf(server)}`,
      isOver: () => !server.listening,
      endsLater: true,
    });
  });
  seeCalls(Socket.prototype, "connect", (socket) => {
    if (!(socket instanceof Socket)) return;
    const scope = currentScope();
    let port: number | undefined;
    socket.once("connect", () => {
      port = socket.remotePort;
    });
    watch({
      describe: () => `a socket: connected to ${socket.remoteAddress ?? "a local path"} ${port ?? ""}`.trimEnd(),
      isOver: () => socket.destroyed || isKeptForOther(port, scope),
      mayBeShared: () => isIdle(socket),
      endsLater: true,
    });
  });
  subscribe("net.server.socket", (message) => {
    if (typeof message !== "object" || message === null || !("socket" in message)) return;
    const { socket } = message;
    if (!(socket instanceof Socket)) return;
    watch({
      describe: () => `a socket: accepted on port ${socket.localPort ?? "(local path)"}`,
      isOver: () => socket.destroyed,
      endsLater: true,
    });
  });
}

/**
 * Whether the connection goes to a server of another scope. An HTTP client keeps such a connection for its next
 * request, and it ends with that server.
 */
function isKeptForOther(port: number | undefined, scope: Scope | undefined): boolean {
  for (const [server, owner] of listening) {
    if (!server.listening) listening.delete(server);
    else if (owner !== scope && isAddressInfo(server.address()) && portOf(server) === port) return true;
  }
  return false;
}

/** Whether an HTTP agent or Node's `fetch` keeps the socket for the next request. */
function isIdle(socket: Socket): boolean {
  const isOfAgent = socket.listenerCount("agentRemove") > 0 && Reflect.get(socket, "_httpMessage") === null;
  const client: unknown = inside(socket, "client");
  return isOfAgent || (typeof client === "object" && client !== null && inside(client, "running") === 0);
}

/** Returns a private member of `fetch`, which is stored under a symbol. */
function inside(object: object, name: string): unknown {
  for (let each: object | null = object; each !== null; each = Reflect.getPrototypeOf(each)) {
    const symbol = Object.getOwnPropertySymbols(each).find(({ description }) => description === name);
    if (symbol !== undefined) return Reflect.get(object, symbol);
  }
  return undefined;
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}

function portOf(server: Server): number | undefined {
  const address = server.address();
  return isAddressInfo(address) ? address.port : undefined;
}

function addressOf(server: Server): string {
  const address = server.address();
  return isAddressInfo(address) ? `${address.address} ${address.port}` : (address ?? "closed");
}
