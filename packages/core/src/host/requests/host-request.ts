/** The type of a request that `spine.ts` runs. */

import type { RequestStop } from "@fairlead/wire";
import type { ErrorCode } from "../../errors.ts";
import type { RequestSignal } from "../../mcp/unless-aborted.ts";
import type { PolicyRequest } from "../../policy/confirmations.ts";
import type { ConfirmPort } from "../../registry/binding.ts";
import type { AskedTool } from "../../registry/confirmation.ts";
import type { RequestOptions } from "../types.ts";

/** One request with its sender, and a function for each step. */
export interface HostRequest<Result, Shown> extends PolicyRequest {
  readonly who: NonNullable<PolicyRequest["who"]>;
  /** The tool, prompt or resource as the confirmation shows it. */
  readonly shown: AskedTool;
  readonly signal?: AbortSignal | undefined;
  /** Cancels the request. If present, `signal` is ignored. */
  readonly stop?: RequestStop | undefined;
  /**
   * Asks the user for confirmation. If absent, a request that needs confirmation is denied, unless `confirmed` is set.
   */
  readonly confirm?: ConfirmPort | undefined;
  /**
   * Set if the user has already confirmed the request (for example with `--yes`). Has no effect if a rule denies the
   * request.
   */
  readonly confirmed?: RequestOptions["confirmed"];
  /** Whether the user has accepted a changed definition of the tool in advance. */
  readonly acceptChanged?: boolean | undefined;
  /** Receives the rule that allowed the request, before the request is executed. */
  readonly onAllowed?: ((rule: string) => void) | undefined;
  /** Keeps the server running. It may be stopped as idle after the returned function is called. */
  readonly hold?: (() => () => void) | undefined;
  /** Connects the server. Returns undefined if the request can be sent at once. */
  readonly connect?: ((signal: RequestSignal) => Promise<unknown> | undefined) | undefined;
  /**
   * Waits until an allowed request may be sent. Returns the function that ends its turn, a promise of it if the request
   * must wait, or undefined if requests of this kind take no turns.
   */
  readonly turn?: ((signal: RequestSignal) => (() => void) | Promise<() => void> | undefined) | undefined;
  readonly execute: (signal: RequestSignal) => Promise<Result>;
  /** The outcome to record for a result. Default: `ok`. */
  readonly outcomeOf?: ((result: Result) => "ok" | ErrorCode) | undefined;
  readonly present: (result: Result) => Shown | Promise<Shown>;
}

/** The members of a request that `spine.ask` needs. */
export type ConfirmationRequest = Pick<
  HostRequest<unknown, unknown>,
  "who" | "client" | "conversation" | "kind" | "serverName" | "serverToolName" | "args" | "shown"
>;
