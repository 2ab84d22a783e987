/** Parses a `text/event-stream` body into events of limited size. */

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
  /** The server's `retry` field, in milliseconds. */
  retry(milliseconds: number): void;
}

/**
 * Resolves at the end of the body.
 *
 * @throws WireError `too_large` for an event over `maxBytes`, `stream_lost` if the connection breaks.
 */
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
    // Some servers omit the blank line after their last event.
    parser.feed("\n\n");
  } catch (cause) {
    if (cause instanceof WireError) throw cause;
    throw new WireError("stream_lost", "the server's event stream broke off", {}, { cause });
  }
}
