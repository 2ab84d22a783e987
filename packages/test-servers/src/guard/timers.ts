/** Watches timers, also those that do not keep the process alive. */

import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import promises from "node:timers/promises";
import { watch } from "./scope.ts";

/** The clock of the guard itself. */
export const realSetTimeout: typeof setTimeout = globalThis.setTimeout;

/** The HTTP client of Node keeps timers for its idle connections; the connections themselves are watched. */
const clientTimers = /node:internal\/deps\/undici|[/\\]node_modules[/\\]undici[/\\]/;

/** A timer that a library makes for itself and that keeps nothing alive is the library's business. */
const libraryFrame = /^[^\n]*\n(?:[^\n]*(?:[/\\]guard[/\\]|Object[.]apply)[^\n]*\n)*[^\n]*[/\\]node_modules[/\\]/;

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
        isOver: ({ stack = "" }) =>
          Reflect.get(timer, "_destroyed") === true ||
          clientTimers.test(stack) ||
          (!timer.hasRef() && libraryFrame.test(stack)),
        // A session has one timer for the deadlines of all its requests, and keeps it until it is closed.
        mayBeShared: () => !timer.hasRef(),
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
