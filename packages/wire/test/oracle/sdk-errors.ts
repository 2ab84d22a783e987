/** The SDK's errors in our words, as far as they can be told apart. */

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { WireError, type WireErrorCode } from "../../src/errors.ts";

export function toWireError(error: unknown, step: string, signal: AbortSignal | undefined): WireError {
  // Its timeouts and the caller's abort look the same: only the signal knows.
  if (signal?.aborted) return new WireError("cancelled", `${step} was cancelled`, { step }, { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ProtocolError) {
    const { code, data } = error;
    return new WireError(
      "rpc",
      message,
      { step, rpc: { code, ...(data !== undefined && { data }) } },
      { cause: error },
    );
  }
  if (error instanceof SdkHttpError)
    return new WireError("http_status", message, { step, httpStatus: error.status }, { cause: error });
  return new WireError(codeOf(error, message), message, { step }, { cause: error });
}

function codeOf(error: unknown, message: string): WireErrorCode {
  if (!(error instanceof SdkError)) return message === "Not connected" ? "closed" : "bad_message";
  const { code } = error;
  if (code === SdkErrorCode.RequestTimeout) return "timeout";
  if (code === SdkErrorCode.ConnectionClosed || code === SdkErrorCode.NotConnected) return "closed";
  return "bad_message";
}
