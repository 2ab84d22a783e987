/** The interface between a registered tool and its host. The host confirms and runs the tool's calls. */

import type { JsonObject, Progress } from "@fairlead/wire";
import type { HostError } from "../errors.ts";
import type { Keep } from "../normalise/content/parts.ts";
import type { Part } from "../normalise/model-types.ts";
import type { AskedTool, ToolCallConfirmationDetails } from "./confirmation.ts";

/** The result of a call, for the model and for the user. An error that the tool itself reports is a result too. */
export interface ToolExecution {
  readonly llmContent: Part[];
  readonly returnDisplay: string;
  /**
   * The result as `fairlead call` prints it: JSON without a Markdown fence, and an empty text for an empty result.
   * Absent if it equals `returnDisplay`.
   */
  readonly plainDisplay?: string;
  readonly error?: HostError;
  /** The files with those parts of the result that the model does not get. */
  readonly files?: readonly string[];
  /** Warnings: the result violates the tool's schema, or a part of the result could not be checked. */
  readonly warnings?: readonly string[];
}

/**
 * Asks the user to confirm a request. Calls `question` when the user can be asked. `question` returns the confirmation
 * to show, or `false` if the request no longer needs confirmation.
 *
 * @throws HostError `denied` if the user declines
 */
export type ConfirmPort = (question: () => Promise<ToolCallConfirmationDetails | false>) => Promise<void>;

/** Functions that a caller passes with a tool call, for example to confirm it or to show its progress. */
export interface CallWatch {
  /**
   * Asks the user when the rules require a confirmation. Without this function, a call that requires one runs only if
   * the user has already confirmed it with exactly these arguments.
   */
  readonly confirm?: ConfirmPort;
  /** Called when the user has changed the arguments. The call begins again with these. */
  readonly onEdited?: (args: JsonObject) => void;
  /** Receives the rule that allowed the call. */
  readonly onAllowed?: (rule: string) => void;
  /** Called when the call leaves the queue and is sent. */
  readonly onStart?: () => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Stores results that are too large, so that the model can read them later. */
  readonly results?: LargeResults;
}

/** Stores results that are too large for a request to a model. */
export interface LargeResults {
  /** The largest result, in tokens, that the model gets completely. */
  readonly tokens: number;
  readonly keep: Keep;
}

/**
 * Confirms and runs tools for a host. Arguments have the property names of the server's own schema, not the names that
 * the model sees.
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
