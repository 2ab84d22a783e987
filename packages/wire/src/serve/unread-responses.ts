/** The HTTP responses of one owner that its client has not read. Their bytes are in memory, so they are limited. */

import type { ServerResponse } from "node:http";
import type { RpcMessage } from "../rpc/channel.ts";
import { errorResponse, messageErrors } from "./message-errors.ts";

/**
 * While so many bytes wait for a client, none of its requests is read or begun, and it gets no news that it can do
 * without.
 */
export const slowBytes: number = 4 * 1024 * 1024;

/** Whether the client can do without this message: a later one, or the response, says more. */
export function isDispensable({ method }: { readonly method?: unknown }): boolean {
  return method === "notifications/progress" || method === "notifications/message";
}

/** The open responses of one owner. */
export class UnreadResponses {
  readonly #limit: number;
  readonly #responses = new Set<ServerResponse>();
  readonly #waiting: (() => void)[] = [];

  /** @param limit While so many bytes wait, only errors are written. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts the bytes of this response until the client has them, or has disconnected. */
  add(response: ServerResponse): void {
    this.#responses.add(response);
    const onRead = (): void => {
      for (const resolve of this.#waiting.splice(0)) resolve();
    };
    const onEnd = (): void => {
      this.#responses.delete(response);
      onRead();
    };
    response.on("drain", onRead).once("finish", onEnd).once("close", onEnd);
  }

  /** If the client reads too slowly, returns a promise that resolves when it has read more, or has disconnected. */
  drained(): Promise<void> | undefined {
    return this.#bytes() < slowBytes ? undefined : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Whether the message need not be sent, because the client reads too slowly. */
  drops(message: RpcMessage): boolean {
    return isDispensable(message) && this.#bytes() >= slowBytes;
  }

  isFull(): boolean {
    return this.#bytes() >= this.#limit;
  }

  /** Returns the message, or an error in its place if too many bytes wait. */
  within(message: RpcMessage): RpcMessage {
    if (!this.isFull()) return message;
    const words = `the result was dropped: the client reads too slowly: ${this.#bytes()} bytes wait, and the limit unsentBytes is ${this.#limit}; the request may have run`;
    return errorResponse(message["id"] as string, messageErrors.internal, words);
  }

  #bytes(): number {
    let bytes = 0;
    for (const { writableLength } of this.#responses) bytes += writableLength;
    return bytes;
  }
}
