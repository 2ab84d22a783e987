/** Reads messages from event streams. Keeps the last event id and the retry time for a reconnect. */

import type { Readable } from "node:stream";
import { WireError } from "../errors.ts";
import { onAbort } from "../rpc/abort.ts";
import type { RpcMessage } from "../rpc/channel.ts";
import { failedParseLines } from "../rpc/read-budget.ts";
import { systemTime, type TimeSource } from "../rpc/time.ts";
import { createDiagnostics } from "../shapes/diagnostics.ts";
import { parseJson } from "../shapes/json.ts";
import { memoryFor } from "../shapes/json-memory.ts";
import { longJson, parseLongJson } from "../shapes/sliced-json.ts";
import { readEvents, type StreamEvent } from "./event-stream.ts";
import { type MessageReader, messagesOf, takeMessage } from "./http-answer.ts";

/** Reads several streams, one after the other. The event id and the retry time carry over to the next stream. */
export interface EventReader {
  /**
   * Reads a stream to its end. After the message for which `until` returned true, reads for at most `grace`
   * milliseconds.
   */
  read(body: Readable, grace: number): Promise<void>;
  done(): boolean;
  /** Returns the last event id, for resuming the stream. Undefined if the server sends no event ids. */
  position(): string | undefined;
  /** Returns the number of messages delivered so far. */
  delivered(): number;
  /** Waits before a reconnect: for the server's `retry` time, or for `atLeast` milliseconds if that is longer. */
  pause(signal: AbortSignal, how?: { readonly atLeast?: number; readonly keepsAlive?: boolean }): Promise<void>;
}

interface ReaderOptions extends MessageReader {
  /** Maximum size of an event, in bytes. */
  readonly maxBytes: number;
  readonly until?: (message: RpcMessage) => boolean;
  /** Handles an event that is not a message. Returns false if it does not know the event. */
  readonly takeOther?: (event: StreamEvent) => boolean;
  readonly time?: TimeSource | undefined;
}

const defaultPause = 1_000;
const longestPause = 60_000;

export function createEventReader(options: ReaderOptions): EventReader {
  const { events, maxBytes, budget, until, time = systemTime } = options;
  const diagnose = createDiagnostics((text) => events.diagnostic(text));
  let done = false;
  let position: string | undefined;
  let delivered = 0;
  let retryPause = defaultPause;

  function take(given: StreamEvent): Promise<void> | undefined {
    if (options.takeOther?.(given)) return undefined;
    const { event, data, id } = given;
    if (id !== undefined && id !== "") position = id;
    const size = Buffer.byteLength(data);
    if ((event !== undefined && event !== "message") || data === "") {
      budget.unsolicited("events that are not messages", size, 1);
      return undefined;
    }
    if (data.length >= longJson)
      return parseLongJson(data, { maxMemory: memoryFor(maxBytes) }).then((value) => deliver(value, size));
    deliver(parseJson(data), size);
    return undefined;
  }

  function deliver(value: unknown, size: number): void {
    if (value === undefined) diagnose("an event is not JSON", `an event of ${size} bytes is not JSON`);
    const messages = messagesOf(value);
    if (messages.length === 0) budget.unsolicited("events that are not messages", size, failedParseLines);
    for (const message of messages) {
      delivered += 1;
      done ||= until?.(message) ?? false;
      takeMessage(message, size / messages.length, options);
    }
  }

  return {
    async read(body, grace) {
      let overdue: NodeJS.Timeout | undefined;
      /** Some servers never end their streams, so the stream is closed `grace` milliseconds after the response. */
      const endIfDone = (): void => {
        if (done) overdue ??= setTimeout(() => body.destroy(), grace).unref();
      };
      try {
        await readEvents(
          body,
          { maxBytes, budget },
          {
            event(event) {
              const taking = take(event);
              if (taking) return taking.then(endIfDone);
              endIfDone();
              return undefined;
            },
            retry(milliseconds) {
              retryPause = Math.min(milliseconds, longestPause);
            },
          },
        );
      } finally {
        clearTimeout(overdue);
      }
    },
    done: () => done,
    position: () => position,
    delivered: () => delivered,
    async pause(signal, { atLeast = 0, keepsAlive = false } = {}) {
      await new Promise<void>((resolve, reject) => {
        const callOff = time.after(Math.max(retryPause, atLeast), resume, { background: !keepsAlive });
        const stopListening = onAbort(signal, () => {
          callOff();
          const cause: unknown = signal.reason;
          reject(new WireError("cancelled", "cancelled while waiting to reconnect to the stream", {}, { cause }));
        });
        function resume(): void {
          stopListening();
          resolve();
        }
      });
    },
  };
}
