/** The host's events and server states, and the emitter that delivers the events. */

import type { ErrorCode } from "./errors.ts";

/** The status of one server. `ServerState` also gives the reason. */
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

/** Progress of reading the catalogs of all servers. */
export const MCPDiscoveryState = {
  NOT_STARTED: "not_started",
  IN_PROGRESS: "in_progress",
  COMPLETED: "completed",
} as const;
export type MCPDiscoveryState = (typeof MCPDiscoveryState)[keyof typeof MCPDiscoveryState];

/** Why a server is in its state, and what the user can do. Escape these texts before printing. */
export interface StateExplanation {
  readonly message: string;
  readonly next?: string;
}

/** A failure of a server. */
export interface Failure extends StateExplanation {
  readonly reason: ErrorCode;
  /**
   * The end of the server's stderr, or the first bytes of its response. May have several lines. Escape it before
   * printing.
   */
  readonly evidence?: string;
}

/** The connected server and the negotiated protocol. */
export interface Peer {
  readonly era: "legacy" | "modern";
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title?: string };
  /** The transport in use; absent for the built-in demo server. */
  readonly transport?: "stdio" | "http" | "sse";
}

/** How many tools, prompts and resources a server has, without the tools that the settings hide. */
export interface CatalogCounts {
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  readonly resourceTemplates: number;
  /** Absent if the server does not declare the skills extension. */
  readonly skills?: number;
  /** Why the server has no tools, or which lists may be out of date. */
  readonly note?: string;
}

/** The state of a server. `since` is the time when the state began, in milliseconds of the host's clock. */
export type ServerState = { readonly name: string; readonly since: number } & (
  | { readonly status: "disconnected"; readonly reason: "lazy" }
  | ({ readonly status: "disconnected" | "needs_auth" } & Failure)
  /** Fairlead reconnects at `nextTryAt` (milliseconds of the host's clock), or at once when the server is called. */
  | ({
      readonly status: "disconnected";
      readonly reason: "backoff";
      readonly nextTryAt: number;
      readonly because: Failure;
    } & StateExplanation)
  | { readonly status: "connecting" }
  /** The server is connected. If `offer` is absent, Fairlead is still reading the server's lists. */
  | { readonly status: "connected"; readonly peer: Peer; readonly offer?: CatalogCounts }
  | { readonly status: "disconnecting"; readonly because?: Failure }
  | ({ readonly status: "disabled"; readonly reason: "user" } & StateExplanation)
  | ({
      readonly status: "blocked";
      readonly reason: "awaiting_approval" | "untrusted_folder" | "not_allowed" | "excluded";
    } & StateExplanation)
);

/** The lists that can change; `resources` includes the resource templates. */
export type ListName = "tools" | "prompts" | "resources";

/** The difference between two tool lists of one server. Tools have the server's own names. */
export interface ToolChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Tools with the same name and a different definition. */
  readonly changed: readonly string[];
}

/** Events about one server. Escape the server's texts before printing. */
export type ServerNews =
  /** A program such as `npx` starts the server for the first time, and may have to download it. */
  | { readonly type: "fetching"; readonly server: string }
  /** A line of the server's stderr. Secrets in it are hidden. */
  | { readonly type: "stderr"; readonly server: string; readonly line: string }
  /** The server reports that one of its lists has changed. */
  | { readonly type: "list_changed"; readonly server: string; readonly list: ListName }
  /**
   * Fairlead has read these lists, and they differ from the previous ones. Without previous lists, all items are new.
   */
  | {
      readonly type: "catalog";
      readonly server: string;
      readonly lists: readonly ListName[];
      readonly tools: ToolChanges;
    }
  /** A changed list could not be read again, so the previous list stays. */
  | { readonly type: "refresh_failed"; readonly server: string; readonly list: ListName; readonly error: Failure }
  | {
      readonly type: "log";
      readonly server: string;
      readonly level: string;
      readonly logger?: string;
      readonly data: unknown;
    }
  | { readonly type: "resource_updated"; readonly server: string; readonly uri: string };

/** The names of the servers that a reload kept, replaced, added or removed. */
export interface ServerChanges {
  /** Unchanged servers, whose connections stay open. */
  readonly kept: readonly string[];
  readonly replaced: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** An event that `host.on` delivers. It is plain data; `type` says which event it is. */
export type HostEvent =
  | { readonly type: "state"; readonly state: ServerState }
  | { readonly type: "discovery"; readonly state: MCPDiscoveryState }
  /** The host has added, replaced or removed servers. Read their states again. */
  | ({ readonly type: "servers" } & ServerChanges)
  /** A settings file has changed; `reload` applies the change. */
  | { readonly type: "settings_changed"; readonly file: string }
  /**
   * The IDE trusts the folder now, no longer does, or can no longer be asked. Decisions follow it already. The host now
   * stops the servers that may not run and, if all servers were started, starts those that may run.
   */
  | { readonly type: "ide_trust_changed"; readonly trusted: boolean; readonly detail: string }
  /** The host has read the settings because of the IDE, and cannot apply them. It keeps its earlier settings. */
  | ({ readonly type: "settings_unread" } & StateExplanation)
  /** The history cannot be written. Emitted once, for the first lost entry. */
  | { readonly type: "history_failed"; readonly message: string }
  /** A conversation can no longer be recorded; the conversation itself continues. */
  | { readonly type: "conversation_not_recorded"; readonly conversation: string; readonly message: string }
  | ServerNews;

/** A function that receives the host's events of one type. */
export type Listener<T extends HostEvent["type"]> = (event: Extract<HostEvent, { readonly type: T }>) => void;

/** Delivers the host's events to listeners. */
export interface Emitter {
  /** Adds a listener. Returns a function that removes it. */
  readonly on: <T extends HostEvent["type"]>(type: T, listener: Listener<T>) => () => void;
  readonly emit: (event: HostEvent) => void;
}

/**
 * Creates an emitter.
 *
 * @param complain Receives the error if a listener throws. Default: throw it as an uncaught error.
 */
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
    /**
     * An event that a listener emits waits until the current event is delivered. All listeners then see the same order.
     */
    emit(event) {
      waiting.push(event);
      if (isEmitting) return;
      isEmitting = true;
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) deliver(next);
      isEmitting = false;
    },
  };
}

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
