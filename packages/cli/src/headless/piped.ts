/** Reads piped input as text, up to a size limit. Fairlead never expands commands or references in piped input. */

import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { limits } from "@fairlead/core/limits";
import { safe } from "@fairlead/core/text/safe-text";
import type { Output } from "../output/output.ts";
import type { Io } from "../shell/verb.ts";

/** Milliseconds to wait for the first byte of stdin. */
const firstByteTimeout = 2_000;

/** Returns the piped text, or undefined if there is none. @throws HostError `too_large` or `usage` */
export async function readPiped(
  { stdin, signal }: Pick<Io, "stdin" | "signal">,
  out: Pick<Output, "say">,
  clock: Clock = systemClock,
): Promise<string | undefined> {
  if (stdin.isTTY === true) return undefined;
  const kind = stdin.fd === undefined ? undefined : fstatSync(stdin.fd);
  // A program that starts Fairlead with a socket as stdin often never closes the socket.
  const isSocket = kind?.isSocket() === true;
  // Files and /dev/null end by themselves.
  const endsItself = kind?.isFile() === true || kind?.isCharacterDevice() === true;
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener("abort", stop, { once: true });
  let isWaiting = true;
  const onTimeout = (): void => {
    if (!isWaiting) return;
    if (isSocket) {
      out.say(safe`stdin sent nothing within 2 s; continuing without it`);
      stop();
    } else out.say(safe`waiting for stdin; to skip it, add: < /dev/null`);
  };
  // `setImmediate`: Node first reads the input that arrived while the process did not run.
  const callOff = endsItself ? () => {} : clock.after(firstByteTimeout, () => void setImmediate(onTimeout));
  const stopWaiting = (): void => {
    isWaiting = false;
    callOff();
  };
  try {
    return toText(await readAll(stdin, over.signal, stopWaiting));
  } finally {
    stopWaiting();
    signal.removeEventListener("abort", stop);
    // Reading must stop, because an open stdin would keep the process alive.
    if (over.signal.aborted) stdin.destroy();
  }
}

/** Reads stdin. If `signal` aborts, returns the bytes that were read so far. */
async function readAll(stdin: Readable, signal: AbortSignal, onFirst: () => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const pieces = stdin[Symbol.asyncIterator]() as AsyncIterator<Buffer | string, unknown>;
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
    if (signal.aborted) resolve(undefined);
  });
  for (;;) {
    const next = await Promise.race([pieces.next(), stopped]);
    if (next === undefined || next.done === true) return Buffer.concat(chunks);
    onFirst();
    const bytes = Buffer.from(next.value);
    size += bytes.length;
    if (size > limits.pipedBytes)
      throw new HostError("too_large", `stdin is too large: more than ${limits.pipedBytes} bytes`, {
        next: "pipe in a smaller part, or let the model read the file with a tool",
      });
    chunks.push(bytes);
  }
}

function toText(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HostError("usage", "stdin is not UTF-8 text", {
      cause,
      next: "to attach a file, write @path in the prompt",
    });
  }
}
