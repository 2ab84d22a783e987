/** What a host tells those who listen: plain data, one union of events, one emitter for it. */

import type { ErrorCode } from "./errors.ts";

/** The status of one server. `ServerState` has the reason beside it. */
export const MCPServerStatus = {
  DISCONNECTED: "disconnected",
  CONNECTING: "connecting",
  CONNECTED: "connected",
  DISCONNECTING: "disconnecting",
  NEEDS_AUTH: "needs_auth",
  DISABLED: "disabled",
  BLOCKED: "blocked",
} as const;
export type MCPServerStatus = (typeof MCPServerStatus)[keyof typeof MCPServerStatus];

/** How far the discovery of all servers has come. */
export const MCPDiscoveryState = {
  NOT_STARTED: "not_started",
  IN_PROGRESS: "in_progress",
  COMPLETED: "completed",
} as const;
export type MCPDiscoveryState = (typeof MCPDiscoveryState)[keyof typeof MCPDiscoveryState];

/** Why a server is where it is, in words for the person who must act; raw, as settings and servers wrote them. */
export interface StateExplanation {
  readonly message: string;
  readonly next?: string;
}

/** What went wrong with a server. */
export interface Failure extends StateExplanation {
  readonly reason: ErrorCode;
  /** What the server said last: raw, perhaps many lines. */
  readonly evidence?: string;
}

/** Whom we are connected to, as far as both sides agreed. */
export interface Peer {
  readonly era: "legacy" | "modern";
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  /** The one really used; none under the demo server. */
  readonly transport?: "stdio" | "http" | "sse";
}

/** How much a server offers, after `includeTools` and `excludeTools`. */
export interface CatalogCounts {
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  readonly resourceTemplates: number;
  /** Why there are no tools, if a reason is known: none yet, or a filter; and which lists may be out of date. */
  readonly note?: string;
}

/** @deprecated Renamed to `CatalogCounts`. */
export type Offer = CatalogCounts;

/** Where a server stands, and since when by the host's clock. An error lives in the state that it explains. */
export type ServerState = { readonly name: string; readonly since: number } & (
  | { readonly status: "disconnected"; readonly reason: "lazy" }
  | ({ readonly status: "disconnected" | "needs_auth" } & Failure)
  /** It comes back by itself: tried again at that moment of the host's clock, or at once when it is called. */
  | ({
      readonly status: "disconnected";
      readonly reason: "backoff";
      readonly nextTryAt: number;
      readonly because: Failure;
    } & StateExplanation)
  | { readonly status: "connecting" }
  /** Without an offer: what it has is still being read. */
  | { readonly status: "connected"; readonly peer: Peer; readonly offer?: CatalogCounts }
  | { readonly status: "disconnecting"; readonly because?: Failure }
  | ({ readonly status: "disabled"; readonly reason: "user" } & StateExplanation)
  | ({
      readonly status: "blocked";
      readonly reason: "awaiting_approval" | "untrusted_folder" | "not_allowed" | "excluded";
    } & StateExplanation)
);

/** The lists that a server may say have changed; that of resources stands for their templates too. */
export type ListName = "tools" | "prompts" | "resources";

/** What became of a list of tools, by the server's own names. */
export interface ToolChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Still there under the same name, with another definition. */
  readonly changed: readonly string[];
}

/** What a server says, or comes to say, without being asked. Texts and data are its own: raw. */
export type ServerNews =
  /** It is being started for the first time as it stands, by a program that may have to download it. */
  | { readonly type: "fetching"; readonly server: string }
  /** A line that its program wrote to stderr, without secrets. */
  | { readonly type: "stderr"; readonly server: string; readonly line: string }
  /** One of its lists is out of date. */
  | { readonly type: "list_changed"; readonly server: string; readonly list: ListName }
  /** What it offers is another than before: these lists differ. */
  | {
      readonly type: "catalog";
      readonly server: string;
      readonly lists: readonly ListName[];
      readonly tools: ToolChanges;
    }
  /** A list that changed could not be read again: what was known of it stays. */
  | { readonly type: "refresh_failed"; readonly server: string; readonly list: ListName; readonly error: Failure }
  | {
      readonly type: "log";
      readonly server: string;
      readonly level: string;
      readonly logger?: string;
      readonly data: unknown;
    }
  | { readonly type: "resource_updated"; readonly server: string; readonly uri: string };

/** What became of the servers of a host when it was given new ones, by name. */
export interface ServerChanges {
  /** The very same as before: whatever they were doing goes on. */
  readonly kept: readonly string[];
  readonly replaced: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** An event that `host.on` delivers: plain data, told apart by `type`. */
export type HostEvent =
  | { readonly type: "state"; readonly state: ServerState }
  | { readonly type: "discovery"; readonly state: MCPDiscoveryState }
  /** The host has other servers than before: their states are to be read anew. */
  | ({ readonly type: "servers" } & ServerChanges)
  /** A settings file is not what it was when the host read it: `reload` takes the change over. */
  | { readonly type: "settings_changed"; readonly file: string }
  /** What is done is not written down: told with the first entry that is lost. */
  | { readonly type: "history_failed"; readonly message: string }
  | ServerNews;

export type Listener<T extends HostEvent["type"]> = (event: Extract<HostEvent, { readonly type: T }>) => void;

export interface Emitter {
  /** Returns the function that stops listening. */
  readonly on: <T extends HostEvent["type"]>(type: T, listener: Listener<T>) => () => void;
  readonly emit: (event: HostEvent) => void;
}

/** `complain` is told what a listener threw: its own mistake, which must not end the host's work in the middle. */
export function createEmitter(complain: (error: unknown) => void = throwLater): Emitter {
  const listeners = new Set<(event: HostEvent) => void>();
  const waiting: HostEvent[] = [];
  let isEmitting = false;

  function deliver(event: HostEvent): void {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (error) {
        complain(error);
      }
    }
  }

  return {
    on(type, listener) {
      const filtered = (event: HostEvent): void => {
        if (isOfType(event, type)) listener(event);
      };
      listeners.add(filtered);
      return () => listeners.delete(filtered);
    },
    /** What a listener causes while it listens is told afterwards, so that all hear everything in the same order. */
    emit(event) {
      waiting.push(event);
      if (isEmitting) return;
      isEmitting = true;
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) deliver(next);
      isEmitting = false;
    },
  };
}

/** Surfaces as an uncaught error, as it would without us. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

function isOfType<T extends HostEvent["type"]>(
  event: HostEvent,
  type: T,
): event is Extract<HostEvent, { readonly type: T }> {
  return event.type === type;
}
