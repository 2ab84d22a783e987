/** What a program that embeds the host works with: the options it gives and the host it gets. */

import type { JsonObject, Progress, PromptResult, ResourceResult } from "@fairlead/wire";
import type { SignInWays } from "../auth/browser/sign-in-ui.ts";
import type { MCPOAuthTokenStorage } from "../auth/store/token-storage.ts";
import type { Clock } from "../clock.ts";
import type { ConnectStep } from "../connect/connect-step.ts";
import type { Catalog, ListStep } from "../discover/catalog.ts";
import type { Difference } from "../discover/tool-changes.ts";
import type { Emitter, MCPDiscoveryState, Offer, Peer, ServerChanges, ServerState } from "../events.ts";
import type { CallResult } from "../execute/call-result.ts";
import type { Elicit } from "../mcp/elicitation.ts";
import type { Sample, UnaskableQuestion } from "../mcp/requests.ts";
import type { Model } from "../model/model.ts";
import type { ToolFilter } from "../normalise/filter.ts";
import type { CallableTool, Part } from "../normalise/model-types.ts";
import type { Policies, PolicyFlags } from "../policy/rules/load-policies.ts";
import type { ApprovalMode, Decision, PolicyRule, RequestKind } from "../policy/rules/rule.ts";
import type { ToolExecution } from "../registry/binding.ts";
import type { ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../registry/confirmation.ts";
import type { PromptRegistry } from "../registry/prompt-registry.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import type { QuarantinedTool, ToolRegistry } from "../registry/tool-registry.ts";
import type { CompletionRequest } from "../resources/completion.ts";
import type { PromptContent } from "../resources/references/read-references.ts";
import type { Problem } from "../settings/define/definition.ts";
import type { SettingsObject } from "../settings/define/server-config.ts";
import type { Environment } from "../settings/read/paths.ts";
import type { Configuration } from "../trust/configuration.ts";
import type { Conversation, ConversationOptions, SendOptions } from "../turn/conversation.ts";
import type { TurnEvent } from "../turn/events.ts";
import type { HostPrompt, HostResource, HostTool } from "./catalogs/listings.ts";

export interface HostOptions extends OpenHostOptions {
  /**
   * The user's settings: the path of a file (by default the one that Gemini CLI reads), or an object in its place. With an
   * object, no file is read or watched for that scope; problems in it name `settings option`, with line and column of
   * `JSON.stringify(settings, null, 2)`.
   */
  readonly settings?: string | SettingsObject;
  /** The workspace root; by default it is found from the current folder. `false` leaves the workspace out. */
  readonly workspace?: string | false;
  /** The embedding program's verdict on the workspace; without one, the trusted-folders file decides. */
  readonly trust?: boolean;
  /** By default that of the process. */
  readonly environment?: Environment;
}

export interface OpenHostOptions {
  readonly clock?: Clock;
  /** Messages go into the servers' log files: those of all servers, or of the one with this name. */
  readonly debug?: boolean | string;
  /** How many programs may be starting at once. */
  readonly startLimit?: number;
  /** Told, step by step, how a server is connected and what it lists. */
  readonly observe?: (server: string, step: ConnectStep | ListStep) => void;
  /** Where sign-ins are kept, instead of the store of this installation. */
  readonly tokens?: MCPOAuthTokenStorage;
  /** How a person can sign in when a server wants that; without it, such a server is left at `needs_auth`. */
  readonly signIn?: SignInWays;
  /** Opens an address for a sign-in, if the person wants that; false: nothing could be opened. */
  readonly openBrowser?: (url: string) => Promise<boolean>;
  /** Asks the person before a tool runs that nobody has allowed; without it, such a call of a model is denied. */
  readonly confirm?: (details: ToolCallConfirmationDetails, signal: AbortSignal) => Promise<ToolConfirmationOutcome>;
  /** What models may do beside the rules: in plan mode they only look, in yolo mode nobody is asked. */
  readonly approvalMode?: ApprovalMode;
  /** Tools that need no question in this run: `--allow`. */
  readonly allow?: PolicyFlags["allow"];
  /** `false`: nobody can be asked, by `confirm` or otherwise, so whatever would be asked about is denied. */
  readonly interactive?: boolean;
  /** Puts a server's question to the person; without it, servers are told that nobody can be asked. */
  readonly elicit?: Elicit;
  /** Told of a question of a server that is declined without being put to anyone: its address or its form is not fit for that. */
  readonly onUnaskable?: (question: UnaskableQuestion) => void;
  /** Asks the person's model for a server, if its settings allow that (`fairlead.servers.NAME.sampling`). */
  readonly sample?: Sample;
  /** Who answers in conversations that name no model of their own. */
  readonly model?: Model;
  /** Whether servers that are lost come back by themselves. A program that lives on wants that; one that makes a call and ends does not. */
  readonly recover?: boolean;
  /** Whether to tell (`settings_changed`) when a settings file changes on the disk. */
  readonly watch?: boolean;
  /** After so many milliseconds without a call a server that was started by one is stopped. */
  readonly idleStop?: number;
  /** Milliseconds since 1970: how old is what is remembered. */
  readonly today?: () => number;
}

export interface StartOptions {
  /** These, even if their settings let them wait for their first use; by default all that do not wait. */
  readonly servers?: readonly string[];
  /** Ends the waiting with `cancelled`; what has begun goes on until the host is closed. */
  readonly signal?: AbortSignal;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** The longest silence in milliseconds, instead of the server's own setting; progress restarts it. */
  readonly timeout?: number;
  /** The person was asked about it and said yes, or said so before anyone asked: answers a rule that asks, and never one that denies. */
  readonly confirmed?: boolean | "in_advance" | undefined;
  /** Asks the user where a rule asks, or where the definition has changed; undefined: they cannot be asked. */
  readonly confirm?:
    | ((details: ToolCallConfirmationDetails) => Promise<ToolConfirmationOutcome | undefined>)
    | undefined;
  /** How long, in milliseconds, its server may take until it is connected; by default, as long as the settings say. */
  readonly wait?: number | undefined;
}

export interface ReferenceOptions extends Pick<RequestOptions, "signal" | "wait"> {
  /** Only what these offer can be referred to; by default what all do. */
  readonly servers?: readonly string[] | undefined;
}

export interface CallOptions extends Omit<RequestOptions, "wait"> {
  readonly onProgress?: (progress: Progress) => void;
  /** Call it although its definition is not the one that was shown before: from now on it is the accepted one. */
  readonly acceptChanged?: boolean;
}

export interface CallAsModelOptions {
  readonly signal?: AbortSignal;
  /** Asks the person about this call; default: the host's own `confirm`. */
  readonly confirm?: OpenHostOptions["confirm"];
}

/** Without a model: the host's own. */
export type NewConversation = Omit<ConversationOptions, "model"> & { readonly model?: Model };

export interface RunTurnOptions extends SendOptions, NewConversation {
  /** An earlier one that goes on; then only `signal` and `references` count beside it. */
  readonly conversation?: Conversation;
}

/** What is known of a server without asking it. */
export interface Knowledge {
  readonly server: string;
  readonly offer: Offer;
  /** How it was reached; while it is connected, its state says that. */
  readonly peer?: Peer;
  /** Milliseconds since 1970; absent while the server is connected: then it is what the server says now. */
  readonly savedAt?: number;
}

export interface DecideOptions {
  /** `tool`, unless said otherwise. */
  readonly kind?: RequestKind;
  /** The person themselves wants it; else a model does. */
  readonly typed?: boolean;
}

export interface Explanation {
  readonly decision: Decision;
  /** @deprecated The new name is `decision`. */
  readonly verdict: Decision;
  /** Every rule that speaks of it, the strongest first. */
  readonly matching: readonly PolicyRule[];
  readonly isChanged: boolean;
}

export interface HiddenTool {
  readonly server: string;
  readonly serverToolName: string;
  readonly setting: keyof ToolFilter;
}

export interface HostNote {
  readonly server: string;
  readonly message: string;
}

export interface Host extends AsyncDisposable {
  /** Fills the lists with what was known of servers in earlier runs; connects to nothing. Gives those of which something is known. */
  recall(servers?: readonly string[]): Promise<readonly Knowledge[]>;
  /** Connects to servers that may start, and reads what they offer. Resolves when each has answered or failed; its state says which. */
  start(options?: StartOptions): Promise<void>;
  /**
   * Takes over changed settings, ends the servers that are named and starts them again. Without names, those that are as before and
   * connected keep running, and all others that were in use, or have been given up, are started.
   */
  restart(servers?: readonly string[]): Promise<void>;
  /** Ends these servers; one that is called after that is started again. */
  stop(servers: readonly string[]): Promise<void>;
  /** Takes over changed settings: servers that are still the same keep running, the others wait to be started. */
  reload(configuration?: Configuration): Promise<ServerChanges>;
  /**
   * Approves entries of a trusted workspace that await approval: those named, or all of them. The approval is stored, as by
   * `fairlead trust add --yes`, and holds for the entries exactly as this host has read them. The settings are read again,
   * so that the servers may start. Gives the names that were approved.
   *
   * @throws HostError `server_unknown`, `untrusted_folder`
   */
  approve(servers?: readonly string[]): Promise<readonly string[]>;
  /** Problems in the settings and in the trust rules, in the order of the files. Messages quote the settings: raw. */
  problems(): readonly Problem[];
  /** What is known so far, of one server or of all; the demo server counts among all only while nothing else is configured. */
  tools(server?: string): readonly HostTool[];
  prompts(server?: string): readonly HostPrompt[];
  resources(server?: string): readonly HostResource[];
  /** Tools that a model is not offered, each with its reason. */
  quarantined(server?: string): readonly QuarantinedTool[];
  /** Tools that a filter of the settings takes out, each with the setting. */
  hidden(server?: string): readonly HiddenTool[];
  /** What someone should know about what is offered: a filter that names nothing, lists that were cut. */
  notes(server?: string): readonly HostNote[];
  /** Everything that a server offers, as far as is known, and what of it could not be used. */
  catalog(server: string): Catalog | undefined;
  /** Connects to that server first, if need be, and to no other. */
  call(server: string, tool: string, args?: unknown, options?: CallOptions): Promise<CallResult>;
  readResource(server: string, uri: string, options?: RequestOptions): Promise<ResourceResult>;
  getPrompt(
    server: string,
    prompt: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<PromptResult>;
  /** What a request would meet, as far as its server is known now; connects to nothing. */
  decide(server: string, tool: string, args?: JsonObject, options?: DecideOptions): Promise<Decision>;
  explain(server: string, tool: string, args?: JsonObject, options?: DecideOptions): Promise<Explanation>;
  /** How the definition of a tool, or a prompt, differs from the one that was accepted or locked; undefined if it does not. */
  changeOf(server: string, tool: string, kind?: RequestKind): Promise<readonly Difference[] | undefined>;
  /** The rules that count, and what was found wrong with them. */
  policy(): Promise<Policies>;
  /** Values that an argument of a prompt or a variable of a template might take; none where the server does not say. */
  complete(request: CompletionRequest, options?: Pick<RequestOptions, "signal">): Promise<readonly string[]>;
  /** From then on `resource_updated` is told for it, also after the server was lost and came back; until it is disposed of. */
  subscribe(server: string, uri: string, options?: Pick<RequestOptions, "signal">): Promise<Disposable>;
  /** What a person typed, followed by the contents of the resources and files that they refer to with `@`. */
  expandReferences(typed: string, options?: ReferenceOptions): Promise<PromptContent>;
  /** A conversation with a model that uses the tools; nothing is started or asked before something is sent. */
  conversation(options?: NewConversation): Conversation;
  /** One turn, in a conversation of its own unless one is given. */
  runTurn(input: string | readonly Part[], options?: RunTurnOptions): AsyncGenerator<TurnEvent, void, undefined>;
  /**
   * One call of a model, by the name that the model was shown: for a loop of your own. Policy decides; where a rule asks,
   * `confirm` is asked. An error that the tool itself reports resolves with `error`.
   *
   * @throws HostError `tool_unknown`, `denied`, `changed`, `call_timeout`, `cancelled`, `lost` and others, like `execute`
   */
  callAsModel(name: string, args?: unknown, options?: CallAsModelOptions): Promise<ToolExecution>;
  /** All tools as one that `@google/genai` can call by itself. Each is a conversation of its own: names that it has shown stay. */
  asCallableTool(): CallableTool;
  /** In the order of the settings, the demo server last. */
  states(): readonly ServerState[];
  getDiscoveryState(): MCPDiscoveryState;
  readonly toolRegistry: ToolRegistry;
  readonly promptRegistry: PromptRegistry;
  readonly resourceRegistry: ResourceRegistry;
  readonly on: Emitter["on"];
}
