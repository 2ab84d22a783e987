/** Limits the `log` events of one server. Counts dropped events and reports their number with the next event. */

import type { Clock } from "../clock.ts";
import { createRateLimit, type RateLimit } from "../connect/text-lines.ts";
import type { ServerNews } from "../events.ts";

type LogNews = Extract<ServerNews, { readonly type: "log" }>;

const perSecond = 100;
const burst = 1000;

/** Passes on the `log` events of one server, up to the limit. At most 1000 events pass at once. */
export class LogLimit {
  readonly #server: string;
  readonly #emit: (news: ServerNews) => void;
  readonly #rate: RateLimit;
  #dropped = 0;

  constructor(server: string, clock: Pick<Clock, "now">, emit: (news: ServerNews) => void) {
    this.#server = server;
    this.#emit = emit;
    this.#rate = createRateLimit(perSecond, burst, clock.now);
  }

  push(news: LogNews): void {
    if (this.#rate.take(1) === 0) {
      this.#dropped += 1;
      return;
    }
    this.flush();
    this.#emit(news);
  }

  /** Emits a message with the number of events that were dropped since the last event that passed. */
  flush(): void {
    const count = this.#dropped;
    this.#dropped = 0;
    if (count === 0) return;
    const data = `${count.toLocaleString("en")} log messages dropped: the server sent more than ${perSecond} per second`;
    this.#emit({ type: "log", server: this.#server, level: "warning", data });
  }
}
