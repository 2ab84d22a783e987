/** One request of ours, from its sending to its end. */

import { onAbort } from "./abort.ts";
import type { SendOptions } from "./channel.ts";
import type { JsonObject, Progress, RequestOptions } from "./session.ts";

export interface ExchangeOptions extends RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Keys of `params._meta` that win over the caller's. */
  readonly meta?: JsonObject;
  /** Ask for progress, so that it can restart the clock, even if nobody listens to it. */
  readonly token?: boolean;
  /** A subscription: the server may call it off, too. */
  readonly openEnded?: boolean;
  /** The server is not told when we give up. */
  readonly quiet?: boolean;
}

interface Settle {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

const noHeaders: Readonly<Record<string, string>> = {};

/** A class for one reason: as `SendOptions` it makes an abort controller only when a transport asks for the signal. */
export class Exchange implements SendOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly openEnded: boolean;
  readonly quiet: boolean;
  readonly silence: number;
  /** The moments, on the conversation's clock, at which it has been silent, or open, for too long. */
  silentAt: number;
  readonly overAt: number;
  readonly #options: ExchangeOptions;
  readonly #settle: Settle;
  #controller: AbortController | undefined;
  #stopListening: (() => void) | undefined;

  constructor(method: string, options: ExchangeOptions, now: number, silence: number, settle: Settle) {
    this.method = method;
    this.headers = options.headers ?? noHeaders;
    this.openEnded = options.openEnded ?? false;
    this.quiet = options.quiet ?? false;
    this.silence = silence;
    this.silentAt = now + silence;
    this.overAt = now + (options.total ?? Number.POSITIVE_INFINITY);
    this.#options = options;
    this.#settle = settle;
  }

  get due(): number {
    return Math.min(this.silentAt, this.overAt);
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  /** Calls back when the caller aborts, until the exchange has ended. */
  onAbort(callback: () => void): void {
    if (this.#options.signal !== undefined) this.#stopListening = onAbort(this.#options.signal, callback);
  }

  progress(progress: Progress): void {
    this.#options.onProgress?.(progress);
  }

  succeed(result: JsonObject): void {
    this.#stopListening?.();
    this.#settle.resolve(result);
  }

  fail(error: Error): void {
    this.#stopListening?.();
    this.#settle.reject(error);
  }

  /** Ends the transport's side of it too. */
  breakOff(error: Error): void {
    this.fail(error);
    this.#controller?.abort(error);
  }
}
