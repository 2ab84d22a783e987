/** Whether a server may start, in the words and documents of the command. */

import type { ErrorCode } from "@fairlead/core/errors";
import type { ConfiguredServer } from "@fairlead/core/settings/definition";
import { type SafeText, safe } from "@fairlead/core/text/safe-text";
import type { Admission } from "@fairlead/core/trust/admit";

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
  return { status, reason, error: { code: errorCode(admission), message, ...(next === undefined ? {} : { next }) } };
}

type Refusal = Exclude<Admission, { status: "admitted" }>;

/** The code that a call into this server would fail with. */
export function errorCode({ reason }: Refusal): ErrorCode {
  switch (reason) {
    case "awaiting_approval":
    case "untrusted_folder":
    case "settings_invalid":
    case "variable_unset":
      return reason;
    case "user":
    case "not_allowed":
    case "excluded":
      return "denied";
  }
}

export function statusWords(admission: Admission): SafeText {
  if (admission.status === "admitted") return safe`ready to start`;
  switch (admission.reason) {
    case "user":
      return safe`disabled`;
    case "awaiting_approval":
      return safe`blocked: awaiting approval`;
    case "untrusted_folder":
      return safe`blocked: folder not trusted`;
    case "not_allowed":
      return safe`blocked: not in mcp.allowed`;
    case "excluded":
      return safe`blocked: in mcp.excluded`;
    case "settings_invalid":
      return safe`cannot start: settings`;
    case "variable_unset":
      return safe`cannot start: variable not set`;
  }
}

/** The transport in one word; a bare `url` is tried as streamable HTTP first. */
export function transportWord(kind: ConfiguredServer["kind"]): "stdio" | "http" | "sse" | "unknown" {
  switch (kind) {
    case undefined:
      return "unknown";
    case "http-or-sse":
      return "http";
    case "stdio":
    case "http":
    case "sse":
      return kind;
  }
}
