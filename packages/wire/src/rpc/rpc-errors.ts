/** The ways in which a request of ours ends without a result. */

import { WireError } from "../errors.ts";
import { isObject, stringOf } from "../shapes/json.ts";
import { clip, errorMessage } from "../shapes/text.ts";

/** The server answered with an error; whatever shape it has, it ends the request. */
export function replyError(error: unknown, step: string): WireError {
  const { code, message, data } = isObject(error) ? error : { code: 0, message: error, data: undefined };
  // Nothing else is converted: JSON can hold objects that throw when they are.
  const number = typeof code === "number" || typeof code === "string" ? Number(code) : 0;
  return new WireError("rpc", clip(stringOf(message) ?? `${step} failed, and the server does not say why`), {
    rpc: { code: Number.isFinite(number) ? number : 0, ...(data !== undefined && { data }) },
    step,
  });
}

export function cancelledError(step: string, cause: unknown, unsent: boolean): WireError {
  return new WireError("cancelled", `${step} was cancelled`, { step, ...(unsent && { unsent }) }, { cause });
}

/** @param silence The silence that was too long; without it, the request as a whole was. */
export function timeoutError(step: string, silence: number | undefined): WireError {
  const message = silence === undefined ? `${step} took too long` : `no sign of life for ${silence} ms during ${step}`;
  return new WireError("timeout", message, { step });
}

/** The conversation ended while the request was open. */
export function closedError(step: string, cause: WireError | undefined): WireError {
  if (cause === undefined) return new WireError("closed", `closed before ${step} was answered`, { step });
  return new WireError(cause.code, cause.message, { ...cause.evidence, step }, { cause });
}

/** The conversation was over before the request was made. */
export function neverSent(step: string, cause: WireError | undefined): WireError {
  const why = cause === undefined ? "the connection is closed" : `the connection is gone: ${cause.message}`;
  return new WireError("closed", why, { step, unsent: true }, { cause });
}

/** What a transport reports, with what was being done. */
export function withStep(error: unknown, step: string): WireError {
  const known = toWireError(error);
  if (known.evidence.step !== undefined) return known;
  return new WireError(known.code, known.message, { ...known.evidence, step }, { cause: error });
}

/** The same for a request that has been answered once, whatever became of its later steps: it has left. */
export function afterSending(error: unknown, step: string): WireError {
  const { code, message, evidence } = toWireError(error);
  const { unsent: _, ...rest } = evidence;
  return new WireError(code, message, { step, ...rest }, { cause: error });
}

export function toWireError(error: unknown): WireError {
  if (error instanceof WireError) return error;
  return new WireError("unreachable", errorMessage(error), {}, { cause: error });
}
