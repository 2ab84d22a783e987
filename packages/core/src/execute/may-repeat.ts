/** Whether a call that failed may be made once more, unasked: never when that could do something twice. Pure. */

import type { JsonObject } from "@fairlead/wire";
import type { ErrorCode } from "../errors.ts";

export interface FailedCall {
  readonly code: ErrorCode;
  /** The server certainly knows nothing of it. */
  readonly neverLeft: boolean;
  /** What the server says about the tool. */
  readonly annotations: JsonObject | undefined;
  /** Whether that is believed. */
  readonly trustAnnotations: boolean;
  /** Milliseconds for which the server, which turned it away, wants to be left alone. */
  readonly pause: number | undefined;
  /** Milliseconds that the call may still take. */
  readonly timeLeft: number;
}

export function mayRepeat(failed: FailedCall): boolean {
  const { code, neverLeft, annotations, trustAnnotations, pause, timeLeft } = failed;
  if (pause !== undefined) return neverLeft && pause < timeLeft;
  // It was the connection, and a new one may do better; anything else would only fail again.
  if (neverLeft) return code === "unreachable" || code === "server_exited";
  return code === "lost" && trustAnnotations && isHarmless(annotations);
}

function isHarmless(annotations: JsonObject = {}): boolean {
  return annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true;
}
