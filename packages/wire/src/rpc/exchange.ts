/** One request of ours, from its sending to its end. */

import type { JsonObject, McpRequestOptions, Progress } from "../session.ts";
import { onAbort } from "./abort.ts";
import type { Cancellation } from "./cancellation.ts";
import type { ChannelSendOptions } from "./channel.ts";

export interface ExchangeOptions extends McpRequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Keys of `params._meta` that win over the caller's. */
  readonly meta?: JsonObject;
  /** Ask for progress, so that it can restart the clock, even if nobody listens to it. */
  readonly token?: boolean;
  /** A subscription: the server may call it off, too. */
  readonly openEnded?: boolean;
  /** The server is not told when we give up. */
  readonly quiet?: boolean;
  /** Told on the way out: closing waits for it, a little. */
  readonly awaitedOnClose?: boolean;
  /**
   * Looks at the answer. One that is only a beginning keeps the request open, with its limits, its signal and its progress,
   * until what this returns has settled.
   */
  readonly follow?: ((answer: JsonObject, open: OpenRequest) => Promise<JsonObject> | undefined) | undefined;
}

/** A request that goes on after its first answer. */
export interface OpenRequest {
  /** Aborted when nobody waits for it any more, or nobody can. */
  readonly signal: AbortSignal;
  /** Something has happened: the silence begins anew. */
  readonly restartTimeout: () => void;
  readonly progress: (progress: Progress) => void;
  /** Words without a number: told with the progress made so far. */
  readonly reportMessage: (message: string) => void;
  /** For as long as the server waits for somebody here, its time stands still. */
  readonly pause: () => void;
  readonly resume: () => void;
}

interface Settle {
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

const noHeaders: Readonly<Record<string, string>> = {};

/** A class for one reason: as `SendOptions` it makes an abort controller only when a transport asks for the signal. */
export class Exchange implements ChannelSendOptions, Cancellation {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly openEnded: boolean;
  readonly quiet: boolean;
  readonly silence: number;
  /** The moments, on the conversation's clock, at which it has been silent, or open, for too long. */
  silentAt: number;
  #overAt: number;
  /** Since when its own time stands still. */
  #heldAt: number | undefined;
  /** It has been answered once, and goes on. */
  isFollowed = false;
  #progress: Progress = { progress: 0 };
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
    this.#overAt = now + (options.total ?? Number.POSITIVE_INFINITY);
    this.#options = options;
    this.#settle = settle;
  }

  get due(): number {
    return this.#heldAt === undefined ? Math.min(this.silentAt, this.#overAt) : Number.POSITIVE_INFINITY;
  }

  restartTimeout(now: number): void {
    this.silentAt = now + this.silence;
  }

  pause(now: number): void {
    this.#heldAt ??= now;
  }

  resume(now: number): void {
    const stoodStill = now - (this.#heldAt ?? now);
    this.#heldAt = undefined;
    this.silentAt += stoodStill;
    this.#overAt += stoodStill;
  }

  get canFollow(): boolean {
    return this.#options.follow !== undefined;
  }

  follow(answer: JsonObject, open: OpenRequest): Promise<JsonObject> | undefined {
    // Before it begins: what it tells may make the caller give up at once.
    this.isFollowed = true;
    const end = this.#options.follow?.(answer, open);
    this.isFollowed = end !== undefined;
    return end;
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
    this.#progress = progress;
    this.#options.onProgress?.(progress);
  }

  reportMessage(message: string): void {
    this.progress({ ...this.#progress, message });
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
  abort(error: Error): void {
    this.fail(error);
    this.#isCancelled = true;
    this.#onCancel?.();
    this.#controller?.abort(error);
  }
}
