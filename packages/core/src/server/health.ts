/**
 * Checks whether a connected server still responds. Does so after several timeouts in a row, after a lost request, and
 * after the machine slept.
 */

import type { Session } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import { isServerBusy, toCallError } from "../connect/outcome.ts";
import { retryClassOf } from "../connect/retryable.ts";
import { HostError } from "../errors.ts";

const suspiciousTimeouts = 2;
const answerTimeout = 5000;

/** Detects that the server of one session no longer responds. Sends no request until `check` or `failed` is called. */
export class Health {
  readonly #session: Pick<Session, "era" | "request">;
  readonly #serverName: string;
  readonly #clock: Clock;
  readonly #onUnresponsive: (error: HostError) => void;
  #timeouts = 0;
  #checking: Promise<void> | undefined;

  /** @param onUnresponsive Called each time a check gets no response. */
  constructor(
    session: Pick<Session, "era" | "request">,
    serverName: string,
    clock: Clock,
    onUnresponsive: (error: HostError) => void,
  ) {
    this.#session = session;
    this.#serverName = serverName;
    this.#clock = clock;
    this.#onUnresponsive = onUnresponsive;
  }

  answered(): void {
    this.#timeouts = 0;
  }

  failed(error: HostError): void {
    if (error.code === "call_timeout") this.#timeouts += 1;
    const isGone = error.code === "unreachable" || (error.code === "lost" && !isServerBusy(error));
    if (isGone || this.#timeouts >= suspiciousTimeouts) void this.check();
  }

  /** Checks the server with a request. Concurrent calls share one request. */
  check(): Promise<void> {
    this.#checking ??= this.#ask().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #ask(): Promise<void> {
    const method = this.#session.era === "modern" ? "server/discover" : "ping";
    const late = new AbortController();
    const cancelTimer = this.#clock.after(answerTimeout, () => late.abort(), { background: true });
    try {
      await this.#session.request(method, undefined, { signal: late.signal, timeout: Number.POSITIVE_INFINITY });
      this.#timeouts = 0;
    } catch (error) {
      const failure = toCallError(error, { serverName: this.#serverName, what: method, method });
      // A JSON-RPC error counts as a response: a server that does not know the method still responds.
      if (late.signal.aborted) this.#report(`no response to ${method} within ${answerTimeout / 1000} s`, error);
      else if (retryClassOf(failure, { isProgram: false }).kind === "outage") this.#report(failure.message, error);
      else this.#timeouts = 0;
    } finally {
      cancelTimer();
    }
  }

  #report(why: string, cause: unknown): void {
    const serverName = this.#serverName;
    const message = `"${serverName}" does not respond: ${why}`;
    this.#onUnresponsive(new HostError("unreachable", message, { serverName, cause }));
  }
}
