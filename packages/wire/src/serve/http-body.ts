/** Reads the body of a POST request within a size limit. */

import type { IncomingMessage } from "node:http";

/** Whether the request's `Content-Length` is larger than the limit. */
export function declaresMore({ headers }: IncomingMessage, limit: number): boolean {
  return Number(headers["content-length"] ?? 0) > limit;
}

/**
 * Reads the body, and calls `done` with its text. If the body is larger than the limit, calls `done(undefined)` at
 * once.
 */
export function readBody(request: IncomingMessage, limit: number, done: (text: string | undefined) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  function onData(chunk: Buffer): void {
    size += chunk.length;
    if (size <= limit) {
      chunks.push(chunk);
      return;
    }
    chunks.length = 0;
    request.off("data", onData).off("end", onEnd).pause();
    done(undefined);
  }
  function onEnd(): void {
    const [first] = chunks;
    done((chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size)).toString("utf8"));
  }
  // After a connection error, `done` is not called, because the client can no longer receive a response.
  request
    .on("data", onData)
    .on("end", onEnd)
    .on("error", () => {});
}
