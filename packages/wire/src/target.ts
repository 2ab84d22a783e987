/** What a caller says to reach a server: where it is, who we are, what we allow. */

import type { TimeSource } from "./rpc/time-source.ts";
import type { Era, JsonObject, NegotiatedProtocol, NotificationListener, RequestHandler } from "./session.ts";
import type { ProcessRegistry } from "./stdio/process-registry.ts";

export type { NegotiatedProtocol, Verdict } from "./session.ts";

export interface StdioTarget {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** The child's whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface HttpTarget {
  /** `http-or-sse`: streamable HTTP first; if the server does not speak it, the older HTTP+SSE. */
  readonly kind: "http" | "sse" | "http-or-sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type Target = StdioTarget | HttpTarget;

/** Asked when a server answers 401 or 403: signs in and returns headers to try again with, or nothing to give up. */
export interface AuthHook {
  /** Headers for every request (an `Authorization` header, say), asked each time. */
  headers(request: { readonly url: string; readonly method: string }): Promise<Readonly<Record<string, string>>>;
  /** True: something changed, send the refused request again. */
  challenged(challenge: Challenge, signal: AbortSignal): Promise<boolean>;
}

export interface Challenge {
  readonly status: 401 | 403;
  readonly url: string;
  readonly wwwAuthenticate: string | undefined;
  /** All headers of the refusal; some ways to sign in need more of them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What the hook gave for the refused request; if that is out of date already, nobody needs to sign in again. */
  readonly sent: Readonly<Record<string, string>>;
  /** Where the server was reached; absent behind a proxy, which alone knows. */
  readonly address?: string;
  /** How often this one request has been refused already. */
  readonly attempt: number;
}

export interface WireLimits {
  /** The largest message, decompressed, in bytes. */
  readonly messageBytes: number;
  /** How much may wait to be written to a server that does not read. */
  readonly unsentBytes: number;
  readonly stderrBytes: number;
  /** Requests of the server that may be open at once. */
  readonly inboundRequests: number;
  /** Rounds of "input required" in one request of the modern era. */
  readonly inputRounds: number;
  readonly headerBytes: number;
}

/** How long things may take, in milliseconds. */
export interface WireTimes {
  /** One request of the handshake. */
  readonly connect: number;
  /** Silence after which a server is taken not to know the modern probe. */
  readonly probe: number;
  /** The default silence of a request. */
  readonly request: number;
  /** A server that does not read: how long a message may wait to leave. */
  readonly send: number;
  /** After closing stdin, after SIGTERM, after SIGKILL. */
  readonly endGrace: number;
  readonly termGrace: number;
  readonly killGrace: number;
}

export interface ConnectOptions {
  readonly clientInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly capabilities?: JsonObject;
  readonly signal?: AbortSignal;
  /** `auto` probes; a verdict goes straight to what worked last time, and is given up when it proves wrong. */
  readonly era?: Era | "auto" | NegotiatedProtocol;
  readonly onRequest?: RequestHandler | undefined;
  readonly onNotification?: NotificationListener | undefined;
  readonly auth?: AuthHook;
  readonly limits?: Partial<WireLimits>;
  readonly times?: Partial<WireTimes>;
  /** Where the limits of requests and the pauses between two tries get their time from; by default the system's. */
  readonly time?: TimeSource | undefined;
  /** Keeps account of child processes; share one between all connections of a host, or each starts its own watchdog. */
  readonly processes?: ProcessRegistry;
  /** Raw chunks of the server's stderr, as they come. */
  readonly onStderr?: (text: string) => void;
  readonly onDiagnostic?: ((text: string) => void) | undefined;
  /** Every message, as it crosses the wire; for logs, so redact it. */
  readonly onMessage?: ((direction: "sent" | "received", message: JsonObject) => void) | undefined;
  /** The proxy for a URL, if any; by default from `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`. */
  readonly proxyFor?: (url: string) => string | undefined;
  /** Extra certificate authorities, PEM. */
  readonly ca?: string;
}

export const defaultLimits: WireLimits = {
  messageBytes: 64 * 1024 * 1024,
  unsentBytes: 64 * 1024 * 1024,
  stderrBytes: 64 * 1024,
  inboundRequests: 16,
  inputRounds: 8,
  headerBytes: 64 * 1024,
};

export const defaultTimes: WireTimes = {
  connect: 30_000,
  probe: 1_000,
  request: 60_000,
  send: 30_000,
  endGrace: 2_000,
  termGrace: 2_000,
  killGrace: 2_000,
};
