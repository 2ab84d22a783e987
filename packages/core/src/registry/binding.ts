/** The interface through which a registered tool is confirmed and run by its host. */

import type { JsonObject, Progress } from "@fairlead/wire";
import type { HostError } from "../errors.ts";
import type { Keep } from "../normalise/content/parts.ts";
import type { Part } from "../normalise/model-types.ts";
import type { AskedTool, ToolCallConfirmationDetails } from "./confirmation.ts";

/** The result of a call, for the model and for the user. An error that the tool itself reports is a result too. */
export interface ToolExecution {
  readonly llmContent: Part[];
  readonly returnDisplay: string;
  /** If it differs from `returnDisplay`: the result as `fairlead call` prints it, without a fence around JSON, and empty for an empty result. */
  readonly plainDisplay?: string;
  readonly error?: HostError;
  /** Files with the parts of the result that the model does not get. */
  readonly files?: readonly string[];
  /** Parts that could not be checked, and how the result violates the tool's schema. */
  readonly warnings?: readonly string[];
}

/**
 * Asks the user. `question` returns the confirmation when the user is free; `false`: it is no longer needed.
 *
 * @throws HostError `denied` if the user declines
 */
export type ConfirmPort = (question: () => Promise<ToolCallConfirmationDetails | false>) => Promise<void>;

/** Confirms a call and receives its progress. */
export interface CallWatch {
  /**
   * Asks the user where the rules ask. Without it, only a call that was confirmed before, with these arguments, runs.
   */
  readonly confirm?: ConfirmPort;
  /** Receives the rule that allowed the call. */
  readonly onAllowed?: (rule: string) => void;
  /** Called when the call leaves the queue and is sent. */
  readonly onStart?: () => void;
  readonly onProgress?: (progress: Progress) => void;
  /** How to store a result above a number of tokens, for a model that can read the result later. */
  readonly results?: LargeResults;
}

/** Stores results that are too large for a request to a model. */
export interface LargeResults {
  /** The largest result, in tokens, that the model gets in full. */
  readonly tokens: number;
  readonly keep: Keep;
}

/**
 * Confirms and runs tools for a host. Arguments have the server's own property names, not those that a model was shown.
 */
export interface ToolBinding {
  /**
   * Returns `false` if the call may run, otherwise the confirmation that the user must answer first.
   *
   * @throws HostError `denied`, naming the rule
   */
  confirm(
    tool: AskedTool,
    params: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<ToolCallConfirmationDetails | false>;
  /**
   * Runs a call that is allowed, or confirmed with exactly these arguments.
   *
   * @throws HostError `denied`
   */
  call(tool: AskedTool, params: JsonObject, signal: AbortSignal | undefined, watch?: CallWatch): Promise<ToolExecution>;
}
