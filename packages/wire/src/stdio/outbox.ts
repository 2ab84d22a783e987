/**
 * Writes messages to a server's stdin. Messages of the same tick are written together. Limits how many bytes wait, and
 * for how long.
 */

import { Buffer } from "node:buffer";
import type { Writable } from "node:stream";
import { WireError, type WireErrorCode } from "../errors.ts";
import type { RpcMessage } from "../rpc/channel.ts";
import { errorMessage } from "../shapes/text.ts";

/** Limits for messages that wait to be written. */
export interface OutboxOptions {
  /** Maximum size of a message, in bytes. */
  readonly messageBytes: number;
  /** While so many bytes wait, no further message is accepted. */
  readonly unsentBytes: number;
  /** Milliseconds that a message may wait to be written. `Infinity`: any time. */
  readonly deadline: number;
  /** Who reads the stream, for error messages. Default: `the server`. */
  readonly reader?: string;
}

/** The messages that wait to be written to one program. */
export interface Outbox {
  send(message: RpcMessage, signal?: AbortSignal): Promise<void>;
  /** Returns how many bytes wait: those in the queue, and those that are being written. */
  waiting(): number;
  /** If at least so many bytes wait, returns a promise that resolves when some of them have been written, or are lost. */
  below(bytes: number): Promise<void> | undefined;
  /** Writes all waiting messages, then closes stdin. */
  end(): void;
  /** Rejects the messages that are not yet written, and all later messages. */
  fail(cause: WireError): void;
}

/** A longer line (in bytes) becomes bytes at once, because a large text would be copied once more to end in a newline. */
const largeLine = 1024 * 1024;
const newline = 0x0a;

/** The messages that are written together. They share one promise. */
interface Batch {
  /** The lines up to the last large one, as bytes. `text` follows them. */
  first: Buffer[] | undefined;
  text: string;
  bytes: number;
  readonly left: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: WireError) => void;
  timer?: NodeJS.Timeout;
}

/** Creates an empty queue in front of a program's stdin. */
export function createOutbox(stdin: Writable, options: OutboxOptions): Outbox {
  const { messageBytes, unsentBytes, deadline, reader = "the server" } = options;
  /** The batch that collects messages for the next write. */
  let next: Batch | undefined;
  /** The batch that is being written. The operating system has not accepted all of it. */
  let writing: Batch | undefined;
  /** The batch for messages that were sent after `end`. They are never written, and `fail` rejects them. */
  let late: Batch | undefined;
  /** While the queue is full, every message gets this one rejection, because creating an error is slow. */
  let full: Promise<never> | undefined;
  let failure: WireError | undefined;
  let ended = false;

  function flush(): void {
    if (next === undefined || writing !== undefined || failure !== undefined) return;
    const batch = next;
    // The pipe is closed. `fail` will reject the batch.
    if (!stdin.writable) return;
    next = undefined;
    writing = batch;
    const { first = [], text } = batch;
    const last = text === "" ? (first.pop() ?? text) : text;
    for (const chunk of first) stdin.write(chunk);
    stdin.write(last, (error) => {
      // After an error, `fail` will reject the batch with the cause. Node reports no error if the pipe was destroyed
      // during the write, as it is when the server exits.
      if (error || stdin.destroyed) return;
      done(batch);
    });
    batch.first = undefined;
    batch.text = "";
    if (stdin.writableLength === 0 && !stdin.errored) done(batch);
    else watch(batch);
  }

  function done(batch: Batch): void {
    if (batch.timer !== undefined) clearTimeout(batch.timer);
    batch.resolve();
    if (writing !== batch) return;
    writing = undefined;
    full = undefined;
    flush();
    endWhenEmpty();
  }

  function endWhenEmpty(): void {
    if (ended && writing === undefined) stdin.end();
  }

  function watch(batch: Batch): void {
    if (deadline === Number.POSITIVE_INFINITY) return;
    batch.timer ??= setTimeout(() => {
      const waited = `${reader} did not read its stdin for ${deadline} ms`;
      batch.reject(new WireError("send_blocked", waited, batch === next ? { unsent: true } : {}));
      // Part of the batch may be written. Without its rest, the next message would be appended to an incomplete line.
      if (batch !== next) return;
      next = undefined;
      full = undefined;
    }, deadline);
  }

  function enqueue(json: string, bytes: number): Promise<void> {
    if (next === undefined) {
      next = createBatch();
      if (writing === undefined) process.nextTick(flush);
      else watch(next);
    }
    if (bytes < largeLine) next.text += `${json}\n`;
    else {
      const line = Buffer.allocUnsafe(bytes);
      line.write(json);
      line[bytes - 1] = newline;
      const before = next.text === "" ? [] : [Buffer.from(next.text)];
      next.first = [...(next.first ?? []), ...before, line];
      next.text = "";
    }
    next.bytes += bytes;
    return next.left;
  }

  function bytesWaiting(): number {
    return (writing?.bytes ?? 0) + (next?.bytes ?? 0);
  }

  return {
    waiting: bytesWaiting,
    below: (bytes) => (bytesWaiting() < bytes ? undefined : (writing ?? next)?.left.catch(() => undefined)),
    send(message, signal) {
      if (signal?.aborted) return refuse("cancelled", "cancelled by the caller");
      if (failure !== undefined) return rejected(unsent(failure));
      if (ended) {
        late ??= createBatch();
        return late.left;
      }
      const waiting = bytesWaiting();
      if (waiting >= unsentBytes) {
        full ??= refuse(
          "send_blocked",
          `${reader} reads too slowly: ${waiting} bytes wait, and the limit unsentBytes is ${unsentBytes}`,
        );
        return full;
      }
      let json: string;
      try {
        json = JSON.stringify(message);
      } catch (error) {
        return refuse("bad_message", `the message cannot be written as JSON: ${errorMessage(error)}`, { cause: error });
      }
      const bytes = Buffer.byteLength(json) + 1;
      if (bytes > messageBytes) {
        return refuse(
          "too_large",
          `a message of ${bytes} bytes is larger than the limit messageBytes (${messageBytes})`,
        );
      }
      return enqueue(json, bytes);
    },
    end() {
      if (ended) return;
      ended = true;
      flush();
      endWhenEmpty();
    },
    fail(cause) {
      failure ??= cause;
      for (const batch of [writing, next, late]) {
        if (batch === undefined) continue;
        clearTimeout(batch.timer);
        batch.reject(batch === writing ? cause : unsent(cause));
      }
      writing = undefined;
      next = undefined;
      late = undefined;
    },
  };
}

function createBatch(): Batch {
  let resolve: () => void = () => undefined;
  let reject: (error: WireError) => void = () => undefined;
  const left = new Promise<void>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { first: undefined, text: "", bytes: 0, left: tolerated(left), resolve, reject };
}

/** Prevents an unhandled rejection if a sender does not wait for the promise. */
function tolerated<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

function rejected(error: WireError): Promise<never> {
  return tolerated(Promise.reject(error));
}

function refuse(code: WireErrorCode, message: string, options?: ErrorOptions): Promise<never> {
  return rejected(new WireError(code, message, { unsent: true }, options));
}

function unsent(cause: WireError): WireError {
  return new WireError(cause.code, cause.message, { ...cause.evidence, unsent: true }, { cause });
}
