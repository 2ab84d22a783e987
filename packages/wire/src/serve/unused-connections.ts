/**
 * Connections that a listener does not use: no request is open on them. They must not use up the process's file
 * descriptors or keep other clients out, so their number is limited, and their time too if the listener wants that.
 */

import type { Socket } from "node:net";
import type { TimeSource } from "../rpc/time.ts";

/** The open connections of a listener that are not in use. */
export interface UnusedConnections {
  /** Counts the connection as unused. Destroys the one that is unused for longest if there are too many. */
  add(socket: Socket): void;
  /** Call this when the connection is used, or has closed. */
  remove(socket: Socket): void;
}

/** How many connections may be unused, and for how long. */
export interface UnusedConnectionsOptions {
  readonly most: number;
  /** Milliseconds after which an unused connection is destroyed. Default: never. */
  readonly time?: number;
  readonly clock?: Pick<TimeSource, "after">;
}

/** Creates an empty list of unused connections. */
export function createUnusedConnections({ most, time, clock }: UnusedConnectionsOptions): UnusedConnections {
  /** The connection that is unused for longest comes first. */
  const unused = new Map<Socket, (() => void) | undefined>();

  function remove(socket: Socket): void {
    unused.get(socket)?.();
    unused.delete(socket);
  }

  return {
    remove,
    add(socket) {
      remove(socket);
      if (socket.destroyed) return;
      const destroy = (): void => void socket.destroy();
      unused.set(socket, time === undefined ? undefined : clock?.after(time, destroy, { background: true }));
      if (unused.size <= most) return;
      const [[oldest] = []] = unused;
      if (oldest === undefined) return;
      remove(oldest);
      oldest.destroy();
    },
  };
}
