/** Whether a server may start, as text and as JSON, for commands that start no server. */

import type { ErrorCode } from "@fairlead/core/errors";
import { initialServerState, notConnectedError } from "@fairlead/core/mcp/server-state";
import { type SafeText, safe } from "@fairlead/core/text/safe-text";
import type { Admission } from "@fairlead/core/trust/admit";
import { stateWords } from "./server-state.ts";

interface ErrorDocument {
  readonly code: ErrorCode;
  readonly message: string;
  readonly next?: string;
}

/** `status`, `reason` and `error` of a server in `--json` documents. */
export interface StatusDocument {
  readonly status: "disconnected" | "disabled" | "blocked";
  readonly reason: string;
  readonly error?: ErrorDocument;
}

export function statusDocument(admission: Admission): StatusDocument {
  if (admission.status === "admitted") return { status: "disconnected", reason: "lazy" };
  const { status, reason, message, next } = admission;
  const { code } = notConnectedError(initialServerState("", admission, 0));
  return { status, reason, error: { code, message, ...(next === undefined ? {} : { next }) } };
}

export function statusWords(admission: Admission): SafeText {
  return admission.status === "admitted" ? safe`ready to start` : stateWords(initialServerState("", admission, 0));
}
