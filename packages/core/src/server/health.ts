/**
 * Checks whether a connected server still responds. Does so after several timeouts in a row, after a lost request, and
 * after the machine slept.
 */

import type { Session } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import { isServerBusy, toCallError } from "../connect/outcome.ts";
import { retryClassOf } from "../connect/retryable.ts";
import { HostError } from "../errors.ts";

/** Detects that the server of one session no longer responds. */
export interface Health {
  readonly answered: () => void;
  readonly failed: (error: HostError) => void;
  /** Checks the server with a request. Concurrent calls share one request. */
  readonly check: () => Promise<void>;
}

/** The session that `createHealth` checks, and the callback for a missing response. */
export interface HealthOptions {
  readonly session: Pick<Session, "era" | "request">;
  readonly serverName: string;
  readonly clock: Clock;
  /** Called each time a check gets no response. */
  readonly onUnresponsive: (error: HostError) => void;
}

const suspiciousTimeouts = 2;
const answerTimeout = 5000;

/** Creates the health check of a session. Sends no request until `check` or `failed` is called. */
export function createHealth({ session, serverName, clock, onUnresponsive }: HealthOptions): Health {
  const method = session.era === "modern" ? "server/discover" : "ping";
  let timeouts = 0;
  let checking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const late = new AbortController();
    const cancelTimer = clock.after(answerTimeout, () => late.abort(), { background: true });
    try {
      await session.request(method, undefined, { signal: late.signal, timeout: Number.POSITIVE_INFINITY });
      timeouts = 0;
    } catch (error) {
      const failure = toCallError(error, { serverName, what: method, method });
      // A JSON-RPC error counts as a response: a server that does not know the method still responds.
      if (late.signal.aborted)
        onUnresponsive(unresponsive(`no response to ${method} within ${answerTimeout / 1000} s`, error));
      else if (retryClassOf(failure, { isProgram: false }).kind === "outage")
        onUnresponsive(unresponsive(failure.message, error));
      else timeouts = 0;
    } finally {
      cancelTimer();
    }
  }

  function check(): Promise<void> {
    checking ??= ask().finally(() => {
      checking = undefined;
    });
    return checking;
  }

  function unresponsive(why: string, cause: unknown): HostError {
    return new HostError("unreachable", `"${serverName}" does not respond: ${why}`, { serverName, cause });
  }

  return {
    answered() {
      timeouts = 0;
    },
    failed(error) {
      if (error.code === "call_timeout") timeouts += 1;
      const isGone = error.code === "unreachable" || (error.code === "lost" && !isServerBusy(error));
      if (isGone || timeouts >= suspiciousTimeouts) void check();
    },
    check,
  };
}
