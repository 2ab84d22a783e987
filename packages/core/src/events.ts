/** What a host tells those who listen: plain data, one union of events, one emitter for it. */

import type { ErrorCode } from "./errors.ts";

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

export const MCPDiscoveryState = {
  NOT_STARTED: "not_started",
  IN_PROGRESS: "in_progress",
  COMPLETED: "completed",
} as const;
export type MCPDiscoveryState = (typeof MCPDiscoveryState)[keyof typeof MCPDiscoveryState];

/** Why a server is where it is, in words for the person who must act; raw, as settings and servers wrote them. */
interface Explanation {
  readonly message?: string;
  readonly next?: string;
}

export type ServerState = { readonly name: string } & (
  | { readonly status: "connecting" | "connected" | "disconnecting" | "needs_auth" }
  | ({ readonly status: "disconnected"; readonly reason: "lazy" | ErrorCode } & Explanation)
  | ({ readonly status: "disabled"; readonly reason: "user" } & Explanation)
  | ({
      readonly status: "blocked";
      readonly reason: "awaiting_approval" | "untrusted_folder" | "not_allowed" | "excluded";
    } & Explanation)
);

export type HostEvent =
  | { readonly type: "state"; readonly state: ServerState }
  | { readonly type: "discovery"; readonly state: MCPDiscoveryState };

type Listener<T extends HostEvent["type"]> = (event: Extract<HostEvent, { readonly type: T }>) => void;

export interface Emitter {
  /** Returns the function that stops listening. */
  readonly on: <T extends HostEvent["type"]>(type: T, listener: Listener<T>) => () => void;
  readonly emit: (event: HostEvent) => void;
}

/** `complain` is told what a listener threw: its own mistake, which must not end the host's work in the middle. */
export function createEmitter(complain: (error: unknown) => void = throwLater): Emitter {
  const listeners = new Set<(event: HostEvent) => void>();
  return {
    on(type, listener) {
      const filtered = (event: HostEvent): void => {
        if (isOfType(event, type)) listener(event);
      };
      listeners.add(filtered);
      return () => listeners.delete(filtered);
    },
    emit(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          complain(error);
        }
      }
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
