/** Requests that the server answers with questions: answers them, asks again, and ends the game when it goes on too long. */

import { onAbort } from "./abort.ts";
import { WireError } from "./errors.ts";
import { clip, excerpt, isObject, objectOf } from "./json.ts";
import { cancelledError, toWireError } from "./rpc-errors.ts";
import type { JsonObject, RequestHandler, RequestOptions } from "./session.ts";
import type { WireLimits } from "./target.ts";
import { withTimeLeft } from "./time-left.ts";

/** The server's own notes travel through us; more than this is not a note. */
const largestState = 64 * 1024;

export interface InputRounds {
  readonly method: string;
  readonly options: RequestOptions;
  readonly limits: Pick<WireLimits, "inputRounds" | "inboundRequests">;
  readonly handler: RequestHandler | undefined;
  readonly now: () => number;
  /** Sends the request once more, with these parameters added from the second time on; a new id each time. */
  readonly ask: (added: JsonObject | undefined, options: RequestOptions) => Promise<JsonObject>;
}

export async function withInputRounds(rounds: InputRounds): Promise<JsonObject> {
  const { method, options, limits, now, ask } = rounds;
  let spent = 0;
  let added: JsonObject | undefined;
  for (let round = 0; round <= limits.inputRounds; round += 1) {
    const began = now();
    const result = await ask(added, withTimeLeft(options, spent, method));
    // Only the server's own time counts, not that of the person who answers.
    spent += now() - began;
    if (isFinal(result, method)) return result;
    added = await answersTo(result, rounds);
  }
  throw new WireError("bad_message", `the server asked for input more than ${limits.inputRounds} times`, {
    step: method,
  });
}

/** Results without a type come from servers of two minds about their era; a task is the caller's to follow. */
function isFinal({ resultType }: JsonObject, step: string): boolean {
  if (resultType === undefined || resultType === "complete" || resultType === "task") return true;
  if (resultType === "input_required") return false;
  const firstBytes = excerpt(resultType, 100);
  throw new WireError("bad_message", `the answer to ${step} is of an unknown type`, { step, firstBytes });
}

async function answersTo(result: JsonObject, rounds: InputRounds): Promise<JsonObject> {
  const { method: step, limits } = rounds;
  const { inputRequests, requestState } = result;
  if (requestState !== undefined && typeof requestState !== "string")
    throw new WireError("bad_message", "the server's request state is not a string", { step });
  if (requestState !== undefined && Buffer.byteLength(requestState) > largestState)
    throw new WireError("too_large", `the server's request state is larger than ${largestState} bytes`, { step });
  if (inputRequests === undefined && requestState === undefined)
    throw new WireError("bad_message", "the server wants input, but does not say which", { step });
  const state = requestState === undefined ? {} : { requestState };
  if (inputRequests === undefined) return state;
  const asked = isObject(inputRequests) ? Object.entries(inputRequests) : [];
  if (!isObject(inputRequests) || asked.length > limits.inboundRequests)
    throw new WireError("bad_message", "the server's questions are not a list, or too long a one", { step });
  const answers: [string, JsonObject][] = [];
  for (const [key, question] of asked) answers.push([key, await answerTo(question, rounds)]);
  // From entries, because a key may be called __proto__.
  return { inputResponses: Object.fromEntries(answers), ...state };
}

async function answerTo(question: unknown, { method: step, options, handler }: InputRounds): Promise<JsonObject> {
  const { method, params } = isObject(question) ? question : { method: undefined, params: undefined };
  const shown = typeof method === "string" ? clip(method, 100) : "something without a name";
  if (typeof method !== "string" || handler === undefined)
    throw new WireError("bad_message", `the server asked for ${shown}, which nobody can answer`, { step });
  const never = new AbortController();
  const signal = options.signal ?? never.signal;
  try {
    return objectOf(await orAborted(handler(method, objectOf(params), signal), signal, step));
  } catch (error) {
    if (error instanceof WireError) throw error;
    const { message } = toWireError(error);
    throw new WireError("rpc", `${shown} was not answered: ${message}`, { step }, { cause: error });
  }
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
