/** Whether a server that is connected still answers: asked when calls time out in a row or break off, and when a machine has slept. */

import type { Session } from "@fairlead/wire";
import type { Clock } from "../../clock.ts";
import { toCallError } from "../../connect/outcome.ts";
import { retryClassOf } from "../../connect/retryable.ts";
import { HostError } from "../../errors.ts";

export interface Health {
  readonly answered: () => void;
  readonly failed: (error: HostError) => void;
  /** Resolves when it is known; who asks meanwhile shares the question. */
  readonly check: () => Promise<void>;
}

export interface HealthOptions {
  readonly session: Pick<Session, "era" | "request">;
  readonly serverName: string;
  readonly clock: Clock;
  /** Told at most once for each check that found nobody. */
  readonly onUnresponsive: (error: HostError) => void;
}

const suspiciousTimeouts = 2;
const answerTimeout = 5000;

export function createHealth({ session, serverName, clock, onUnresponsive }: HealthOptions): Health {
  const method = session.era === "modern" ? "server/discover" : "ping";
  let timeouts = 0;
  let checking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const late = new AbortController();
    const callOff = clock.after(answerTimeout, () => late.abort(), { background: true });
    try {
      await session.request(method, undefined, { signal: late.signal, timeout: Number.POSITIVE_INFINITY });
      timeouts = 0;
    } catch (error) {
      const failure = toCallError(error, { serverName, what: method });
      // An error is an answer, too: not every server knows the question.
      if (late.signal.aborted) onUnresponsive(silence(`no answer to ${method} within ${answerTimeout} ms`, error));
      else if (retryClassOf(failure, { isProgram: false }).kind === "outage")
        onUnresponsive(silence(failure.message, error));
      else timeouts = 0;
    } finally {
      callOff();
    }
  }

  function check(): Promise<void> {
    checking ??= ask().finally(() => {
      checking = undefined;
    });
    return checking;
  }

  function silence(why: string, cause: unknown): HostError {
    return new HostError("unreachable", `"${serverName}" does not answer any more: ${why}`, { serverName, cause });
  }

  return {
    answered() {
      timeouts = 0;
    },
    failed(error) {
      if (error.code === "call_timeout") timeouts += 1;
      const isGone = error.code === "unreachable" || error.code === "lost";
      if (isGone || timeouts >= suspiciousTimeouts) void check();
    },
    check,
  };
}
