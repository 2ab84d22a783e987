/** Makes of an exchange what whoever follows it after its first answer sees. */

import type { RequestClock } from "./clock.ts";
import type { Exchange, OpenRequest } from "./exchange.ts";

/** @param tell Runs what may fail in a listener. */
export function openRequest(
  exchange: Exchange,
  clock: Pick<RequestClock, "now" | "wakeBy">,
  tell: (exchange: Exchange, news: () => void) => void,
): OpenRequest {
  return {
    signal: exchange.signal,
    restartTimeout: () => exchange.restartTimeout(clock.now()),
    progress: (progress) => tell(exchange, () => exchange.progress(progress)),
    reportMessage: (message) => tell(exchange, () => exchange.reportMessage(message)),
    pause: () => exchange.pause(clock.now()),
    resume() {
      exchange.resume(clock.now());
      clock.wakeBy(exchange.due);
    },
  };
}
