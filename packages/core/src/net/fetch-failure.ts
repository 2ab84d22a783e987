/** Why a request came to nothing, in the host's words. */

import type { WireError, WireErrorCode } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import { type ErrorCode, HostError } from "../errors.ts";

const codes: Partial<Record<WireErrorCode, ErrorCode>> = {
  tls: "tls",
  proxy: "proxy",
  too_large: "too_large",
  bad_message: "protocol",
};

/** `origin`: whoever was asked last. */
export function toFetchError(error: unknown, origin: string): HostError {
  if (error instanceof HostError) return error;
  if (isWireError(error)) {
    // A refusal of ours that had to travel through the connection it prevented.
    if (error.cause instanceof HostError) return error.cause;
    return new HostError(codes[error.code] ?? "unreachable", error.message, { cause: error });
  }
  const words = errorMessage(error);
  return new HostError("unreachable", `the answer of ${origin} broke off: ${words}`, { cause: error });
}

/** By name: the wire is not loaded for the sake of its class. */
function isWireError(error: unknown): error is WireError {
  return error instanceof Error && error.name === "WireError";
}
