/** Reconnects one server after a failure, and gives up after several crashes. */

import type { Clock } from "../../clock.ts";
import { retryClassOf } from "../../connect/retryable.ts";
import { HostError } from "../../errors.ts";
import { toShellWord } from "../../text/shell-word.ts";
import type { ClientEnd, McpClient } from "../client.ts";
import { toFailure } from "../server-state.ts";
import { emptyHistory, mostCrashes, planAfter, type RetryHistory, type RetryInputs, soon } from "./recovery-plan.ts";

/** The recovery of one server. */
export interface Recovery {
  /** Plans the next attempt after a failure. */
  readonly ended: (end: ClientEnd) => void;
  /** Cancels the planned attempt. */
  readonly cancel: () => void;
  /** Forgets earlier failures. */
  readonly resetHistory: () => void;
}

/** Options of `createRecovery`. */
export interface RecoveryOptions extends RetryInputs {
  readonly client: Pick<McpClient, "name" | "state" | "setRetry">;
  readonly isProgram: boolean;
  readonly reconnect: () => void;
  readonly clock: Clock;
}

/** Starts with an empty history. */
export function createRecovery({ client, isProgram, reconnect, clock, random, now }: RecoveryOptions): Recovery {
  let history: RetryHistory = emptyHistory;
  let cancelTimer = (): void => {};

  /** The server may have been disconnected meanwhile. */
  function reconnectIfWaiting(): void {
    if ("nextTryAt" in client.state) reconnect();
  }

  return {
    ended({ error, startedAt, wasUp }) {
      const endedAt = clock.now();
      const end = { retry: retryClassOf(error, { isProgram }), lasted: endedAt - startedAt, wasUp };
      const { plan, history: after } = planAfter(history, end, { random, now });
      history = after;
      switch (plan.kind) {
        case "stay":
          return;
        case "try_at_once":
          return reconnect();
        case "wait":
          client.setRetry({ type: "postponed", because: toFailure(error), nextTryAt: endedAt + plan.milliseconds });
          cancelTimer = clock.after(plan.milliseconds, reconnectIfWaiting, { background: true });
          return;
        case "give_up":
          client.setRetry({ type: "given_up", because: toFailure(startLimit(client.name, error)) });
      }
    },
    cancel: () => cancelTimer(),
    resetHistory() {
      history = emptyHistory;
    },
  };
}

function startLimit(serverName: string, last: HostError): HostError {
  const message = `"${serverName}" failed ${mostCrashes} times within ${soon / 1000} s of its start; last failure: ${last.message}`;
  const { evidence } = last;
  return new HostError("start_limit", message, {
    serverName,
    cause: last,
    next: `fairlead mcp test ${toShellWord(serverName)}`,
    ...(evidence !== undefined && { evidence }),
  });
}
