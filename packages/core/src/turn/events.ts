/** The events of a turn. Texts of models and servers are not escaped, so escape them before printing. */

import type { JsonObject } from "@fairlead/wire";
import type { ErrorCode, HostError } from "../errors.ts";
import type { ToolCallConfirmationDetails } from "../policy/confirmation.ts";

/**
 * The states of a call, in order. `asking`: the call needs confirmation. `queued`: the call is allowed and waits for
 * its start. `ok`, `error`, `denied` and `cancelled` are final. A call may skip states.
 */
export type CallStatus = "requested" | "asking" | "queued" | "running" | "ok" | "error" | "denied" | "cancelled";

/** Why a call failed. */
export interface CallFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly next?: string;
}

/** An event about one tool call of a turn. The last event of a call contains its outcome. */
export interface CallEvent {
  readonly type: "call";
  /** The id of the call: the same in all its events, and unique in the conversation. */
  readonly id: string;
  /** The tool name that the model uses. */
  readonly name: string;
  /** The server to which the call goes. Absent if the call goes to no server. */
  readonly server?: string;
  /** The name that the server gives the tool. Absent for Fairlead's own functions, and if no tool was found. */
  readonly serverToolName?: string;
  /** The arguments that the model gives. */
  readonly args: JsonObject;
  readonly status: CallStatus;
  /** The result for the user. */
  readonly display?: string;
  readonly error?: CallFailure;
  /** Milliseconds since the call was allowed. */
  readonly durationMs?: number;
  /** The rule that allowed the call, or the rule that required a confirmation. */
  readonly rule?: string;
  /** Files that contain the parts of the result that the model does not get in full. */
  readonly files?: readonly string[];
  readonly media?: readonly { readonly mimeType: string; readonly data: string }[];
}

/** Why a turn ended. */
export type DoneReason = "stop" | "length" | "safety" | "limit" | "cancelled";

/** An event of a turn. The last event is always `done` or `error`. */
export type TurnEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  | CallEvent
  | {
      readonly type: "progress";
      readonly id: string;
      readonly progress: number;
      readonly total?: number;
      readonly message?: string;
    }
  /**
   * The call waits until the program calls `details.onConfirm(outcome)`. If the host has a `confirm` function, Fairlead
   * calls it and does not emit this event.
   */
  | { readonly type: "confirmation"; readonly id: string; readonly details: ToolCallConfirmationDetails }
  /** The model's API refuses this tool, so the conversation continues without it. */
  | {
      readonly type: "quarantined";
      readonly server: string;
      readonly serverToolName: string;
      readonly reason: string;
    }
  /** The catalogs of these servers have not been read yet. The turn waits for them for a limited time. */
  | { readonly type: "waiting"; readonly servers: readonly string[] }
  /** The turn continues without these servers. If a server connects later, the next request contains its tools. */
  | { readonly type: "missing"; readonly servers: readonly MissingServer[] }
  | { readonly type: "note"; readonly message: string }
  | { readonly type: "retry"; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  | {
      readonly type: "usage";
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cachedTokens?: number;
    }
  | {
      readonly type: "done";
      readonly reason: DoneReason;
      /** The model's last text in this turn. */
      readonly text: string;
      readonly denied: number;
      readonly calls: number;
    }
  | { readonly type: "error"; readonly error: HostError };

/** A server whose tools a turn does not have, and why. */
export interface MissingServer {
  readonly server: string;
  readonly message: string;
  readonly next?: string;
}
