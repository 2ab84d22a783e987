/** The interface through which a turn uses its host. */

import type { ResourceResult } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import type { ServerState } from "../events.ts";
import type { Keep } from "../normalise/content/parts.ts";
import type { Pin } from "../normalise/tool-name.ts";
import type { ConfirmPort } from "../registry/binding.ts";
import type { ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../registry/confirmation.ts";
import type { ConversationTools } from "../registry/pinned-tools.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import type { QuarantinedTool } from "../registry/tool-registry.ts";
import type { PromptContent } from "../resources/references/read-references.ts";

/** Returns the confirmation when the user is free. */
export type TurnQuestion = Parameters<ConfirmPort>[0];

export interface TurnHost {
  /** Opens the tools of a conversation, whose names do not change. `names`: names that it has given already. */
  readonly openTools: (names?: readonly Pin[]) => ConversationTools;
  /** Tools that no conversation gets, because their server lists too many. */
  readonly leftOut: () => readonly QuarantinedTool[];
  readonly resources: ResourceRegistry;
  /** The default servers of a conversation, in the order of the settings. */
  readonly servers: () => readonly string[];
  /** Whether the model may list and read resources. */
  readonly offersResources: () => boolean;
  /** Maximum number of tokens for declarations. */
  readonly toolBudget: () => number | undefined;
  /** The listed or cached catalog of a server; undefined if there is none. */
  readonly known: (server: string) => { readonly instructions?: string } | undefined;
  readonly states: () => readonly ServerState[];
  /** Fills the registries from the catalog cache. */
  readonly recall: (servers: readonly string[]) => Promise<unknown>;
  /** Connects the servers that may start; resolves when each has succeeded or failed. */
  readonly start: (servers: readonly string[]) => Promise<unknown>;
  /** Reads a resource for a model, if policy allows it. */
  readonly readResource: (
    server: string,
    uri: string,
    options: {
      readonly signal: AbortSignal;
      readonly ask: ConfirmPort;
      /** Called with the rule that allows the read, before the read is sent. */
      readonly onAllowed: (rule: string) => void;
    },
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
