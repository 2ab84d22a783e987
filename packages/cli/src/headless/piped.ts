/** What is piped in beside the prompt: text, to its end, up to a limit. Nothing in it is ever a command or a reference. */

import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { type Clock, systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { limits } from "@fairlead/core/limits";
import { safe } from "@fairlead/core/text/safe-text";
import type { Output } from "../output/output.ts";
import type { Io } from "../shell/io.ts";

/** Milliseconds. */
const firstByteTimeout = 2_000;

/** Undefined if nothing is. */
export async function readPiped(
  { stdin, signal }: Pick<Io, "stdin" | "signal">,
  out: Pick<Output, "say">,
  clock: Clock = systemClock,
): Promise<string | undefined> {
  if (stdin.isTTY === true) return undefined;
  const isSocket = leadsToProgram(stdin);
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener("abort", stop, { once: true });
  const stopWaiting = clock.after(firstByteTimeout, () => {
    if (!isSocket) return out.say(safe`reading stdin to its end; to leave it out, add: < /dev/null`);
    out.say(safe`nothing came from stdin: going on without it`);
    stop();
  });
  try {
    return toText(await readAll(stdin, over.signal, stopWaiting));
  } finally {
    stopWaiting();
    signal.removeEventListener("abort", stop);
    // Else it keeps the process from ending.
    if (over.signal.aborted) stdin.destroy();
  }
}

/** A program that starts another one often gives it a stdin that it forgets about; a shell's pipe or file has an end. */
function leadsToProgram(stdin: Readable & { readonly fd?: number }): boolean {
  return stdin.fd !== undefined && fstatSync(stdin.fd).isSocket();
}

/** What there was until then, if nobody waits any longer. */
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
      throw new HostError("too_large", `stdin has more than ${limits.pipedBytes} bytes, and no model reads so much`, {
        next: "Pipe in the part that matters, or let the model read it with a tool.",
      });
    chunks.push(bytes);
  }
}

function toText(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HostError("usage", "stdin is not text in UTF-8", { cause, next: "To add a file, write @path." });
  }
}
