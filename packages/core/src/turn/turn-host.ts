/** What a turn needs from the host around it. */

import type { ResourceResult } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import type { ServerState } from "../events.ts";
import type { Keep } from "../normalise/content/parts.ts";
import type { ConfirmPort } from "../registry/binding.ts";
import type { ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../registry/confirmation.ts";
import type { ConversationTools } from "../registry/pinned-tools.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import type { QuarantinedTool } from "../registry/tool-registry.ts";
import type { PromptContent } from "../resources/references/read-references.ts";

export type Ask = ConfirmPort;
export type Question = Parameters<ConfirmPort>[0];

export interface TurnHost {
  /** Names as they are now, for as long as the conversation lasts. */
  readonly openTools: () => ConversationTools;
  /** Tools of which no conversation ever hears: a server has too many. */
  readonly leftOut: () => readonly QuarantinedTool[];
  readonly resources: ResourceRegistry;
  /** Those that a conversation has unless it names its own, in the order of the settings. */
  readonly servers: () => readonly string[];
  /** Whether the model may look for resources, and read them. */
  readonly offersResources: () => boolean;
  /** The most tokens that declarations may take. */
  readonly toolBudget: () => number | undefined;
  /** What is known of a server of which something is. */
  readonly known: (server: string) => { readonly instructions?: string } | undefined;
  readonly states: () => readonly ServerState[];
  /** Brings back what earlier runs knew of these. */
  readonly recall: (servers: readonly string[]) => Promise<unknown>;
  /** Connects to those of them that may start; resolves when each has answered or failed. */
  readonly start: (servers: readonly string[]) => Promise<unknown>;
  /** Reads for a model, if that is allowed. */
  readonly readResource: (
    server: string,
    uri: string,
    options: { readonly signal: AbortSignal; readonly ask: Ask },
  ) => Promise<ResourceResult>;
  readonly confirm?:
    | ((details: ToolCallConfirmationDetails, signal: AbortSignal) => Promise<ToolConfirmationOutcome>)
    | undefined;
  readonly expandReferences: (
    typed: string,
    options: { readonly signal: AbortSignal; readonly wait: number; readonly servers: readonly string[] | undefined },
  ) => Promise<PromptContent>;
  readonly keep: Keep;
  readonly clock: Clock;
  /** Aborted when the host is closed. */
  readonly closing: AbortSignal;
}
