/** Watches timers, also those that do not keep the process alive. */

import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import promises from "node:timers/promises";
import { watch } from "./scope.ts";

/** The clock of the guard itself. */
export const realSetTimeout: typeof setTimeout = globalThis.setTimeout;

/** The HTTP client of Node keeps timers for its idle connections; the connections themselves are watched. */
const ownTimers = /node:internal\/deps\/undici|[/\\]node_modules[/\\]undici[/\\]/;

export function watchTimers(): void {
  globalThis.setTimeout = watched(globalThis.setTimeout, "setTimeout");
  globalThis.setInterval = watched(globalThis.setInterval, "setInterval");
  timers.setTimeout = globalThis.setTimeout;
  timers.setInterval = globalThis.setInterval;
  promises.setTimeout = watchedWait(promises.setTimeout);
  syncBuiltinESMExports();
}

function watched<T extends typeof setTimeout | typeof setInterval>(make: T, name: string): T {
  return new Proxy(make, {
    apply(target, self, args) {
      const timer: NodeJS.Timeout = Reflect.apply(target, self, args);
      watch({
        describe: () => `a timer: ${name} of ${Number(args[1] ?? 0)} ms`,
        isOver: (origin) => Reflect.get(timer, "_destroyed") === true || ownTimers.test(origin.stack ?? ""),
        endsLater: false,
      });
      return timer;
    },
  });
}

function watchedWait(wait: typeof promises.setTimeout): typeof promises.setTimeout {
  return new Proxy(wait, {
    apply(target, self, args) {
      const promise: Promise<unknown> = Reflect.apply(target, self, args);
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      promise.then(end, end);
      watch({
        describe: () => `a timer: setTimeout of node:timers/promises of ${Number(args[0] ?? 0)} ms`,
        isOver: () => isOver,
        endsLater: false,
      });
      return promise;
    },
  });
}
