/** The channel to the client that started this program: messages come from stdin and go to stdout. */

import type { Readable, Writable } from "node:stream";
import { WireError } from "../errors.ts";
import type { Channel, ChannelEvents, OpenChannel, RpcMessage } from "../rpc/channel.ts";
import { isObject, member, parseJson } from "../shapes/json.ts";
import { createLineSplitter } from "../stdio/lines.ts";
import { createOutbox } from "../stdio/outbox.ts";
import type { WireLimits, WireTimes } from "../target.ts";
import { defaultLimits, defaultTimes } from "../target.ts";
import { errorResponse, messageErrors } from "./message-errors.ts";
import { isDispensable, slowBytes } from "./unread-responses.ts";

/** The stdin and stdout of a program that a client has started. */
export interface ClientStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Limits and times of the channel. Defaults: as for `connect`, but at most 32 MiB wait for the client. */
export interface ClientStdioOptions {
  readonly limits?: Pick<WireLimits, "messageBytes" | "unsentBytes">;
  readonly times?: Pick<WireTimes, "send">;
  /**
   * How long open requests may still be answered after the end of stdin, in milliseconds. Default: `times.send`. With
   * `Infinity`, the channel waits for all responses.
   */
  readonly lastAnswers?: number;
}

/** Half of what may wait for a server: a program that serves several clients holds the responses of each. */
const clientLimits = { ...defaultLimits, unsentBytes: 32 * 1024 * 1024 };

/** Fairlead reads at most this many messages of a JSON-RPC batch. The protocol has had no batches since 2025-06-18. */
const batchLimit = 100;

/** Returns the function that opens the channel and starts reading. */
export function openClientStdio(streams: ClientStreams, options: ClientStdioOptions = {}): OpenChannel {
  return async (events) => readClient(streams, events, options);
}

function readClient({ input, output }: ClientStreams, events: ChannelEvents, options: ClientStdioOptions): Channel {
  const { messageBytes, unsentBytes } = options.limits ?? clientLimits;
  const { send: deadline } = options.times ?? defaultTimes;
  const { lastAnswers = deadline } = options;
  const outbox = createOutbox(output, { messageBytes, unsentBytes, deadline, reader: "the client" });
  /** The ids of the client's requests without a response. */
  const open = new Set<unknown>();
  /** The ids of our requests to the client without a response. */
  const questions = new Set<unknown>();
  let isEnded = false;
  let isClosed = false;
  /** Whether the channel reads nothing because the client reads too slowly. */
  let isWaiting = false;
  let timer: NodeJS.Timeout | undefined;

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(timer);
    input.off("data", onData).off("end", onEnd).off("error", onEnd);
    // Otherwise the messages that still wait are lost if the output closes before it has taken them.
    if (outbox.waiting() === 0) output.off("close", onOutputClosed);
    input.pause();
    events.closed(undefined);
  }

  function onOutputClosed(): void {
    outbox.fail(new WireError("closed", "the client no longer reads this program's output"));
    close();
  }

  /** After the end of stdin, the client can still read responses, but it can no longer send any. */
  function onEnd(): void {
    if (isEnded) return;
    isEnded = true;
    lines.end();
    if (lastAnswers !== Number.POSITIVE_INFINITY) timer = setTimeout(close, lastAnswers);
    for (const id of questions) failQuestion(id);
    closeIfAnswered();
  }

  function closeIfAnswered(): void {
    if (isEnded && open.size === 0) close();
  }

  function failQuestion(id: unknown): void {
    questions.delete(id);
    const message = "the client has closed stdin and cannot answer";
    events.message({ jsonrpc: "2.0", id, error: { code: messageErrors.internal, message } }, message.length);
  }

  function deliver(value: unknown, size: number): void {
    if (isClosed) return;
    if (!isObject(value)) {
      refuse(messageErrors.invalidRequest, "the line on stdin is not a JSON-RPC message");
      return;
    }
    const { method, id } = value;
    if (method === undefined) questions.delete(id);
    // `subscriptions/listen` has no response while it is open. A request with an invalid id never gets one.
    else if (method !== "subscriptions/listen" && (typeof id === "string" || typeof id === "number")) open.add(id);
    if (value["method"] === "notifications/cancelled" && isObject(value["params"]))
      open.delete(value["params"]["requestId"]);
    events.message(value, size);
  }

  function refuse(code: number, message: string): void {
    outbox.send(errorResponse(null, code, message)).catch(() => {});
  }

  const lines = createLineSplitter({
    limit: messageBytes,
    line(text) {
      if (text.trim() === "") return;
      const value = parseJson(text);
      const size = Buffer.byteLength(text);
      if (value === undefined) refuse(messageErrors.parse, "the line on stdin is not JSON");
      else if (Array.isArray(value)) for (const one of value.slice(0, batchLimit)) deliver(one, size);
      else deliver(value, size);
    },
    tooLong() {
      refuse(messageErrors.invalidRequest, `the message is larger than ${messageBytes} bytes`);
      close();
    },
  });
  function drained(): Promise<void> | undefined {
    return isClosed ? undefined : outbox.below(slowBytes);
  }

  /** A client that sends requests and reads no responses would fill the memory. */
  async function readWhenDrained(): Promise<void> {
    if (isWaiting || isEnded) return;
    isWaiting = true;
    input.pause();
    for (let slow = drained(); slow !== undefined; slow = drained()) await slow;
    isWaiting = false;
    if (!isClosed) input.resume();
  }

  const onData = (chunk: Buffer | string): void => lines.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  input.on("data", onData).on("end", onEnd).on("error", onEnd);
  output.on("close", onOutputClosed);
  // A client that left before the channel was opened is not announced again.
  if (output.destroyed) onOutputClosed();
  else if (input.destroyed || input.readableEnded) onEnd();

  return {
    cancelBy: "message",
    send(message: RpcMessage) {
      const { id, method } = message;
      if (method === "notifications/cancelled") questions.delete(member(message["params"], "requestId"));
      if (method !== undefined && id !== undefined) {
        questions.add(id);
        if (isEnded) {
          process.nextTick(failQuestion, id);
          return Promise.resolve();
        }
      }
      if (isDispensable(message) && outbox.waiting() >= slowBytes) return Promise.resolve();
      const sent = outbox.send(message);
      if (outbox.waiting() >= slowBytes) void readWhenDrained();
      if (method === undefined) open.delete(id);
      if (!isEnded) return sent;
      return sent.then(closeIfAnswered, (error: unknown) => {
        // Waits a moment: if the response cannot be sent, the caller may send an error instead.
        setImmediate(closeIfAnswered);
        throw error;
      });
    },
    setProtocolVersion() {
      // Stdio has no headers, so the version is not needed.
    },
    drained,
    async close() {
      close();
    },
  };
}
