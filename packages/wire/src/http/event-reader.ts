/** Delivers the messages of event streams and remembers where it is: the last event id and the server's wish for a pause. */

import type { Readable } from "node:stream";
import { WireError } from "../errors.ts";
import { onAbort } from "../rpc/abort.ts";
import type { ChannelEvents, RpcMessage } from "../rpc/channel.ts";
import { systemTime, type TimeSource } from "../rpc/time-source.ts";
import { createDiagnostics, type Diagnose } from "../shapes/diagnostics.ts";
import type { WireLimits } from "../target.ts";
import { readEvents, type StreamEvent } from "./event-stream.ts";
import { messagesOf } from "./http-answer.ts";

export interface EventReader {
  /** Reads one stream to its end; once what was waited for has come, the end is waited for no longer than `grace`. */
  read(body: Readable, grace: number): Promise<void>;
  done(): boolean;
  /** The last event id; absent when the server gives none, so that nothing can be resumed. */
  position(): string | undefined;
  /** Messages delivered so far. */
  delivered(): number;
  /** Waits as long as the server asked for, at least. */
  pause(signal: AbortSignal, how?: { readonly atLeast?: number; readonly keepsAlive?: boolean }): Promise<void>;
}

interface ReaderOptions {
  readonly events: ChannelEvents;
  readonly limits: WireLimits;
  readonly until?: (message: RpcMessage) => boolean;
  readonly time?: TimeSource | undefined;
}

const defaultPause = 1_000;
const longestPause = 60_000;

export function createEventReader({ events, limits, until, time = systemTime }: ReaderOptions): EventReader {
  const odd = createDiagnostics((text) => events.diagnostic(text));
  let done = false;
  let position: string | undefined;
  let delivered = 0;
  let wish = defaultPause;

  function take({ event, data, id }: StreamEvent): void {
    if (id !== undefined && id !== "") position = id;
    if ((event !== undefined && event !== "message") || data === "") return;
    for (const message of parse(data, odd)) {
      delivered += 1;
      done ||= until?.(message) ?? false;
      events.message(message);
    }
  }

  return {
    async read(body, grace) {
      let overdue: NodeJS.Timeout | undefined;
      try {
        await readEvents(body, limits.messageBytes, {
          event(event) {
            take(event);
            // The response is here; a server that forgets to end its stream would keep the connection for ever.
            if (done) overdue ??= setTimeout(() => body.destroy(), grace).unref();
          },
          retry(milliseconds) {
            wish = Math.min(milliseconds, longestPause);
          },
        });
      } finally {
        clearTimeout(overdue);
      }
    },
    done: () => done,
    position: () => position,
    delivered: () => delivered,
    async pause(signal, { atLeast = 0, keepsAlive = false } = {}) {
      await new Promise<void>((resolve, reject) => {
        const callOff = time.after(Math.max(wish, atLeast), resume, { background: !keepsAlive });
        const stopListening = onAbort(signal, () => {
          callOff();
          const cause: unknown = signal.reason;
          reject(new WireError("cancelled", "cancelled while waiting to resume", {}, { cause }));
        });
        function resume(): void {
          stopListening();
          resolve();
        }
      });
    },
  };
}

function parse(data: string, odd: Diagnose): readonly RpcMessage[] {
  try {
    return messagesOf(JSON.parse(data) as unknown);
  } catch {
    odd("an event is not JSON", `an event of ${data.length} characters is not JSON`);
    return [];
  }
}
