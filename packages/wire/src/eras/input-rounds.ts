/** Requests that the server answers with questions: answers them, asks again, and ends the game when it goes on too long. */

import { WireError } from "../errors.ts";
import { onAbort } from "../rpc/abort.ts";
import { afterSending, cancelledError, closedError, toWireError } from "../rpc/rpc-errors.ts";
import { withTimeLeft } from "../rpc/time-left.ts";
import type { JsonObject, McpRequestOptions, RequestHandler } from "../session.ts";
import { excerpt, isObject, objectOf } from "../shapes/json.ts";
import { clip } from "../shapes/text.ts";
import type { WireLimits } from "../target.ts";

/** The server's own notes travel through us; more than this is not a note. */
const largestState = 64 * 1024;

export interface InputRounds {
  readonly method: string;
  readonly options: McpRequestOptions;
  readonly limits: Pick<WireLimits, "inputRounds" | "inboundRequests">;
  readonly handler: RequestHandler | undefined;
  readonly now: () => number;
  /** Aborted when the conversation is over, with the reason. */
  readonly life: AbortSignal;
  /** Sends the request once more, with these parameters added from the second time on; a new id each time. */
  readonly ask: (added: JsonObject | undefined, options: McpRequestOptions) => Promise<JsonObject>;
}

export async function withInputRounds(rounds: InputRounds): Promise<JsonObject> {
  const { method, options, limits, now, ask } = rounds;
  let spent = 0;
  let added: JsonObject | undefined;
  for (let round = 0; round <= limits.inputRounds; round += 1) {
    const began = now();
    const asked = ask(added, withTimeLeft(options, spent, method));
    // From the second time on, the server knows of the request, whatever becomes of this message.
    const result = await (added === undefined
      ? asked
      : asked.catch((error: unknown) => Promise.reject(afterSending(error, method))));
    // Only the server's own time counts, not that of the person who answers.
    spent += now() - began;
    if (isFinal(result, method)) return result;
    added = await answered(result, rounds);
  }
  throw new WireError("bad_message", `the server asked for input more than ${limits.inputRounds} times`, {
    step: method,
  });
}

/** Results without a type come from servers of two minds about their era. */
function isFinal({ resultType }: JsonObject, step: string): boolean {
  if (resultType === undefined || resultType === "complete") return true;
  if (resultType === "input_required") return false;
  const firstBytes = excerpt(resultType, 100);
  throw new WireError("bad_message", `the answer to ${step} is of an unknown type`, { step, firstBytes });
}

async function answered(result: JsonObject, rounds: InputRounds): Promise<JsonObject> {
  const { method: step, options, limits, handler, life } = rounds;
  const { inputRequests, requestState } = result;
  if (requestState !== undefined && typeof requestState !== "string")
    throw new WireError("bad_message", "the server's request state is not a string", { step });
  if (requestState !== undefined && Buffer.byteLength(requestState) > largestState)
    throw new WireError("too_large", `the server's request state is larger than ${largestState} bytes`, { step });
  if (inputRequests === undefined && requestState === undefined)
    throw new WireError("bad_message", "the server wants input, but does not say which", { step });
  const state = requestState === undefined ? {} : { requestState };
  if (inputRequests === undefined) return state;
  const signal = options.signal === undefined ? life : AbortSignal.any([options.signal, life]);
  try {
    return { inputResponses: await answersTo(inputRequests, { step, limits, handler, signal }), ...state };
  } catch (error) {
    throw life.aborted && !options.signal?.aborted ? closedError(step, toWireError(life.reason)) : error;
  }
}

export interface InputRequestContext extends Pick<InputRounds, "limits" | "handler"> {
  readonly step: string;
  readonly signal: AbortSignal;
}

/** Answers the server's questions one after the other, each under the name that it came with. */
export async function answersTo(inputRequests: unknown, asking: InputRequestContext): Promise<JsonObject> {
  const asked = isObject(inputRequests) ? Object.entries(inputRequests) : [];
  if (!isObject(inputRequests) || asked.length > asking.limits.inboundRequests)
    throw new WireError("bad_message", "the server's questions are not a list, or too long a one", {
      step: asking.step,
    });
  const answers: [string, JsonObject][] = [];
  for (const [key, question] of asked) answers.push([key, await answerTo(question, asking)]);
  // From entries, because a key may be called __proto__.
  return Object.fromEntries(answers);
}

async function answerTo(question: unknown, { step, signal, handler }: InputRequestContext): Promise<JsonObject> {
  const { method, params } = isObject(question) ? question : { method: undefined, params: undefined };
  if (typeof method !== "string")
    throw new WireError("bad_message", "the server asked for something without a name", { step });
  const shown = clip(method, 100);
  if (handler === undefined) return refusalOf(method, unanswered(`${shown}, which this program cannot answer`, step));
  try {
    return objectOf(await orAborted(handler(method, objectOf(params), signal), signal, step));
  } catch (error) {
    if (error instanceof WireError && error.code === "cancelled") throw error;
    const { message, evidence } = toWireError(error);
    const failure = unanswered(`${shown}, which was not answered: ${message}`, step, error);
    // Nobody was asked.
    if (evidence.rpc !== undefined) return refusalOf(method, failure);
    throw failure;
  }
}

/** A question to the person may be declined; there is no such answer to any other one, so the request ends there. */
function refusalOf(method: string, failure: WireError): JsonObject {
  if (method === "elicitation/create") return { action: "decline" };
  throw failure;
}

function unanswered(what: string, step: string, cause?: unknown): WireError {
  return new WireError("unanswered", `the server asked for ${what}`, { step }, { cause });
}

/** The caller does not wait for a handler that does not listen to its signal. */
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
