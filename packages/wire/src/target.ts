/** The targets and options of `connect`, with the default limits and times. */

import type { LargeMessages } from "./rpc/large-messages.ts";
import type { PausableTime, TimeSource } from "./rpc/time.ts";
import type { Era, JsonObject, NegotiatedProtocol, NotificationListener, RequestHandler } from "./session.ts";
import type { ProcessRegistry } from "./stdio/process-registry.ts";

/** A server that is started as a child process. */
export interface StdioTarget {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** The environment variables of the process. It inherits none from the host. Fairlead adds only `FAIRLEAD_CHILD`. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /**
   * What the process can read from its descriptors 3, 4 and so on. A process with such inputs gets no other descriptors
   * that this process has inherited from its own parent.
   */
  readonly inputs?: readonly Uint8Array[];
}

/** A server that is reached at a URL. */
export interface HttpTarget {
  /** `http-or-sse` tries streamable HTTP first, then HTTP+SSE, the transport of protocol version 2024-11-05. */
  readonly kind: "http" | "sse" | "http-or-sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The server to connect to: a command that Fairlead starts, or a URL. */
export type Target = StdioTarget | HttpTarget;

/** Adds authorization headers to requests and signs in when a server answers 401 or 403. */
export interface AuthHook {
  /** Returns the headers to add (for example `Authorization`). Called before every request. */
  headers(request: { readonly url: string; readonly method: string }): Promise<Readonly<Record<string, string>>>;
  /** Signs in, or refreshes a token. Returns true if the refused request should be sent again. */
  challenged(challenge: Challenge, signal: AbortSignal): Promise<boolean>;
}

/** A 401 or 403 response that an `AuthHook` must handle. */
export interface Challenge {
  readonly status: 401 | 403;
  readonly url: string;
  readonly wwwAuthenticate: string | undefined;
  /** All headers of the response. Some sign-in methods need other headers than `WWW-Authenticate`. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The headers that the hook added to the refused request. They show whether the hook has a newer token by now. */
  readonly sent: Readonly<Record<string, string>>;
  /** The server's IP address. Undefined behind a proxy, because only the proxy knows it. */
  readonly address?: string;
  /** How many times the server has already refused this request. 0 at first. */
  readonly attempt: number;
}

/** Limits for what a server sends, and for what waits to be sent to it. */
export interface WireLimits {
  /** Maximum size of a message after decompression, in bytes. */
  readonly messageBytes: number;
  /** While so many bytes wait for a server that does not read its stdin, no further message is accepted. */
  readonly unsentBytes: number;
  readonly stderrBytes: number;
  /** How many requests of the server may be open at the same time. */
  readonly inboundRequests: number;
  /** Maximum size of the server's open requests together, in bytes. */
  readonly inboundBytes: number;
  /** Maximum size of a message while no request to the server is open, in bytes. */
  readonly unsolicitedMessageBytes: number;
  /**
   * How many bytes and lines Fairlead reads from one server before it reads from others. A line that answers no request
   * counts as four lines.
   */
  readonly turnBytes: number;
  readonly turnLines: number;
  /**
   * Limits for output that answers no request. `unsolicitedRate`: bytes per second. `unsolicitedBurst`: bytes that may
   * come before the rate applies. A line counts as at least 1 kB.
   */
  readonly unsolicitedRate: number;
  readonly unsolicitedBurst: number;
  /** How many times a modern server may answer the same request with `input_required`. */
  readonly inputRounds: number;
  readonly headerBytes: number;
}

/** Timeouts, in milliseconds. */
export interface WireTimes {
  /** For opening a network connection, and for each message of the handshake. */
  readonly connect: number;
  /** If a stdio server has not answered `server/discover` after this time, `connect` also sends `initialize`. */
  readonly probe: number;
  /** The default of `McpRequestOptions.timeout`. */
  readonly request: number;
  /** A message that the server has not read after this time is rejected. */
  readonly send: number;
  /** A server that exceeds `unsolicitedRate` for this time is disconnected. */
  readonly flood: number;
  /**
   * How long to wait until a server's process ends: `endGrace` after closing stdin, `termGrace` after SIGTERM,
   * `killGrace` after SIGKILL.
   */
  readonly endGrace: number;
  readonly termGrace: number;
  readonly killGrace: number;
}

/** Options of `connect`. */
export interface ConnectOptions {
  readonly clientInfo: { readonly name: string; readonly version: string; readonly title?: string };
  readonly capabilities?: JsonObject;
  /** Extensions that only modern servers are told of, with each request that names no capabilities of its own. */
  readonly modernExtensions?: JsonObject | undefined;
  /** Additional members of `_meta` in `initialize` and `server/discover`. */
  readonly greetingMeta?: JsonObject | undefined;
  readonly signal?: AbortSignal;
  /**
   * The protocol to use. Default: `auto`, which detects the protocol era. With a `NegotiatedProtocol`, `connect` tries
   * that one first, then the others.
   */
  readonly era?: Era | "auto" | NegotiatedProtocol;
  readonly onRequest?: RequestHandler | undefined;
  readonly onNotification?: NotificationListener | undefined;
  /**
   * Called when a legacy server's stream for notifications broke and is open again. Notifications in between may be
   * lost.
   */
  readonly onReopened?: (() => void) | undefined;
  /**
   * Called each time a legacy server's HTTP stream for notifications has ended, or could not be opened. The session
   * stays open, and opens the stream again unless the server refuses it.
   */
  readonly onStreamEnded?: (() => void) | undefined;
  readonly auth?: AuthHook;
  readonly limits?: Partial<WireLimits>;
  readonly times?: Partial<WireTimes>;
  /** The clock for timeouts and retries. Default: the system's clock. */
  readonly time?: TimeSource | undefined;
  /**
   * The clock of the timeouts, which is paused while a person signs in: the server does not cause this delay. A caller
   * can measure timeouts of its own with it. Default: one for this connection, on `time`.
   */
  readonly timeoutClock?: PausableTime | undefined;
  /**
   * The registry of server processes. Share one among all connections, because each registry starts its own watchdog
   * process.
   */
  readonly processes?: ProcessRegistry;
  /**
   * Limits how many bytes of large messages are in memory at the same time. Share one among connections to limit them
   * together. Default: each connection has its own limit.
   */
  readonly largeMessages?: LargeMessages | undefined;
  /** Called with the server's stderr as it arrives. The text may contain terminal control characters. */
  readonly onStderr?: (text: string) => void;
  readonly onDiagnostic?: ((text: string) => void) | undefined;
  /**
   * Called with every message. It may contain secrets, so redact it before you log it. `signal`: the option `signal` of
   * the request that is sent.
   */
  readonly onMessage?:
    | ((direction: "sent" | "received", message: JsonObject, signal?: AbortSignal) => void)
    | undefined;
  /**
   * Returns the proxy's URL, or undefined for a direct connection. Default: from `HTTPS_PROXY`, `HTTP_PROXY`,
   * `ALL_PROXY` and `NO_PROXY`.
   */
  readonly proxyFor?: (url: string) => string | undefined;
  /** Whether the process may end while HTTP connections of this session are open. Default: false. */
  readonly background?: boolean | undefined;
  /** Certificates in PEM format. They are trusted in addition to the certificate authorities of Node. */
  readonly ca?: string;
}

/** The default limits of `connect`. `ConnectOptions.limits` can replace them. */
export const defaultLimits: WireLimits = {
  messageBytes: 64 * 1024 * 1024,
  unsentBytes: 64 * 1024 * 1024,
  stderrBytes: 64 * 1024,
  inboundRequests: 16,
  inboundBytes: 4 * 1024 * 1024,
  unsolicitedMessageBytes: 4 * 1024 * 1024,
  turnBytes: 1024 * 1024,
  turnLines: 512,
  unsolicitedRate: 2 * 1024 * 1024,
  unsolicitedBurst: 32 * 1024 * 1024,
  inputRounds: 8,
  headerBytes: 64 * 1024,
};

/** The default timeouts of `connect`. `ConnectOptions.times` can replace them. */
export const defaultTimes: WireTimes = {
  connect: 30_000,
  probe: 1_000,
  request: 60_000,
  send: 30_000,
  flood: 5_000,
  endGrace: 2_000,
  termGrace: 2_000,
  killGrace: 2_000,
};
