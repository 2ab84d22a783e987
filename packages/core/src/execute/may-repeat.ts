/** Decides whether a failed call may be repeated without asking: never if it could take effect twice. Pure. */

import type { JsonObject } from "@fairlead/wire";
import type { ErrorCode } from "../errors.ts";

/** A failed call. */
export interface FailedCall {
  readonly code: ErrorCode;
  /** The call certainly did not reach the server. */
  readonly neverLeft: boolean;
  /** The tool's annotations, claimed by the server. */
  readonly annotations: JsonObject | undefined;
  /** Whether those annotations are trusted. */
  readonly trustAnnotations: boolean;
  /** Milliseconds that a server which rejected the call asks to wait. */
  readonly pause: number | undefined;
  /** Milliseconds that the call may still take. */
  readonly timeLeft: number;
}

/** Whether the call may be sent again. */
export function mayRepeat(failed: FailedCall): boolean {
  const { code, neverLeft, annotations, trustAnnotations, pause, timeLeft } = failed;
  if (pause !== undefined) return neverLeft && pause < timeLeft;
  // The connection failed, and a new one may succeed. Any other error would occur again.
  if (neverLeft) return code === "unreachable" || code === "server_exited";
  return code === "lost" && trustAnnotations && isHarmless(annotations);
}

function isHarmless(annotations: JsonObject = {}): boolean {
  return annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true;
}
