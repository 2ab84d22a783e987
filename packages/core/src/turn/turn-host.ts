/** The interface through which a turn uses its host. */

import type { ResourceResult } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import type { ServerState } from "../events.ts";
import type { StoredFile } from "../files/result-files.ts";
import type { LeftOut } from "../normalise/content/parts.ts";
import type { Pin } from "../normalise/tool-name.ts";
import type { ConfirmPort } from "../registry/binding.ts";
import type { Confirm } from "../registry/confirmation.ts";
import type { ConversationTools } from "../registry/pinned-tools.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import type { PromptContent } from "../resources/references/references.ts";
import type { FoundTool } from "../search/tool-search.ts";

/**
 * A function that returns the confirmation to show, or `false` if the call needs none. The turn calls it a second time
 * just before the user is asked, because the user's answer to an earlier question may already allow the call.
 */
export type TurnQuestion = Parameters<ConfirmPort>[0];

/** What a turn needs from its host: tools, servers, settings and confirmations. */
export interface TurnHost {
  /** Gives every tool a name, with pauses for other code. Resolves when all tools have their names. */
  readonly toolsReady: () => Promise<void>;
  /**
   * Opens the tools of a conversation. Their names stay the same until it ends. `names` are the names that it already
   * uses.
   */
  readonly openTools: (names?: readonly Pin[]) => ConversationTools;
  readonly resources: ResourceRegistry;
  /** The servers that a conversation uses by default, in the order of the settings. */
  readonly servers: () => readonly string[];
  readonly offersResources: () => boolean;
  /** The setting that limits the tool declarations in one request to the model. */
  readonly toolBudget: () => { readonly tokens?: number; readonly tools?: number };
  /** Whether the tools of this server are always offered directly. */
  readonly isAlwaysLoaded: (server: string) => boolean;
  /** Reads from the ledger which tools were used in this workspace. Reads the ledger only once. */
  readonly loadUsedTools: () => Promise<void>;
  /**
   * The tools that were used before in this workspace; the tool used last comes first. Empty until `loadUsedTools` has
   * ended.
   */
  readonly usedTools: () => readonly { readonly serverName: string; readonly serverToolName: string }[];
  /** Finds tools that match the queries and that no rule denies. The best match comes first. */
  readonly searchTools: (
    queries: readonly string[],
    limit: number,
    isWanted: (tool: RegisteredTool) => boolean,
  ) => Promise<readonly FoundTool[]>;
  /** Whether a rule denies every call of the tool. */
  readonly isDenied: (tool: { readonly serverName: string; readonly serverToolName: string }) => boolean;
  /** The catalog of a server, from the server or from the catalog cache; undefined if there is none. */
  readonly catalogInfo: (server: string) => { readonly instructions?: string } | undefined;
  readonly states: () => readonly ServerState[];
  /** Adds the cached catalogs of these servers to the registries. */
  readonly recall: (servers: readonly string[]) => Promise<unknown>;
  /** Connects the servers that may start. Resolves when each of them is connected or has failed to connect. */
  readonly start: (servers: readonly string[]) => Promise<unknown>;
  /** Reads a resource for a model, if the policy allows it. */
  readonly readResource: (
    server: string,
    uri: string,
    options: {
      readonly signal: AbortSignal;
      readonly ask: ConfirmPort;
      /** Called before Fairlead sends the request, with the rule that allows the read. */
      readonly onAllowed: (rule: string) => void;
    },
  ) => Promise<ResourceResult>;
  readonly confirm?: Confirm | undefined;
  readonly expandReferences: (
    typed: string,
    options: { readonly signal: AbortSignal; readonly wait: number; readonly servers: readonly string[] | undefined },
  ) => Promise<PromptContent>;
  readonly storeResult: (file: LeftOut) => Promise<StoredFile>;
  readonly findResults: (ids: ReadonlySet<string>) => Promise<readonly StoredFile[]>;
  /** The size of the model's context in tokens, from the settings. */
  readonly contextTokens: () => number | undefined;
  /** The largest number of tokens of a result. A larger result is stored in a file, and the model gets only a part. */
  readonly resultTokens: () => number;
  readonly clock: Clock;
  /** A signal that is aborted when the host is closed. */
  readonly closing: AbortSignal;
}
