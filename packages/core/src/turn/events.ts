/** What a turn tells whoever shows it: plain data, one union. Texts are the model's and the servers' own: raw. */

import type { JsonObject } from "@fairlead/wire";
import type { ErrorCode, HostError } from "../errors.ts";
import type { ToolCallConfirmationDetails } from "../registry/confirmation.ts";

/**
 * In this order, some left out: `requested`, then `asking` if a person must be asked, `queued` until its server has room for it,
 * `running`, and one of the last four.
 */
export type CallStatus = "requested" | "asking" | "queued" | "running" | "ok" | "error" | "denied" | "cancelled";

/** Why a call came to nothing. */
export interface CallFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly next?: string;
}

/** An event about one tool call of a turn; the last one of a call has its outcome. */
export interface CallEvent {
  readonly type: "call";
  /** The same in all events of this call, and of no other in this conversation. */
  readonly id: string;
  /** As the model calls it. */
  readonly name: string;
  /** Whom it goes to, and what it is called there; absent for a name that means nothing, and for functions of the host's own. */
  readonly server?: string;
  readonly serverToolName?: string;
  /** As the model gives them. */
  readonly args: JsonObject;
  readonly status: CallStatus;
  /** The result for a person. */
  readonly display?: string;
  readonly error?: CallFailure;
  /** From the moment it was allowed. */
  readonly durationMs?: number;
  /** What let it run without a question, or made it ask. */
  readonly rule?: string;
  /** Where what the model does not get whole was put. */
  readonly files?: readonly string[];
  readonly media?: readonly { readonly mimeType: string; readonly data: string }[];
}

/** Why a turn ended. */
export type DoneReason = "stop" | "length" | "safety" | "limit" | "cancelled";

/** The last one is `done` or `error`, always. */
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
  /** Answered by `details.onConfirm(outcome)`: the call waits for it. Not told if the host was given a `confirm`, which is asked instead. */
  | { readonly type: "confirmation"; readonly id: string; readonly details: ToolCallConfirmationDetails }
  /** The model's API refuses this tool: the conversation goes on without it. */
  | {
      readonly type: "quarantined";
      readonly server: string;
      readonly serverToolName: string;
      readonly reason: string;
    }
  /** Nothing is known yet of what these offer; the model is asked when they have answered, or after a while. */
  | { readonly type: "waiting"; readonly servers: readonly string[] }
  /** The model is asked without these; those that come later are there from its next request on. */
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
      /** What the model said last. */
      readonly text: string;
      readonly denied: number;
      readonly calls: number;
    }
  | { readonly type: "error"; readonly error: HostError };

/** A server whose tools a turn has to do without, and why. */
export interface MissingServer {
  readonly server: string;
  readonly message: string;
  readonly next?: string;
}
