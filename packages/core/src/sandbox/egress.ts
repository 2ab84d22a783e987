/**
 * The way out of a sandbox: an HTTP proxy on a Unix socket, which connects only to the hosts of the profile. The host
 * looks names up itself and connects only to addresses that it has checked.
 */

import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { setMaxListeners } from "node:events";
import { rm } from "node:fs/promises";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { type Duplex, pipeline } from "node:stream";
import { errorMessage, parseUrl } from "@fairlead/wire/text";
import { hostAndPort } from "../settings/define/sandbox-settings.ts";
import type { ProgramHosts } from "./wanted-hosts.ts";

/** A host that a sandboxed program wants to reach. */
export interface HostWish {
  /** A name in lower case, or an IP address without brackets. */
  readonly name: string;
  readonly port: number;
}

export interface EgressOptions {
  /** `name:port` of the profile's `hosts` and `tcp`. */
  readonly allowed: readonly string[];
  /** Decides about hosts that the profile does not list. The program ends with the proxy. Default: they are refused. */
  readonly wanted?: ProgramHosts | undefined;
  /** Called once for each host and port that is refused, with the reason, and whether a yes of the user would help. */
  readonly onRefused?: ((wish: HostWish, reason: string, mayAllow: boolean) => void) | undefined;
  /** Whether listed names may lead to private addresses. Only for hosts that the user's own configuration names. */
  readonly mayBePrivate?: boolean;
  readonly lookup?: LookupFunction;
  /** How long a connection waits for an answer to the question, in milliseconds. Default: 30 s. */
  readonly answerTimeout?: number;
}

/** How many hosts of one program are reported as refused. */
const mostHosts = 256;
const connectTimeout = 10_000;
const defaultAnswerTimeout = 30_000;
const mostConnections = 512;

/** The proxy of one running program. */
export class Egress {
  readonly #options: EgressOptions;
  readonly #server: Server;
  readonly #over = new AbortController();
  readonly #refused = new Set<string>();
  readonly #sockets = new Set<Duplex>();
  #path = "";

  constructor(options: EgressOptions) {
    this.#options = options;
    // Each connection listens to it until it ends.
    setMaxListeners(0, this.#over.signal);
    this.#server = createServer((message, response) => void this.#forward(message, response));
    this.#server.maxConnections = mostConnections;
    this.#server.on("connect", (message: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#keep(socket);
      void this.#tunnel(message, socket, head);
    });
    this.#server.on("connection", (socket: Socket) => this.#keep(socket));
    this.#server.on("clientError", (_: Error, socket: Duplex) => socket.destroy());
  }

  /** Begins to accept connections at a path of at most 100 bytes, in a folder that only this user may enter. */
  async listen(path: string): Promise<void> {
    this.#path = path;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(path, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    this.#server.unref();
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    this.#over.abort();
    this.#options.wanted?.close();
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await rm(this.#path, { force: true });
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** Answers `CONNECT name:port`. */
  async #tunnel(message: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const target = splitAddress(message.url ?? "");
    try {
      if (target === undefined) throw new Refusal("not NAME:PORT");
      const upstream = await this.#connect(target);
      if (socket.destroyed) return void upstream.destroy();
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) upstream.write(head);
      socket.pipe(upstream).pipe(socket);
      socket.once("close", () => upstream.destroy());
      upstream.once("close", () => socket.destroy());
    } catch (error) {
      const { status, reason } = failureOf(error);
      socket.end(
        `HTTP/1.1 ${status}\r\nx-fairlead-reason: ${encodeURIComponent(reason)}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
        () => socket.destroy(),
      );
    }
  }

  /** Answers a request with a whole URL, as programs send it for `http://`, and some for `https://` too. */
  async #forward(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = parseUrl(message.url ?? "");
      const isTls = url?.protocol === "https:";
      if (url === undefined || (!isTls && url.protocol !== "http:")) throw new Refusal("the request has no whole URL");
      const target = splitAddress(`${url.hostname}:${url.port || (isTls ? 443 : 80)}`);
      if (target === undefined) throw new Refusal("not a host");
      const upstream = await this.#connect(target);
      response.once("close", () => upstream.destroy());
      const sent = (isTls ? (await import("node:https")).request : request)(
        url,
        {
          method: message.method,
          // The host of the request is the host that was checked: one server may have the pages of several names.
          headers: { ...endToEnd(message.headers), host: url.host },
          agent: false,
          ...(isTls ? { socket: upstream } : { createConnection: () => upstream }),
        },
        (answer) => {
          try {
            response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
            pipeline(answer, response, () => {});
          } catch {
            // Node reads some answers that it does not write, such as one with the status 099.
            response.destroy();
          }
        },
      );
      sent.on("error", () => response.destroy());
      sent.on("upgrade", () => response.destroy());
      pipeline(message, sent, () => {});
    } catch (error) {
      const { status, reason } = failureOf(error);
      const code = Number(status.slice(0, 3));
      // Nothing that follows on this connection counts.
      response.shouldKeepAlive = false;
      response.writeHead(code, {
        "content-type": "text/plain; charset=utf-8",
        "x-fairlead-reason": encodeURIComponent(reason),
      });
      response.end(`${reason}\n`);
    }
  }

  async #connect(wish: HostWish): Promise<Socket> {
    if (!(await this.#isAllowed(wish)))
      throw new Refusal(`the sandbox of this server does not allow ${hostText(wish)}`);
    const addresses = await this.#addressesOf(wish);
    let last: unknown;
    for (const address of addresses) {
      try {
        return await this.#open(address, wish.port);
      } catch (error) {
        last = error;
      }
    }
    throw last ?? new Error(`${wish.name} has no address`);
  }

  /** Without an answer in time, the connection is refused. A later answer counts for later connections. */
  async #isAllowed(wish: HostWish): Promise<boolean> {
    const { allowed, wanted, answerTimeout = defaultAnswerTimeout } = this.#options;
    if (allowed.some((pattern) => listsHost(pattern, wish))) return true;
    const host = hostText(wish);
    const late = AbortSignal.any([AbortSignal.timeout(answerTimeout), this.#over.signal]);
    const isPublic = await isOfferedHost(wish);
    const isAllowed = isPublic && (await wanted?.allows(host, late)) === true;
    if (!isAllowed) this.#tellRefused(wish, `${host} is not in "hosts" of its sandbox`, isPublic);
    return isAllowed;
  }

  #tellRefused(wish: HostWish, reason: string, mayAllow = false): void {
    const key = hostText(wish);
    if (this.#refused.has(key) || this.#refused.size >= mostHosts) return;
    this.#refused.add(key);
    this.#options.onRefused?.(wish, reason, mayAllow);
  }

  /** A name stands for its public addresses. Another address is reached only if the profile lists the address itself. */
  async #addressesOf(wish: HostWish): Promise<readonly string[]> {
    if (isIP(wish.name) !== 0) return [wish.name];
    if (wish.name === "localhost") return ["127.0.0.1", "::1"];
    const found = await lookUp(wish.name, this.#options.lookup ?? systemLookup);
    const { isPublicAddress } = await addressRules();
    const own = ownAddresses();
    const mayBePrivate = this.#options.mayBePrivate === true;
    const addresses = found.filter((address) => mayBePrivate || (isPublicAddress(address) && !own.has(address)));
    if (addresses.length > 0) return addresses;
    const reason = `${wish.name} leads to ${found[0]}, which is not a public address`;
    this.#tellRefused(wish, reason);
    throw new Refusal(reason);
  }

  #open(address: string, port: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: address, port, signal: this.#over.signal });
      this.#keep(socket);
      const late = setTimeout(
        () => socket.destroy(new Error(`no connection within ${connectTimeout} ms`)),
        connectTimeout,
      );
      socket.once("error", reject);
      socket.once("close", () => clearTimeout(late));
      socket.once("connect", () => {
        clearTimeout(late);
        socket.off("error", reject);
        resolve(socket);
      });
    });
  }
}

/** Addresses of this machine and of its networks are reached only if the profile lists them: no question offers them. */
export async function isOfferedHost({ name }: HostWish): Promise<boolean> {
  return isIP(name) === 0 ? name !== "localhost" : (await addressRules()).isPublicAddress(name);
}

/** Many servers reach no host, so the rules are loaded when one is wanted. */
const addressRules = () => import("../net/address-rules.ts");

/** The addresses of this machine. A service that listens on all of them trusts them as it trusts the loopback address. */
function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address)));
}

class Refusal extends Error {}

function failureOf(error: unknown): { readonly status: string; readonly reason: string } {
  const reason = errorMessage(error);
  return { status: error instanceof Refusal ? "403 Forbidden" : "502 Bad Gateway", reason };
}

/** Whether `name:port` of a profile is about a host. `*.example.com` is about every name below `example.com`. */
export function listsHost(pattern: string, wish: HostWish): boolean {
  const split = splitAddress(pattern.replace(/^\*\./, ""));
  if (split === undefined || split.port !== wish.port) return false;
  return pattern.startsWith("*.") ? wish.name.endsWith(`.${split.name}`) : wish.name === split.name;
}

/** `name:port`, with brackets around an IPv6 address. */
export function hostText({ name, port }: HostWish): string {
  return `${name.includes(":") ? `[${name}]` : name}:${port}`;
}

export function splitAddress(text: string): HostWish | undefined {
  const address = hostAndPort(text, undefined);
  const [, name, port] = /^(.*):(\d+)$/.exec(address ?? "") ?? [];
  if (name === undefined || name.startsWith("*")) return undefined;
  return { name: name.replace(/^\[|\]$/g, ""), port: Number(port) };
}

const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authorization",
  "te",
  "trailer",
  "upgrade",
]);

function endToEnd(headers: IncomingMessage["headers"]): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)));
}

function lookUp(name: string, resolve: LookupFunction): Promise<readonly string[]> {
  return new Promise((done, fail) => {
    resolve(name, { all: true }, (error, found: string | LookupAddress[]) => {
      if (error !== null) fail(error);
      else done(typeof found === "string" ? [found] : found.map(({ address }) => address));
    });
  });
}
