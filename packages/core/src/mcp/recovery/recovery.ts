/** Brings one server back after it ended: plans the next try, says so in the server's state, and gives up on one that keeps ending. */

import type { Clock } from "../../clock.ts";
import { retryClassOf } from "../../connect/retryable.ts";
import { HostError } from "../../errors.ts";
import { toShellWord } from "../../text/shell-word.ts";
import type { ClientEnd, McpClient } from "../client.ts";
import { toFailure } from "../server-state.ts";
import { emptyHistory, mostCrashes, planAfter, type RetryHistory, type RetryInputs, soon } from "./recovery-plan.ts";

export interface Recovery {
  /** It ended, and nobody wanted that. */
  readonly ended: (end: ClientEnd) => void;
  /** What was planned is not done: somebody tries it now, or nobody wants it any more. */
  readonly callOff: () => void;
  /** A person wants it: what was held against it is forgotten. */
  readonly forgive: () => void;
}

export interface RecoveryOptions extends RetryInputs {
  readonly client: Pick<McpClient, "name" | "state" | "rest">;
  readonly isProgram: boolean;
  readonly tryAgain: () => void;
  readonly clock: Clock;
}

export function createRecovery({ client, isProgram, tryAgain, clock, random, now }: RecoveryOptions): Recovery {
  let history: RetryHistory = emptyHistory;
  let callOff = (): void => {};

  /** Somebody may have disconnected it meanwhile. */
  function tryIfWaiting(): void {
    if ("nextTryAt" in client.state) tryAgain();
  }

  return {
    ended({ error, startedAt, wasUp }) {
      const endedAt = clock.now();
      const end = { retry: retryClassOf(error, { isProgram }), lasted: endedAt - startedAt, wasUp };
      const { plan, history: after } = planAfter(history, end, { random, now });
      history = after;
      switch (plan.kind) {
        case "rest":
          return;
        case "try_at_once":
          return tryAgain();
        case "wait":
          client.rest({ type: "postponed", because: toFailure(error), nextTryAt: endedAt + plan.milliseconds });
          callOff = clock.after(plan.milliseconds, tryIfWaiting, { background: true });
          return;
        case "give_up":
          client.rest({ type: "given_up", because: toFailure(startLimit(client.name, error)) });
      }
    },
    callOff: () => callOff(),
    forgive() {
      history = emptyHistory;
    },
  };
}

function startLimit(serverName: string, last: HostError): HostError {
  const message = `"${serverName}" ended ${mostCrashes} times, each within ${soon / 1000} s of its start; the last time: ${last.message}`;
  const { evidence } = last;
  return new HostError("start_limit", message, {
    serverName,
    cause: last,
    next: `fairlead mcp test ${toShellWord(serverName)}`,
    ...(evidence !== undefined && { evidence }),
  });
}
