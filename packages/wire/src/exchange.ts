/** One request of ours, from its sending to its end. */

import { onAbort } from "./abort.ts";
import type { Cancellation } from "./cancellation.ts";
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
export class Exchange implements SendOptions, Cancellation {
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
  #onCancel: (() => void) | undefined;
  #isCancelled = false;
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
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isCancelled) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  get cancellation(): Cancellation {
    return this;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** For one listener at a time: the transport tries one thing after the other. */
  onCancel(callback: () => void): () => void {
    this.#onCancel = callback;
    return () => {
      if (this.#onCancel === callback) this.#onCancel = undefined;
    };
  }

  /** Calls back when the caller aborts, until the exchange has ended. */
  onAbort(callback: () => void): void {
    this.#stopListening = onAbort(this.#options.signal, callback);
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
    this.#isCancelled = true;
    this.#onCancel?.();
    this.#controller?.abort(error);
  }
}
