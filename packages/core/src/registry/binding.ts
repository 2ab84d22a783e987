/** What a tool needs from the stages to its right: someone who decides and someone who calls. */

import type { JsonObject, Progress } from "@fairlead/wire";
import type { HostError } from "../errors.ts";
import type { Part } from "../normalise/model-types.ts";
import type { AskedTool, ToolCallConfirmationDetails } from "./confirmation.ts";

/** What came of a call, for the model and for the person. An error that the tool itself reports is an answer too. */
export interface ToolExecution {
  readonly llmContent: Part[];
  readonly returnDisplay: string;
  readonly error?: HostError;
  /** Where what the model does not get whole was put. */
  readonly files?: readonly string[];
  /** What of the call could not be checked, and what of the answer breaks its promise. */
  readonly warnings?: readonly string[];
}

/**
 * Puts a question to a person. `question` gives what is to be asked when their turn comes; `false`: nothing any more.
 * Rejects with `denied` if they say no.
 */
export type ConfirmPort = (question: () => Promise<ToolCallConfirmationDetails | false>) => Promise<void>;

/** Who confirms a call, and who is told about its progress. */
export interface CallWatch {
  /** Asks a person where the rules ask; without it only what was confirmed before, with these arguments, runs. */
  readonly confirm?: ConfirmPort;
  /** The call may run: allowed by this rule. */
  readonly onAllowed?: (rule: string) => void;
  /** Its server had room for it: it is sent. */
  readonly onStart?: () => void;
  readonly onProgress?: (progress: Progress) => void;
}

/** Arguments arrive as the server knows them, whatever the model was told to call them. */
export interface ToolBinding {
  /** `false`: may run; details: a person must be asked first. Rejects with `denied`, naming the rule. */
  confirm(
    tool: AskedTool,
    params: JsonObject,
    signal: AbortSignal | undefined,
  ): Promise<ToolCallConfirmationDetails | false>;
  /** Runs it, if it is allowed or has been confirmed for exactly these arguments; else rejects with `denied`. */
  call(tool: AskedTool, params: JsonObject, signal: AbortSignal | undefined, watch?: CallWatch): Promise<ToolExecution>;
}
