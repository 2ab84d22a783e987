/** Watches timers, also those that do not keep the process alive. */

import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import promises from "node:timers/promises";
import { watch } from "./scope.ts";
import { seeCalls } from "./wrap.ts";

/** The clock of the guard itself. */
export const realSetTimeout: typeof setTimeout = globalThis.setTimeout;

/** The HTTP client of Node keeps timers for its idle connections; the connections themselves are watched. */
const clientTimers = /node:internal\/deps\/undici|[/\\]node_modules[/\\]undici[/\\]/;

/** A timer that a library makes for itself and that keeps nothing alive is the library's business. */
const libraryFrame = /^[^\n]*\n(?:[^\n]*(?:[/\\]guard[/\\]|Object[.]apply)[^\n]*\n)*[^\n]*[/\\]node_modules[/\\]/;

export function watchTimers(): void {
  for (const name of ["setTimeout", "setInterval"] as const) {
    seeCalls(globalThis, name, (_, [, ms], timer) => watchTimer(timer, name, Number(ms ?? 0)));
    Reflect.set(timers, name, globalThis[name]);
  }
  seeCalls(promises, "setTimeout", (_, [ms], promise) => watchWait(promise, Number(ms ?? 0)));
  syncBuiltinESMExports();
}

/** A host that a file shares writes its history together, after this many milliseconds at most. */
const longestBatch = 50;

function watchTimer(timer: unknown, name: string, ms: number): void {
  if (!isTimer(timer)) return;
  watch({
    describe: () => `a timer: ${name} of ${ms} ms`,
    // The stack is written when it is asked for, which takes longer than everything else here: last.
    isOver: (origin) =>
      Reflect.get(timer, "_destroyed") === true ||
      clientTimers.test(origin.stack ?? "") ||
      (!timer.hasRef() && libraryFrame.test(origin.stack ?? "")),
    // A session has one timer for the deadlines of all its requests, and keeps it until it is closed.
    mayBeShared: () => !timer.hasRef() || ms <= longestBatch,
    endsLater: false,
  });
}

function watchWait(promise: unknown, ms: number): void {
  if (!(promise instanceof Promise)) return;
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  promise.then(end, end);
  watch({
    describe: () => `a timer: setTimeout of node:timers/promises of ${ms} ms`,
    isOver: () => isOver,
    endsLater: false,
  });
}

function isTimer(timer: unknown): timer is NodeJS.Timeout {
  return typeof timer === "object" && timer !== null && "hasRef" in timer;
}
