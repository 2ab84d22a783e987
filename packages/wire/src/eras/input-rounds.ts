/**
 * Handles modern requests that the server answers with `input_required`: collects the input and repeats the request,
 * within limits.
 */

import { WireError } from "../errors.ts";
import { fixedLimits } from "../limits.ts";
import { onAbort } from "../rpc/abort.ts";
import { afterSending, cancelledError, closedError, timeoutError, toWireError } from "../rpc/rpc-errors.ts";
import type { JsonObject, McpRequestOptions, RequestHandler } from "../session.ts";
import { excerpt, isObject, objectOf } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";
import type { WireLimits } from "../target.ts";

/** A request that the server may answer with `input_required` several times. */
export interface InputRounds {
  readonly method: string;
  readonly options: McpRequestOptions;
  readonly limits: Pick<WireLimits, "inputRounds" | "inboundRequests">;
  readonly handler: RequestHandler | undefined;
  readonly now: () => number;
  /** Aborts when the connection ends. The abort reason is the error that ended the connection. */
  readonly connectionSignal: AbortSignal;
  /** Sends the request. `added` holds the collected input, and is undefined the first time. */
  readonly ask: (added: JsonObject | undefined, options: McpRequestOptions) => Promise<JsonObject>;
}

/** Sends a request and answers the server's input requests until the result is complete. */
export async function withInputRounds(rounds: InputRounds): Promise<JsonObject> {
  const { method, options, limits, now, ask } = rounds;
  let spent = 0;
  let added: JsonObject | undefined;
  for (let round = 0; round <= limits.inputRounds; round += 1) {
    const began = now();
    const asked = ask(added, withTimeLeft(options, spent, method));
    // In later rounds, the server has already received the request, so a failure must not be reported as `unsent`.
    const result = await (added === undefined
      ? asked
      : asked.catch((error: unknown) => Promise.reject(afterSending(error, method))));
    // The total time limit counts only the server's time, not the time that a person takes to answer.
    spent += now() - began;
    if (isFinal(result, method)) return result;
    added = await collectInput(result, rounds);
  }
  throw new WireError("bad_message", `the server asked for input more than ${limits.inputRounds} times`, {
    step: method,
  });
}

/**
 * Whether the result is complete. A missing `resultType` counts as complete, because servers that support both protocol
 * eras often leave it out.
 */
function isFinal({ resultType }: JsonObject, step: string): boolean {
  if (resultType === undefined || resultType === "complete") return true;
  if (resultType === "input_required") return false;
  const firstBytes = excerpt(resultType, 100);
  throw new WireError("bad_message", `the response to ${step} has an unknown resultType`, { step, firstBytes });
}

async function collectInput(result: JsonObject, rounds: InputRounds): Promise<JsonObject> {
  const { method: step, options, limits, handler, connectionSignal } = rounds;
  const { inputRequests, requestState } = result;
  if (requestState !== undefined && typeof requestState !== "string")
    throw new WireError("bad_message", "the server's request state is not a string", { step });
  if (requestState !== undefined && Buffer.byteLength(requestState) > fixedLimits.stateBytes)
    throw new WireError("too_large", `the server's request state is larger than ${fixedLimits.stateBytes} bytes`, {
      step,
    });
  if (inputRequests === undefined && requestState === undefined)
    throw new WireError("bad_message", "the server answered input_required without inputRequests or requestState", {
      step,
    });
  const state = requestState === undefined ? {} : { requestState };
  if (inputRequests === undefined) return state;
  const caller = options.stop?.signal ?? options.signal;
  const signal = caller === undefined ? connectionSignal : AbortSignal.any([caller, connectionSignal]);
  try {
    return { inputResponses: await answersTo(inputRequests, { step, limits, handler, signal }), ...state };
  } catch (error) {
    throw connectionSignal.aborted && !caller?.aborted
      ? closedError(step, toWireError(connectionSignal.reason))
      : error;
  }
}

/** What `answersTo` needs: the handler that answers, its signal, and the request's method for error messages. */
export interface InputRequestContext extends Pick<InputRounds, "limits" | "handler"> {
  readonly step: string;
  readonly signal: AbortSignal;
}

/**
 * Passes each of the server's input requests to the handler, one after the other. Returns each answer under the key of
 * its input request.
 */
export async function answersTo(inputRequests: unknown, context: InputRequestContext): Promise<JsonObject> {
  const asked = isObject(inputRequests) ? Object.entries(inputRequests) : [];
  if (!isObject(inputRequests) || asked.length > context.limits.inboundRequests)
    throw new WireError("bad_message", "the server's inputRequests is not an object, or has too many members", {
      step: context.step,
    });
  const answers: [string, JsonObject][] = [];
  for (const [key, question] of asked) answers.push([key, await answerTo(question, context)]);
  // `Object.fromEntries` is safe if a key is called `__proto__`. An assignment would set the prototype.
  return Object.fromEntries(answers);
}

async function answerTo(question: unknown, { step, signal, handler }: InputRequestContext): Promise<JsonObject> {
  const { method, params } = isObject(question) ? question : { method: undefined, params: undefined };
  if (typeof method !== "string")
    throw new WireError("bad_message", "an input request from the server has no method", { step });
  const shown = clip(method, 100);
  if (handler === undefined) return refusalOf(method, unanswered(`${shown}, which this program cannot answer`, step));
  try {
    return objectOf(await orAborted(handler(method, objectOf(params), signal), signal, step));
  } catch (error) {
    if (error instanceof WireError && error.code === "cancelled") throw error;
    const { message, evidence } = toWireError(error);
    const failure = unanswered(`${shown}, which was not answered: ${message}`, step, error);
    // A JSON-RPC error means that the handler refused the input request without asking the user.
    if (evidence.rpc !== undefined) return refusalOf(method, failure);
    throw failure;
  }
}

/** An elicitation can be declined. Other input requests cannot, so the whole request fails. */
function refusalOf(method: string, failure: WireError): JsonObject {
  if (method === "elicitation/create") return { action: "decline" };
  throw failure;
}

function unanswered(what: string, step: string, cause?: unknown): WireError {
  return new WireError("unanswered", `the server asked for ${what}`, { step }, { cause });
}

/** Rejects as soon as the signal is aborted, even if the handler ignores the signal. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal, step: string): Promise<T> {
  let stopListening: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stopListening = onAbort(signal, () => reject(cancelledError(step, signal.reason, false)));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stopListening();
  }
}

/**
 * Returns the options for the next request. Their `total` is the time that is left.
 *
 * @param spent Milliseconds that the earlier requests took.
 * @throws WireError `timeout` if no time is left.
 */
export function withTimeLeft(options: McpRequestOptions, spent: number, step: string): McpRequestOptions {
  if (options.total === undefined) return options;
  const total = options.total - spent;
  if (total <= 0) throw timeoutError(step, undefined);
  return { ...options, total };
}
