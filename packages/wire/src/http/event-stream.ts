/** Reads a `text/event-stream` body as events, bounded; ends when the body ends, throws when it is cut. */

import type { Readable } from "node:stream";
import { createParser } from "eventsource-parser";
import { WireError } from "../errors.ts";

export interface StreamEvent {
  readonly event: string | undefined;
  readonly data: string;
  readonly id: string | undefined;
}

interface StreamListener {
  event(event: StreamEvent): void;
  /** The server's wish for how long to wait before coming back, in milliseconds. */
  retry(milliseconds: number): void;
}

/** Resolves at the end of the body. Events over `maxBytes` end it with `too_large`. */
export async function readEvents(body: Readable, maxBytes: number, listener: StreamListener): Promise<void> {
  const fault = { tooLarge: false };
  const parser = createParser({
    maxBufferSize: maxBytes,
    onEvent: ({ event, data, id }) => listener.event({ event, data, id }),
    onRetry: (milliseconds) => listener.retry(milliseconds),
    onError: (error) => {
      fault.tooLarge ||= error.type === "max-buffer-size-exceeded";
    },
  });
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (fault.tooLarge) throw new WireError("too_large", `an event of the server is larger than ${maxBytes} bytes`);
    }
    // Some servers leave out the blank line after their last event.
    parser.feed("\n\n");
  } catch (cause) {
    if (cause instanceof WireError) throw cause;
    throw new WireError("stream_lost", "the server's stream was cut", {}, { cause });
  }
}
