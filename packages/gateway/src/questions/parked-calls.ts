/**
 * Calls that wait until a modern client answers a server's question. The client's request gets `input_required` as its
 * result. When the client repeats it with the answers, the call continues.
 */

import { randomBytes } from "node:crypto";
import type { Clock } from "@fairlead/core/clock";
import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";
import type { RequestId } from "@fairlead/wire/serve";
import { rpcCodes, rpcError } from "../bridge/rpc-error.ts";
import type { ClientCall } from "./client-call.ts";

/** A modern client's request, as far as a waiting call needs it. */
export interface ModernRequest {
  readonly id: RequestId;
  readonly client: string;
  /**
   * Digest of the client, the method and the parameters without the answers. A repeated request must have the same
   * digest.
   */
  readonly identity: string;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  readonly signal: AbortSignal;
  /** Aborts when the client disconnects. Absent if each request has its own connection. */
  readonly gone?: AbortSignal | undefined;
  readonly received?: ClientCall["received"];
  readonly drained?: ClientCall["drained"];
  readonly notify: (method: string, params: JsonObject) => void;
}

/** Keeps the calls of modern clients that wait for answers. */
export interface ParkedCalls {
  /** Returns the call of a request. A server can ask the client questions through it. */
  open(request: ModernRequest): ParkableCall;
  /** Resolves with the call's result, or with `input_required` if the server asks the client first. */
  untilAsked(call: ParkableCall, result: Promise<JsonObject>): Promise<JsonObject>;
  /**
   * Continues a waiting call with the client's answers.
   * @throws WireError if the `requestState` is unknown, was used before or belongs to another request or connection
   */
  resume(request: ModernRequest, state: string, answers: unknown): Promise<JsonObject>;
  /** Number of requests that wait for their client's answers. */
  size(): number;
  close(): void;
}

/** Limits for waiting calls. */
export interface ParkedCallsOptions {
  readonly clock: Pick<Clock, "after">;
  /** Milliseconds to wait for the client's answers. Default: ten minutes. */
  readonly waitTime?: number;
  /** Maximum number of waiting calls. Default: 1000. */
  readonly most?: number;
  /** Maximum number of waiting calls of one client. Default: 100. */
  readonly mostOfClient?: number;
  /** The other gateways that may have a waiting call. Default: there are none. */
  readonly elsewhere?: ParkedElsewhere;
}

/** The calls that wait in other gateways: a client may send its answers to any of them. */
export interface ParkedElsewhere {
  /** The name of this gateway, in the `requestState` of its calls. */
  readonly own: string;
  /**
   * Continues a call that waits in another gateway, with `resume` there.
   *
   * @throws WireError if that gateway has ended, or does not know the call
   */
  resume(gateway: string, request: ModernRequest, state: string, answers: unknown): Promise<JsonObject>;
}

const prefix = "fairlead-parked.";
/** Milliseconds for which questions are collected, to send them to the client together. */
const together = 5;

/** Whether a `requestState` refers to a waiting call. */
export function isParkedState(state: unknown): state is string {
  return typeof state === "string" && state.startsWith(prefix);
}

/** The name of the gateway in a `requestState`. */
const inState = /^fairlead-parked\.([\w-]{1,32})\./;

/** Creates the store of waiting calls. `close` cancels all of them. */
export function createParkedCalls({
  clock,
  waitTime = 600_000,
  most = 1000,
  mostOfClient = 100,
  elsewhere,
}: ParkedCallsOptions): ParkedCalls {
  /** Waiting calls by their `requestState`. */
  const parked = new Map<string, Parked>();

  function park(call: ParkableCall): JsonObject {
    if (parked.size >= most) {
      call.cancel();
      throw rpcError(
        rpcCodes.internal,
        `too many requests: ${most} requests are already waiting for answers of their clients`,
      );
    }
    if ([...parked.values()].filter((other) => other.call.client === call.client).length >= mostOfClient) {
      call.cancel();
      throw rpcError(
        rpcCodes.internal,
        `too many requests: ${mostOfClient} requests of this client are already waiting for its answers`,
      );
    }
    const own = elsewhere === undefined ? "" : `${elsewhere.own}.`;
    const state = `${prefix}${own}${randomBytes(16).toString("base64url")}`;
    const abandon = (): void => {
      parked.get(state)?.callOff();
      parked.delete(state);
      call.cancel();
    };
    const callOffTimer = clock.after(waitTime, abandon, { background: true });
    const { gone } = call;
    gone?.addEventListener("abort", abandon, { once: true });
    const callOff = (): void => {
      callOffTimer();
      gone?.removeEventListener("abort", abandon);
    };
    parked.set(state, { call, callOff });
    if (gone?.aborted) abandon();
    return { resultType: "input_required", inputRequests: call.questions(), requestState: state };
  }

  async function next(call: ParkableCall): Promise<JsonObject> {
    const ended = await call.endOrQuestion((milliseconds) => pause(clock, milliseconds));
    return ended === undefined ? park(call) : ended;
  }

  return {
    open: (request) => new ParkableCall(request),
    untilAsked(call, result) {
      call.endsWith(result);
      return next(call);
    },
    async resume(request, state, answers) {
      const found = parked.get(state);
      const gateway = inState.exec(state)?.[1];
      if (found === undefined && elsewhere !== undefined && gateway !== undefined && gateway !== elsewhere.own)
        return elsewhere.resume(gateway, request, state, answers);
      // Another window of the same program is another connection. Over HTTP, requests cannot be told apart by that.
      const isOwn = found?.call.identity === request.identity && found.call.gone === request.gone;
      if (found === undefined || !isOwn)
        throw rpcError(
          rpcCodes.invalidParams,
          "requestState is unknown or was used before: the request may have run; check what it did before you send it again",
          { reason: "invalid_request_state" },
        );
      parked.delete(state);
      found.callOff();
      found.call.continueWith(request, objectOf(answers));
      return next(found.call);
    },
    size: () => parked.size,
    close() {
      for (const { call, callOff } of parked.values()) {
        callOff();
        call.cancel();
      }
      parked.clear();
    },
  };
}

interface Parked {
  readonly call: ParkableCall;
  readonly callOff: () => void;
}

interface Question {
  readonly method: string;
  readonly params: JsonObject;
  readonly answer: (result: JsonObject) => void;
}

/**
 * A call to a server that stays open while the client answers questions. `#request` changes with each repeated request.
 */
export class ParkableCall implements ClientCall {
  readonly era = "modern";
  readonly identity: string;
  #request: ModernRequest;
  readonly #questions = new Map<string, Question>();
  readonly #abort = new AbortController();
  #asked = 0;
  #ended: Promise<JsonObject> | undefined;
  #isEnded = false;
  #wake: (() => void) | undefined;
  #stopWatching: () => void = () => {};

  constructor(request: ModernRequest) {
    this.identity = request.identity;
    this.#request = request;
    this.#watch(request);
  }

  get id(): RequestId {
    return this.#request.id;
  }

  get client(): string {
    return this.#request.client;
  }

  get capabilities(): JsonObject {
    return this.#request.capabilities;
  }

  get logLevel(): string | undefined {
    return this.#request.logLevel;
  }

  get gone(): AbortSignal | undefined {
    return this.#request.gone;
  }

  get received(): ClientCall["received"] {
    return this.#request.received;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get stop(): Pick<AbortController, "abort"> {
    return this.#abort;
  }

  drained(): Promise<void> | undefined {
    return this.#request.drained?.();
  }

  notify(method: string, params: JsonObject): void {
    this.#request.notify(method, params);
  }

  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    this.#asked += 1;
    const key = `question_${this.#asked}`;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#questions.delete(key);
        reject(rpcError(rpcCodes.internal, "the question was cancelled before the client answered it"));
      };
      if (signal.aborted || this.signal.aborted) return giveUp();
      const answer = (result: JsonObject): void => {
        this.#questions.delete(key);
        signal.removeEventListener("abort", giveUp);
        this.signal.removeEventListener("abort", giveUp);
        resolve(result);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.signal.addEventListener("abort", giveUp, { once: true });
      this.#questions.set(key, { method, params: withoutIds(params), answer });
      this.#wake?.();
    });
  }

  endsWith(result: Promise<JsonObject>): void {
    this.#ended = result;
    const end = (): void => {
      this.#isEnded = true;
      this.#wake?.();
    };
    result.then(end, end);
  }

  /** Resolves with the call's result, or with undefined if the client must first answer a question. */
  async endOrQuestion(wait: (milliseconds: number) => Promise<void>): Promise<JsonObject | undefined> {
    do {
      if (!this.#isEnded && this.#questions.size === 0)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      this.#wake = undefined;
      if (!this.#isEnded) await wait(together);
      // The server may have withdrawn all its questions during the wait.
    } while (!this.#isEnded && this.#questions.size === 0);
    this.#stopWatching();
    // A question outlives its call if the server may have asked it during another call of this client.
    return this.#questions.size === 0 ? this.#ended : undefined;
  }

  questions(): JsonObject {
    return Object.fromEntries([...this.#questions].map(([key, { method, params }]) => [key, { method, params }]));
  }

  continueWith(request: ModernRequest, answers: JsonObject): void {
    if (this.received !== undefined) request.received?.continues(this.received);
    this.#request = request;
    this.#watch(request);
    for (const [key, { answer }] of this.#questions)
      if (Object.hasOwn(answers, key) && isObject(answers[key])) answer(answers[key]);
  }

  cancel(): void {
    this.#abort.abort();
  }

  #watch({ signal }: ModernRequest): void {
    const cancel = (): void => this.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    this.#stopWatching = () => signal.removeEventListener("abort", cancel);
    if (signal.aborted) cancel();
  }
}

/** The elicitation id and the progress token mean nothing to a modern client. */
function withoutIds({ elicitationId: _id, _meta, ...params }: JsonObject): JsonObject {
  const { progressToken: _token, ...meta } = objectOf(_meta);
  return { ...params, _meta: Object.keys(meta).length > 0 ? meta : undefined };
}

function pause({ after }: Pick<Clock, "after">, milliseconds: number): Promise<void> {
  return new Promise((resolve) => void after(milliseconds, resolve));
}
