/** Turns the failure of a fetch into a `HostError`. */

import type { WireError, WireErrorCode } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import { type ErrorCode, HostError } from "../errors.ts";

const codes: Partial<Record<WireErrorCode, ErrorCode>> = {
  tls: "tls",
  proxy: "proxy",
  too_large: "too_large",
  bad_message: "protocol",
};

/** Converts any error of a fetch. `origin` is the origin that got the last request. */
export function toFetchError(error: unknown, origin: string): HostError {
  if (error instanceof HostError) return error;
  if (isWireError(error)) {
    // The address rules can refuse a host during the lookup. The refusal is then the `cause` of the connection error.
    if (error.cause instanceof HostError) return error.cause;
    return new HostError(codes[error.code] ?? "unreachable", error.message, { cause: error });
  }
  const words = errorMessage(error);
  return new HostError("unreachable", `the response of ${origin} broke off: ${words}`, { cause: error });
}

/**
 * Whether the error is a `WireError`. Compares the error's name, because importing the class would load
 * `@fairlead/wire` in commands that open no connection.
 */
export function isWireError(error: unknown): error is WireError {
  return error instanceof Error && error.name === "WireError";
}
