/** Limits the `log` events of one server. Counts dropped events and reports their number with the next event. */

import type { Clock } from "../clock.ts";
import { createRateLimit } from "../connect/text-lines.ts";
import type { ServerNews } from "../events.ts";

type LogNews = Extract<ServerNews, { readonly type: "log" }>;

/** Passes on the `log` events of one server, up to the limit. */
export interface LogLimit {
  readonly push: (news: LogNews) => void;
  /** Emits a message with the number of events that were dropped since the last event that passed. */
  readonly flush: () => void;
}

const perSecond = 100;
const burst = 1000;

/** Creates the limit. At most 1000 events pass at once. */
export function createLogLimit(server: string, clock: Pick<Clock, "now">, emit: (news: ServerNews) => void): LogLimit {
  const rate = createRateLimit(perSecond, burst, clock.now);
  let dropped = 0;

  function flush(): void {
    const count = dropped;
    dropped = 0;
    if (count === 0) return;
    const data = `${count.toLocaleString("en")} log messages dropped: the server sent more than ${perSecond} per second`;
    emit({ type: "log", server, level: "warning", data });
  }

  return {
    push(news) {
      if (rate.take(1) === 0) {
        dropped += 1;
        return;
      }
      flush();
      emit(news);
    },
    flush,
  };
}
