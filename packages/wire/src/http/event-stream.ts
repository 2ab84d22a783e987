/** Parses a `text/event-stream` body into events of limited size. */

import type { Readable } from "node:stream";
import { createParser } from "eventsource-parser";
import { WireError } from "../errors.ts";
import type { ReadBudget } from "../rpc/read-budget.ts";

/** One event of a `text/event-stream` body. `event` and `id` are undefined if the server did not send them. */
export interface StreamEvent {
  readonly event: string | undefined;
  readonly data: string;
  readonly id: string | undefined;
}

interface StreamListener {
  /** Handles an event. Returns a promise if the event is long. The next event then waits for that promise. */
  event(event: StreamEvent): Promise<void> | undefined;
  /** The server's `retry` field, in milliseconds. */
  retry(milliseconds: number): void;
}

export interface StreamLimits {
  /** Maximum size of an event, in bytes. */
  readonly maxBytes: number;
  readonly budget: ReadBudget;
}

const sliceLines = 64;

/**
 * Parses the body. Resolves at its end.
 *
 * @throws WireError `too_large` for an event over `maxBytes`, `stream_lost` if the connection breaks.
 */
export async function readEvents(
  body: Readable,
  { maxBytes, budget }: StreamLimits,
  listener: StreamListener,
): Promise<void> {
  const fault = { tooLarge: false };
  let events = 0;
  /** Bytes that the parser keeps, because their event is not complete. Comments are not kept. */
  let held = 0;
  const message = budget.largeMessages.begin();
  // A stream that was closed needs no further turn.
  body.once("close", () => message.release());
  /** Set after a long event. Resolves when the listener has handled that event and the events after it. */
  let taking: Promise<void> | undefined;
  const parser = createParser({
    maxBufferSize: maxBytes,
    onEvent({ event, data, id }) {
      events += 1;
      const next = { event, data, id };
      taking = taking ? taking.then(() => listener.event(next)) : listener.event(next);
      // Prevents an unhandled rejection. `takeLong` awaits this promise too, and reports the error.
      taking?.catch(() => {});
    },
    onComment() {
      held = 0;
    },
    onRetry: (milliseconds) => listener.retry(milliseconds),
    onError: (error) => {
      fault.tooLarge ||= error.type === "max-buffer-size-exceeded";
    },
  });
  const decoder = new TextDecoder();

  /** Passes at most `sliceLines` lines to the parser, because a chunk with many events would block the event loop. */
  function feed(slice: Buffer, lines: number): void {
    const before = events;
    parser.feed(decoder.decode(slice, { stream: true }));
    budget.lines(lines);
    // An event may have five lines. Further lines count as blank lines or comments.
    const empty = lines - 5 * (events - before);
    if (empty > 0) budget.unsolicited("blank lines and comments in its event stream", 0, empty);
    if (fault.tooLarge) throw new WireError("too_large", `an event from the server is larger than ${maxBytes} bytes`);
  }

  async function takeLong(): Promise<void> {
    await taking;
    taking = undefined;
  }

  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      budget.bytes(chunk.length);
      for (let from = 0; from < chunk.length; ) {
        const { end, lines } = nextSlice(chunk, from);
        const before = events;
        held += end - from;
        feed(chunk.subarray(from, end), lines);
        from = end;
        if (taking) await takeLong();
        if (events > before) held = 0;
        message.hold(held);
        const turn = message.turn();
        if (turn) await turn;
        if (budget.isSpent()) await new Promise<void>((resolve) => budget.whenRefilled(resolve));
        // While the lines were parsed, the listener or the read budget may have closed the stream.
        if (body.destroyed && !body.readableEnded) throw new Error("the stream was closed");
      }
    }
    // Some servers leave out the blank line after their last event. Without it, the parser would drop the event.
    parser.feed("\n\n");
    await takeLong();
  } catch (cause) {
    if (cause instanceof WireError) throw cause;
    throw new WireError("stream_lost", "the server's event stream broke off", {}, { cause });
  } finally {
    message.release();
  }
}

/** Returns where the next slice ends. The slice starts at `from` and has at most `sliceLines` lines. */
function nextSlice(chunk: Buffer, from: number): { readonly end: number; readonly lines: number } {
  const feeds = lineEnds(chunk, from, lineFeed);
  const returns = lineEnds(chunk, from, carriageReturn);
  return { end: Math.min(feeds.end, returns.end), lines: Math.max(feeds.lines, returns.lines) };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

function lineEnds(chunk: Buffer, from: number, byte: number): { readonly end: number; readonly lines: number } {
  let lines = 0;
  for (let at = chunk.indexOf(byte, from); at !== -1; at = chunk.indexOf(byte, at + 1)) {
    lines += 1;
    if (lines === sliceLines) return { end: at + 1, lines };
  }
  return { end: chunk.length, lines };
}
