/** Makes of an exchange what whoever follows it after its first answer sees. */

import type { Clock } from "./clock.ts";
import type { Exchange, OpenRequest } from "./exchange.ts";

/** @param tell Runs what may fail in a listener. */
export function openRequest(
  exchange: Exchange,
  clock: Pick<Clock, "now" | "ringBy">,
  tell: (exchange: Exchange, news: () => void) => void,
): OpenRequest {
  return {
    signal: exchange.signal,
    stir: () => exchange.stir(clock.now()),
    progress: (progress) => tell(exchange, () => exchange.progress(progress)),
    say: (message) => tell(exchange, () => exchange.say(message)),
    hold: () => exchange.hold(clock.now()),
    release() {
      exchange.release(clock.now());
      clock.ringBy(exchange.due);
    },
  };
}
