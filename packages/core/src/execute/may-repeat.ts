/** Decides whether a failed call may be sent again. Pure. */

import type { JsonObject } from "@fairlead/wire";
import type { ErrorCode } from "../errors.ts";

/** Facts about a failed call that decide whether it may be sent again. */
export interface FailedCall {
  readonly code: ErrorCode;
  /** True if the call certainly did not reach the server. */
  readonly neverLeft: boolean;
  /** The tool's annotations, as the server claims them. */
  readonly annotations: JsonObject | undefined;
  readonly trustAnnotations: boolean;
  /** Milliseconds that a busy server asks Fairlead to wait; undefined if the server did not ask. */
  readonly pause: number | undefined;
  /** Milliseconds that the call may still take. */
  readonly timeLeft: number;
}

/** Whether a failed call may be sent again without asking the user. Never true if the call could take effect twice. */
export function mayRepeat(failed: FailedCall): boolean {
  const { code, neverLeft, annotations, trustAnnotations, pause, timeLeft } = failed;
  if (pause !== undefined && pause >= timeLeft) return false;
  // Sending again helps only if the connection failed. After any other error, the call would fail again.
  if (neverLeft) return code === "unreachable" || code === "server_exited";
  return code === "lost" && trustAnnotations && isHarmless(annotations);
}

function isHarmless(annotations: JsonObject = {}): boolean {
  return annotations["readOnlyHint"] === true || annotations["idempotentHint"] === true;
}
