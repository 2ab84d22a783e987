/** Writes messages to a server's stdin: one write for all of a tick, a bound on what may wait, a deadline for it. */

import { Buffer } from "node:buffer";
import type { Writable } from "node:stream";
import { WireError, type WireErrorCode } from "../errors.ts";
import type { RpcMessage } from "../rpc/channel.ts";
import { errorMessage } from "../shapes/text.ts";

export interface OutboxOptions {
  /** The largest message. */
  readonly messageBytes: number;
  /** How much may wait for a server that does not read. */
  readonly unsentBytes: number;
  /** How long a message may wait to leave, in milliseconds. */
  readonly deadline: number;
}

export interface Outbox {
  send(message: RpcMessage, signal?: AbortSignal): Promise<void>;
  /** Lets go of what waits and says that nothing follows. */
  end(): void;
  /** Rejects everything that has not left, and everything from now on. */
  fail(cause: WireError): void;
}

/** Messages that leave in one write; their senders share one promise. */
interface Batch {
  text: string;
  bytes: number;
  readonly left: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: WireError) => void;
  timer?: NodeJS.Timeout;
}

export function createOutbox(stdin: Writable, { messageBytes, unsentBytes, deadline }: OutboxOptions): Outbox {
  /** Collects messages; not written yet. */
  let next: Batch | undefined;
  /** Handed to the operating system, which has not taken all of it. */
  let writing: Batch | undefined;
  /** Came when nothing could leave any more; `fail` will know why. */
  let late: Batch | undefined;
  /** Given to everybody who comes while there is no room: an error costs a stack, and replies come in floods. */
  let full: Promise<never> | undefined;
  let failure: WireError | undefined;
  let ended = false;

  function flush(): void {
    if (next === undefined || writing !== undefined || failure !== undefined) return;
    const batch = next;
    // Destroyed with its reader: what is still here never leaves, and `fail` is on its way.
    if (!stdin.writable) return;
    next = undefined;
    writing = batch;
    stdin.write(batch.text, (error) => {
      // What broke the pipe decides the cause, and `fail` brings it: the error here only says that it is broken.
      if (error) return;
      done(batch);
    });
    batch.text = "";
    if (stdin.writableLength === 0 && !stdin.errored) done(batch);
    else watch(batch);
  }

  function done(batch: Batch): void {
    clearTimeout(batch.timer);
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

  /** Only a batch that has to wait costs a timer. */
  function watch(batch: Batch): void {
    batch.timer ??= setTimeout(() => {
      const waited = `the server did not read for ${deadline} ms`;
      batch.reject(new WireError("send_blocked", waited, batch === next ? { unsent: true } : {}));
      // One that is half written stays: cutting it would garble whatever follows.
      if (batch !== next) return;
      next = undefined;
      full = undefined;
    }, deadline);
  }

  function enqueue(line: string, bytes: number): Promise<void> {
    if (next === undefined) {
      next = createBatch();
      if (writing === undefined) process.nextTick(flush);
      else watch(next);
    }
    next.text += line;
    next.bytes += bytes;
    return next.left;
  }

  return {
    send(message, signal) {
      if (signal?.aborted) return refuse("cancelled", "cancelled by the caller");
      if (failure !== undefined) return rejected(unsent(failure));
      if (ended) {
        late ??= createBatch();
        return late.left;
      }
      let line: string;
      try {
        line = `${JSON.stringify(message)}\n`;
      } catch (error) {
        return refuse("bad_message", `the message cannot be written as JSON: ${errorMessage(error)}`, { cause: error });
      }
      const bytes = Buffer.byteLength(line);
      if (bytes > messageBytes) {
        return refuse("too_large", `a message of ${bytes} bytes is over the limit of ${messageBytes} (messageBytes)`);
      }
      const waiting = (writing?.bytes ?? 0) + (next?.bytes ?? 0);
      if (waiting > 0 && waiting + bytes > unsentBytes) {
        full ??= refuse(
          "send_blocked",
          `${waiting} bytes wait to be read by the server, ${unsentBytes} may (unsentBytes)`,
        );
        return full;
      }
      return enqueue(line, bytes);
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
  return { text: "", bytes: 0, left: tolerated(left), resolve, reject };
}

/** Not every sender waits for its message to leave, and none may take the process down by that. */
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
