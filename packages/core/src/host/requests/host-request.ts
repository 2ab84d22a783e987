/** A request as `spine.ts` runs it: its sender, and the functions for each step. */

import type { RequestStop } from "@fairlead/wire";
import type { ErrorCode } from "../../errors.ts";
import type { RequestSignal } from "../../mcp/unless-aborted.ts";
import type { PolicyRequest } from "../../policy/confirmations.ts";
import type { ConfirmPort } from "../../registry/binding.ts";
import type { AskedTool } from "../../registry/confirmation.ts";
import type { RequestOptions } from "../types.ts";

/** One request, its sender, and the functions for each step. */
export interface HostRequest<Result, Shown> extends PolicyRequest {
  readonly who: NonNullable<PolicyRequest["who"]>;
  /** The tool, prompt or resource as the confirmation shows it. */
  readonly shown: AskedTool;
  readonly signal?: AbortSignal | undefined;
  /** Cancels the request when the caller aborts this object. If it is present, `signal` is ignored. */
  readonly stop?: RequestStop | undefined;
  /**
   * Asks the user for confirmation. If absent, a request that needs confirmation is denied, unless `confirmed` is set.
   */
  readonly confirm?: ConfirmPort | undefined;
  /** The confirmation that the user gave together with the request. It has no effect if a rule denies the request. */
  readonly confirmed?: RequestOptions["confirmed"];
  /** Whether the user accepts a changed definition of the tool. */
  readonly acceptChanged?: boolean | undefined;
  /** Receives the rule that allowed the request, before the request is executed. */
  readonly onAllowed?: ((rule: string) => void) | undefined;
  /** Keeps the server from being stopped as idle until the returned function is called. */
  readonly hold?: (() => () => void) | undefined;
  /** Connects the server. Returns undefined if the request can be sent at once. */
  readonly connect?: ((signal: RequestSignal) => Promise<unknown> | undefined) | undefined;
  readonly execute: (signal: RequestSignal) => Promise<Result>;
  /** The outcome to record for a result. Default: `ok`. */
  readonly outcomeOf?: ((result: Result) => "ok" | ErrorCode) | undefined;
  readonly present: (result: Result) => Shown | Promise<Shown>;
}

/** The part of a request that `ask` of `spine.ts` needs. */
export type ConfirmationRequest = Pick<
  HostRequest<unknown, unknown>,
  "who" | "client" | "conversation" | "kind" | "serverName" | "serverToolName" | "args" | "shown"
>;
