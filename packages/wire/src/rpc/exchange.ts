/** The state of one request to the server, from sending to its result. */

import type { JsonObject, McpRequestOptions, NotificationListener, Progress, RequestHandler } from "../session.ts";
import { onAbort, RequestAbort } from "./abort.ts";
import type { ChannelSendOptions, RequestId } from "./channel.ts";
import type { RequestClock } from "./time.ts";

/** The options of a request, including the options that only this package sets. */
export interface ExchangeOptions extends McpRequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly about?: RequestId | undefined;
  /** Members that this package adds to `params._meta`. They replace the caller's members with the same names. */
  readonly envelope?: JsonObject;
  /**
   * Whether to send a progress token even without `onProgress`, because progress restarts the timeout. Default: true for
   * the methods that may take long.
   */
  readonly token?: boolean;
  /** True for a subscription. Both the client and the server may end it. */
  readonly openEnded?: boolean;
  /** If true, the server is not told (`notifications/cancelled`) when the caller stops waiting. */
  readonly quiet?: boolean;
  /** Whether `close` waits until this message is sent, but at most `times.endGrace` milliseconds. */
  readonly awaitedOnClose?: boolean;
  /**
   * Called with the first response. If it returns a promise (for example for a task), the request stays open and gets
   * that promise's result. `own` is the option `answer` of the request.
   */
  readonly follow?:
    | ((answer: JsonObject, open: OpenRequest, own: RequestHandler | undefined) => Promise<JsonObject> | undefined)
    | undefined;
}

/** The functions for a request that stays open after its first response, for example because of a task. */
export interface OpenRequest {
  /** A signal that aborts when the caller stops waiting or the connection ends. */
  readonly signal: AbortSignal;
  readonly restartTimeout: () => void;
  readonly progress: (progress: Progress) => void;
  /** Reports the message to the caller as progress, with the last progress value. */
  readonly reportMessage: (message: string) => void;
  /** Pauses the timeouts while the server waits for the user. */
  readonly pause: () => void;
  readonly resume: () => void;
}

export type SendRequest = (method: string, params?: JsonObject, options?: ExchangeOptions) => Promise<JsonObject>;

const noHeaders: Readonly<Record<string, string>> = {};

/** One request and its state. A transport gets it as options, and listens to it for the end of the request. */
export class Exchange extends RequestAbort implements ChannelSendOptions {
  /** -1 until the request has its id. */
  id = -1;
  readonly method: string;
  readonly silence: number;
  /** When the request times out unless a response or progress arrives, in milliseconds on the session's clock. */
  timesOutAt: number;
  #totalLimitAt: number;
  #holds = 0;
  #heldAt: number | undefined;
  #questions = 0;
  #askedAt: number | undefined;
  /**
   * When the request was sent. Later: when the client last answered a question that the server asked during this
   * request.
   */
  activeAt: number;
  /** Whether the request stays open after its first response, for example as a task. */
  isFollowed = false;
  /** When the caller stopped waiting, in milliseconds on the session's clock. */
  givenUpAt = 0;
  hasToken = false;
  /** True while `beforeSend` is still running. */
  isUnsent = false;
  #isEnded = false;
  #onEnd: Set<() => void> | undefined;
  #progress: Progress | undefined;
  readonly #options: ExchangeOptions;
  readonly #resolve: (result: JsonObject) => void;
  readonly #reject: (error: Error) => void;
  #stopListening: (() => void) | undefined;

  constructor(
    method: string,
    options: ExchangeOptions,
    now: number,
    silence: number,
    resolve: (result: JsonObject) => void,
    reject: (error: Error) => void,
  ) {
    super();
    this.method = method;
    this.silence = silence;
    this.timesOutAt = now + silence;
    this.activeAt = now;
    this.#totalLimitAt = now + (options.total ?? Number.POSITIVE_INFINITY);
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#options.headers ?? noHeaders;
  }

  get about(): RequestId | undefined {
    return this.#options.about;
  }

  get owner(): string | undefined {
    return this.#options.owner;
  }

  get capabilities(): JsonObject | undefined {
    return this.#options.capabilities;
  }

  get logLevel(): string | undefined {
    return this.#options.logLevel;
  }

  get onNotification(): NotificationListener | undefined {
    return this.#options.onNotification;
  }

  get answer(): RequestHandler | undefined {
    return this.#options.answer;
  }

  /**
   * Whether the server may ask the client something while it handles this request. False for a ping or a list request.
   */
  get mayBeAsked(): boolean {
    return this.#options.answer !== undefined || this.hasToken;
  }

  get isModern(): boolean {
    return this.#options.envelope !== undefined;
  }

  get openEnded(): boolean {
    return this.#options.openEnded ?? false;
  }

  get quiet(): boolean {
    return this.#options.quiet ?? false;
  }

  get due(): number {
    return this.#heldAt === undefined ? Math.min(this.timesOutAt, this.#totalLimitAt) : Number.POSITIVE_INFINITY;
  }

  restartTimeout(now: number): void {
    this.timesOutAt = now + this.silence;
  }

  /** When the server began to wait for the client's answer. Undefined if it does not wait. */
  get askedAt(): number | undefined {
    return this.#askedAt;
  }

  /** Pauses the timeouts until `resume` has been called as often as `pause`. */
  pause(now: number): void {
    this.#questions += 1;
    this.#askedAt ??= now;
    this.holdTimeouts(now);
  }

  resume(now: number): void {
    this.#questions -= 1;
    if (this.#questions === 0) {
      this.#askedAt = undefined;
      this.activeAt = now;
    }
    this.releaseTimeouts(now);
  }

  /**
   * Pauses the timeouts, as `pause` does, for a question that the server may have asked during this request, but which
   * another request answers.
   */
  holdTimeouts(now: number): void {
    this.#holds += 1;
    this.#heldAt ??= now;
  }

  releaseTimeouts(now: number): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    const heldFor = now - (this.#heldAt ?? now);
    this.#heldAt = undefined;
    this.timesOutAt += heldFor;
    this.#totalLimitAt += heldFor;
  }

  get maxBytes(): number {
    return this.#options.maxBytes ?? Number.POSITIVE_INFINITY;
  }

  received(size: number): void {
    this.#options.onSize?.(size);
  }

  get canFollow(): boolean {
    return this.#options.follow !== undefined;
  }

  follow(answer: JsonObject, open: OpenRequest): Promise<JsonObject> | undefined {
    // Set before the call: `follow` may report progress, and the caller may then abort the request.
    this.isFollowed = true;
    const end = this.#options.follow?.(answer, open, this.#options.answer);
    this.isFollowed = end !== undefined;
    return end;
  }

  get stop(): this {
    return this;
  }

  /** Calls the callback when the caller aborts, unless the request has ended. */
  onCallerAbort(callback: () => void): void {
    this.#stopListening = onAbort(this.#options.stop ?? this.#options.signal, callback);
  }

  progress(progress: Progress): void {
    this.#progress = progress;
    this.#options.onProgress?.(progress);
  }

  reportMessage(message: string): void {
    this.progress({ progress: 0, ...this.#progress, message });
  }

  /** Calls the callback when the request has ended. The returned function removes the callback. */
  onEnd(callback: () => void): () => void {
    this.#onEnd ??= new Set();
    this.#onEnd.add(callback);
    return () => void this.#onEnd?.delete(callback);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  succeed(result: JsonObject): void {
    this.#end();
    this.#resolve(result);
  }

  fail(error: Error): void {
    this.#end();
    this.#reject(error);
  }

  #end(): void {
    this.#isEnded = true;
    this.#stopListening?.();
    if (this.#onEnd !== undefined) for (const callback of this.#onEnd) callback();
  }

  giveUp(now: number): this {
    this.givenUpAt = now;
    return this;
  }

  /** Fails the request and cancels it in the transport. */
  override abort(error: Error): void {
    this.fail(error);
    super.abort(error);
  }
}

/**
 * Returns the functions for a request that stays open after its first response.
 *
 * @param tell Runs a listener, and catches its errors.
 */
export function openRequest(
  exchange: Exchange,
  clock: Pick<RequestClock, "now" | "wakeBy">,
  tell: (exchange: Exchange, news: () => void) => void,
): OpenRequest {
  return {
    signal: exchange.signal,
    restartTimeout: () => exchange.restartTimeout(clock.now()),
    progress: (progress) => tell(exchange, () => exchange.progress(progress)),
    reportMessage: (message) => tell(exchange, () => exchange.reportMessage(message)),
    pause: () => exchange.pause(clock.now()),
    resume: () => resumeTimeouts(exchange, clock),
  };
}

/** Ends one `pause` of the request's timeouts. */
export function resumeTimeouts(exchange: Exchange, clock: Pick<RequestClock, "now" | "wakeBy">): void {
  exchange.resume(clock.now());
  clock.wakeBy(exchange.due);
}

/** Ends one `holdTimeouts` of the request. */
export function releaseTimeouts(exchange: Exchange, clock: Pick<RequestClock, "now" | "wakeBy">): void {
  exchange.releaseTimeouts(clock.now());
  clock.wakeBy(exchange.due);
}
