/** Watches timers, including timers that do not keep the process alive. */

import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import promises from "node:timers/promises";
import { watch } from "./scope.ts";
import { seeCalls } from "./wrap.ts";

/** The unwatched `setTimeout`, for the guard itself. */
export const realSetTimeout: typeof setTimeout = globalThis.setTimeout;

/**
 * Matches the stack of timers that Node's HTTP client keeps for idle connections. The connections themselves are
 * watched.
 */
const clientTimers = /node:internal\/deps\/undici|[/\\]node_modules[/\\]undici[/\\]/;

/** Matches the stack of a timer that a library creates. If it does not keep the process alive, it is not reported. */
const libraryFrame = /^[^\n]*\n(?:[^\n]*(?:[/\\]guard[/\\]|Object[.]apply)[^\n]*\n)*[^\n]*[/\\]node_modules[/\\]/;

export function watchTimers(): void {
  for (const name of ["setTimeout", "setInterval"] as const) {
    seeCalls(globalThis, name, (_, [, ms], timer) => watchTimer(timer, name, Number(ms ?? 0)));
    Reflect.set(timers, name, globalThis[name]);
  }
  seeCalls(promises, "setTimeout", (_, [ms], promise) => watchWait(promise, Number(ms ?? 0)));
  syncBuiltinESMExports();
}

/** A host that a file shares writes its history in batches, after this many milliseconds at most. */
const longestBatch = 50;

function watchTimer(timer: unknown, name: string, ms: number): void {
  if (!isTimer(timer)) return;
  watch({
    describe: () => `a timer: ${name} of ${ms} ms`,
    // The stack is read last, because creating its text takes longer than the other checks.
    isOver: (origin) =>
      Reflect.get(timer, "_destroyed") === true ||
      clientTimers.test(origin.stack ?? "") ||
      (!timer.hasRef() && libraryFrame.test(origin.stack ?? "")),
    // A session has one timer for the deadlines of all its requests, and keeps it until the session is closed.
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
