/** Creates the `WireError` for each way in which a request can fail. */

import { WireError } from "../errors.ts";
import { isObject, stringOf } from "../shapes/json.ts";
import { clip, errorMessage } from "../shapes/text.ts";

/** Returns the error for a JSON-RPC error response. Accepts any `error`, because some servers do not send an object. */
export function replyError(error: unknown, step: string): WireError {
  const { code, message, data } = isObject(error) ? error : { code: 0, message: error, data: undefined };
  // `Number(code)` may throw if the code is an object.
  const number = typeof code === "number" || typeof code === "string" ? Number(code) : 0;
  return new WireError("rpc", clip(stringOf(message) ?? `${step} failed: the server gave no reason`), {
    rpc: { code: Number.isFinite(number) ? number : 0, data },
    step,
  });
}

/** Returns the error for a request that the caller aborted. */
export function cancelledError(step: string, cause: unknown, unsent: boolean): WireError {
  return new WireError("cancelled", `${step} was cancelled`, { step, unsent: unsent ? true : undefined }, { cause });
}

/**
 * Returns the error for a timeout.
 *
 * @param silence Milliseconds without a response. Undefined for the total limit.
 */
export function timeoutError(step: string, silence: number | undefined): WireError {
  const why =
    silence === undefined ? "the total time limit is reached" : `no response or progress for ${seconds(silence)}`;
  const message = `${step} timed out: ${why}`;
  return new WireError("timeout", message, { step });
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${Number((milliseconds / 1000).toFixed(1))} s`;
}

/** Returns the error for a request that was open when the connection ended. */
export function closedError(step: string, cause: WireError | undefined): WireError {
  if (cause === undefined) return new WireError("closed", `the connection was closed during ${step}`, { step });
  return new WireError(cause.code, cause.message, { ...cause.evidence, step }, { cause });
}

/** Returns the error for a request that came after the connection had ended. */
export function neverSent(step: string, cause: WireError | undefined): WireError {
  const why = cause === undefined ? "the connection is closed" : `the connection is lost: ${cause.message}`;
  return new WireError("closed", why, { step, unsent: true }, { cause });
}

/**
 * Returns the error for a response that is larger than the request's limit. With `cause`, returns `cause` and adds the
 * step.
 */
export function tooLargeError(step: string, limit: number, cause?: WireError): WireError {
  if (cause) return withStep(cause, step);
  return new WireError("too_large", `the response to ${step} is larger than ${limit} bytes`, { step });
}

/** Returns the error with `evidence.step` set. An error that already has a step is returned unchanged. */
export function withStep(error: unknown, step: string): WireError {
  const wireError = toWireError(error);
  if (wireError.evidence.step !== undefined) return wireError;
  return new WireError(wireError.code, wireError.message, { ...wireError.evidence, step }, { cause: error });
}

/** Returns the error with `evidence.step` and without `unsent`, because the server has received the request. */
export function afterSending(error: unknown, step: string): WireError {
  const { code, message, evidence } = toWireError(error);
  const { unsent: _, ...rest } = evidence;
  return new WireError(code, message, { step, ...rest }, { cause: error });
}

/** Returns a `WireError` unchanged, and any other value as a `WireError` with the code `unreachable`. */
export function toWireError(error: unknown): WireError {
  if (error instanceof WireError) return error;
  return new WireError("unreachable", errorMessage(error), {}, { cause: error });
}
