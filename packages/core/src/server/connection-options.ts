/** The options of `Connection`. */

import type { Clock } from "../clock.ts";
import type { OpenedSession, OpenOptions } from "../connect/open-session.ts";
import type { HostError } from "../errors.ts";
import type { ServerNews, ServerState } from "../events.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import type { ListStep } from "./catalog.ts";

/** Options of `Connection`. Times are milliseconds. */
export interface ConnectionOptions {
  readonly definition: Pick<ServerDefinition, "name" | "includeTools" | "excludeTools">;
  /**
   * Opens a session. On failure, must close everything that it has opened, then reject. `signal` cancels only the
   * opening, not an open session.
   */
  readonly open: (options: OpenOptions) => Promise<OpenedSession>;
  /**
   * Milliseconds that `connect` and the first `discover` may take together. The session's own `connectTimeout` takes
   * precedence.
   */
  readonly connectTimeout: number;
  /** Returns the largest size of the catalog, in bytes of JSON. Default: 64 MB. */
  readonly catalogBytes?: () => number;
  readonly onState?: (state: ServerState) => void;
  readonly onNews?: (news: ServerNews) => void;
  readonly observe?: (step: ListStep) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** Describes a connection that failed, or that ended without `disconnect`. */
export interface ConnectionEnd {
  readonly error: HostError;
  /** When connecting began, measured by the client's clock. */
  readonly startedAt: number;
  /** Whether the catalog of this connection was read before it ended. */
  readonly wasUp: boolean;
}
