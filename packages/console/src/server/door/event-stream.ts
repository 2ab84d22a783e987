/** Sends the events of a host to one page. */

import type { ServerResponse } from "node:http";
import type { Clock } from "@fairlead/core/clock";
import type { ConsoleSource } from "../console-source.ts";
import { type EventRing, eventLine } from "./event-ring.ts";

/** A line comes at least this often, in milliseconds, so that a page can tell a dead stream. */
const beatTime = 15_000;
/** About this many bytes are handed to the socket at a time. */
const chunkBytes = 64 * 1024;
/**
 * Milliseconds in which events are collected after a write. The page draws ten times a second, and each piece that it
 * receives costs it more than the events in it.
 */
const collectTime = 100;

export interface EventStreamOptions {
  readonly source: Pick<ConsoleSource, "snapshot">;
  readonly ring: EventRing;
  /** The number of the last event that the page has. Undefined: it has none. */
  readonly after: number | undefined;
  readonly clock: Pick<Clock, "after">;
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  /** Whether the console has closed: then the page is told, and does not connect again. */
  readonly isClosed: () => boolean;
  /** Ends with the latest event instead of waiting for the next one. */
  readonly isCatchUp: boolean;
}

/**
 * Sends events until the page disconnects or its session ends. The page's place is a number in the ring: what it does not read yet waits
 * there, and not in this process's memory for it.
 */
export async function streamEvents(response: ServerResponse, options: EventStreamOptions): Promise<void> {
  const { source, ring, after, clock, signal, isClosed, isCatchUp } = options;
  let wake = (): void => {};
  const isOver = (): boolean => signal.aborted || response.destroyed;
  const changed = (): void => wake();
  const stopListening = ring.onEvent(changed);
  signal.addEventListener("abort", changed);
  response.on("close", changed).on("drain", changed);
  const beat = (): void => {
    if (!response.writableNeedDrain) response.write(":\n\n");
    stopBeat = clock.after(beatTime, beat, { background: true });
  };
  let stopBeat = clock.after(beatTime, beat, { background: true });
  const collect = (): Promise<void> =>
    new Promise((resolve) => {
      const callOff = clock.after(collectTime, () => done(), { background: true });
      const done = (): void => {
        callOff();
        signal.removeEventListener("abort", done);
        response.off("close", done);
        resolve();
      };
      signal.addEventListener("abort", done);
      response.on("close", done);
      if (isOver()) done();
    });
  try {
    let last = after;
    while (!isOver()) {
      const hasAll = last !== undefined && last === ring.last;
      if (hasAll && isCatchUp) break;
      if (response.writableNeedDrain || hasAll) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else if (last === undefined || !ring.has(last)) {
        // Taken first: an event that comes meanwhile is sent again, rather than lost.
        const { last: number } = ring;
        const snapshot = await source.snapshot();
        response.write(eventLine(number, { type: "snapshot", isReset: last !== undefined, snapshot }));
        last = number;
      } else {
        const read = ring.after(last, chunkBytes);
        if (read === undefined) throw new Error("the ring has lost an event");
        response.write(read.chunk);
        last = read.last;
        if (read.chunk.length < chunkBytes && !isCatchUp) await collect();
      }
    }
    if (!response.destroyed) response.end(signal.aborted && isClosed() ? "event: closed\ndata: {}\n\n" : undefined);
  } finally {
    stopBeat();
    stopListening();
    signal.removeEventListener("abort", changed);
    response.off("close", changed).off("drain", changed);
  }
}
