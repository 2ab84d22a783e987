/** The public interface of a host: `Host`, and the types of its members. */

import type { JsonObject, Progress, PromptResult, ResourceResult } from "@fairlead/wire";
import type { OpenChannel } from "@fairlead/wire/serve";
import type { ConversationInfo, ConversationSearch } from "../conversations/list-conversations.ts";
import type { CatalogCounts, Emitter, MCPDiscoveryState, Peer, ServerChanges, ServerState } from "../events.ts";
import type { CallResult } from "../execute/executor.ts";
import type { Model } from "../model/model.ts";
import type { ToolFilter } from "../normalise/filter.ts";
import type { CallableTool, Part } from "../normalise/model-types.ts";
import type { ToolCallConfirmationDetails, ToolConfirmationOutcome } from "../policy/confirmation.ts";
import type { Policies } from "../policy/rules/load-policies.ts";
import type { Decision, PolicyRule, RequestingUser, RequestKind } from "../policy/rules/rule.ts";
import type { LoadedSkillFile, ReadSkillOptions } from "../request/skills.ts";
import type { CompletionRequest } from "../resources/completion.ts";
import type { PromptContent } from "../resources/references/references.ts";
import type { Catalog } from "../server/catalog.ts";
import type { FailedStart } from "../server/failed-starts.ts";
import type { ToolExecution } from "../server/registered-tool.ts";
import type { PromptRegistry, QuarantinedTool, RegisteredTools, ResourceRegistry } from "../server/registries.ts";
import type { Difference } from "../server/tool-changes.ts";
import type { Problem } from "../settings/define/definition.ts";
import type { Configuration } from "../trust/configuration.ts";
import type { EntryTrust } from "../trust/entry-trust.ts";
import type { Conversation, ConversationOptions, OfferedTool, SendOptions } from "../turn/conversation.ts";
import type { TurnEvent } from "../turn/events.ts";
import type { ServerFlag } from "./flags.ts";
import type { SearchToolsOptions, SubscribeOptions } from "./gateway-types.ts";
import type { HostPrompt, HostResource, HostSkill, HostTool } from "./listings.ts";
import type { CallAsModelOptions } from "./options.ts";

export type * from "./gateway-types.ts";
export type { CallAsModelOptions, HostOptions, OpenHostOptions } from "./options.ts";

/** Options of `host.start`: which servers to connect, and a signal to stop waiting. */
export interface StartOptions {
  /** Servers to start, including lazy ones. Default: all servers that are not lazy. */
  readonly servers?: readonly string[];
  /** Stops waiting and rejects with `cancelled`. The connections continue until the host is closed. */
  readonly signal?: AbortSignal;
}

/** Options of one request to a server: cancellation, timeout and confirmation. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** The longest time without a response or progress, in milliseconds. Default: the server's `timeout` setting. */
  readonly timeout?: number;
  /**
   * `true`: the user was asked and said yes. `in_advance`: the user allowed the request beforehand, for example with
   * `--yes`. Neither has an effect if a rule denies the request or the tool's definition has changed.
   */
  readonly confirmed?: boolean | "in_advance" | undefined;
  /**
   * Asks the user to confirm the request. Called if a rule requires confirmation or the definition has changed.
   * Resolves with undefined if the user cannot be asked. Also called if the server wants to reach a host from its sandbox
   * while the request runs (`kind` is `host`).
   *
   * @param until Aborted when no request waits for the answer any more.
   */
  readonly confirm?:
    | ((details: ToolCallConfirmationDetails, until?: AbortSignal) => Promise<ToolConfirmationOutcome | undefined>)
    | undefined;
  /** The longest time for connecting the server, in milliseconds. Default: the time in the server's settings. */
  readonly wait?: number | undefined;
}

/** Options of `host.expandReferences`. */
export interface ReferenceOptions extends Pick<RequestOptions, "signal" | "wait"> {
  /** The servers whose resources the text can refer to. Default: all. */
  readonly servers?: readonly string[] | undefined;
}

/** Options of one tool call that the user makes. */
export interface CallOptions extends Omit<RequestOptions, "wait"> {
  readonly onProgress?: (progress: Progress) => void;
  /** Accepts the tool's definition before the call, if it has changed. */
  readonly acceptChanged?: boolean;
}

/** Options of a new conversation. Default model: the host's option `model`. */
export type NewConversation = Omit<ConversationOptions, "model"> & { readonly model?: Model };

/** Options of `host.runTurn`: a conversation to continue, or options for a new one. */
export interface RunTurnOptions extends SendOptions, NewConversation {
  /** The conversation to continue. If present, the options of a new conversation have no effect. */
  readonly conversation?: Conversation;
}

/** Describes the catalog of one server, from its connection or from the cache. */
export interface CachedCatalogInfo {
  readonly server: string;
  readonly offer: CatalogCounts;
  /** The protocol of the last connection. Absent while the server is connected: see the server's state. */
  readonly peer?: Peer;
  /** When the catalog was saved, in milliseconds since 1970. Absent while the server is connected. */
  readonly savedAt?: number;
}

/** Options of `decide` and `explain`: the kind and the sender of the request. */
export interface DecideOptions {
  /** The kind of the request. Default: `tool`. */
  readonly kind?: RequestKind;
  /** Whether the user sends the request. Default: false, a model sends it. */
  readonly typed?: boolean;
  /** The name of the gateway client that sends the request, if one does. */
  readonly client?: string | undefined;
  /** The user who sends the request. Default: the one for whom the host works. */
  readonly principal?: RequestingUser | undefined;
}

/** The decision of the rules about one request, with every rule that matches it. */
export interface Explanation {
  readonly decision: Decision;
  /** Every rule that matches the request, strongest first. */
  readonly matching: readonly PolicyRule[];
  readonly isChanged: boolean;
  /** Whether the request is denied whatever its server lists. Fairlead then refuses it without starting the server. */
  readonly isDeniedByName: boolean;
  /**
   * Whether `"trust": true` of the server counts, and if not, why. Absent if its entry does not say `"trust": true`, and
   * for prompts and sampling, which it does not concern.
   */
  readonly trust?: EntryTrust;
  /**
   * Why the decision may be about an earlier definition: Fairlead cannot save what the server lists now. A call of the
   * tool asks if the definition has changed.
   */
  readonly outdated?: string;
}

/** A tool that a filter in the settings hides. */
export interface HiddenTool {
  readonly server: string;
  readonly serverToolName: string;
  readonly setting: keyof ToolFilter;
}

/** A note about one server for the user. */
export interface HostNote {
  readonly server: string;
  readonly message: string;
}

/** A tool that `host.searchTools()` has found. Texts are not escaped. */
export interface SearchedTool {
  readonly server: string;
  /** The name that the server uses. */
  readonly tool: string;
  /** The name that a model uses. */
  readonly name: string;
  readonly description: string;
  /** The score of the match. Higher is better; scores of different searches cannot be compared. */
  readonly score: number;
}

/** A running host: its servers, catalogs and requests. `createHost` creates it, and `await using` closes it. */
export interface Host extends AsyncDisposable {
  /**
   * Loads the catalog cache, so that `tools()` and the other lists work without a connection. Returns the servers that
   * are connected, or whose cached catalog has not expired.
   */
  recall(servers?: readonly string[]): Promise<readonly CachedCatalogInfo[]>;
  /**
   * Servers that failed in this or an earlier run, and whose next attempt is in the future. `start` and requests do not
   * wait for that time.
   */
  failedStarts(): Promise<readonly FailedStart[]>;
  /**
   * Connects the servers that are allowed to start, and reads their catalogs. Resolves when each one has succeeded or
   * failed; `states()` shows which.
   */
  start(options?: StartOptions): Promise<void>;
  /**
   * Reads changed settings, then restarts the named servers. Without names, starts the servers that are not lazy, were
   * in use or had failed; connected servers with an unchanged definition keep running. A host that cannot read its
   * settings again restarts the servers that were in use or had failed.
   */
  restart(servers?: readonly string[]): Promise<void>;
  /** Stops these servers. The next request to a stopped server starts it again. */
  stop(servers: readonly string[]): Promise<void>;
  /**
   * Reads changed settings. Servers with an unchanged definition keep running; all others are stopped. `start` or a
   * request starts them again. `problems()` reports mistakes in settings files.
   *
   * @throws HostError `settings_invalid` if a settings file cannot be read or parsed (the host then keeps its earlier
   * settings) or a path in the environment is invalid, `usage` if the host is closed or has no settings files to read
   */
  reload(configuration?: Configuration): Promise<ServerChanges>;
  /**
   * Approves servers of the workspace that wait for approval: the named ones, or all. An approval is valid for the
   * definition that this host has read. Then reads the settings again, so that the servers can start. Returns the
   * approved names.
   *
   * @throws HostError `server_unknown`, `untrusted_folder`, `settings_invalid`, or `usage` if the host has no settings
   * files to read
   */
  approve(servers?: readonly string[]): Promise<readonly string[]>;
  /**
   * Reads the lists of a server again. Connects the server first if necessary.
   *
   * @throws HostError `server_unknown`, or the reason why the lists cannot be read
   */
  refresh(server: string, options?: Pick<RequestOptions, "signal">): Promise<void>;
  /**
   * Problems in the settings and trust files, in the order of the files. Messages quote the settings and are not
   * escaped.
   */
  problems(): readonly Problem[];
  /**
   * Tools of one server or of all servers, from connections or the cache. "All" includes the demo server only if no
   * other server is configured.
   */
  tools(server?: string): readonly HostTool[];
  /**
   * Finds tools by their purpose, best match first. Searches all listed and cached tools that no rule denies. One server
   * takes at most three quarters of the places as long as tools of other servers match. Default limit: 10.
   */
  searchTools(query: string | readonly string[], options?: SearchToolsOptions): Promise<readonly SearchedTool[]>;
  /**
   * The tools for the model of a new conversation: their estimated tokens, whether the model gets them directly, and
   * why. Without a model, Fairlead assumes the limits of Gemini.
   */
  toolOffers(options?: Pick<NewConversation, "model" | "servers">): Promise<readonly OfferedTool[]>;
  prompts(server?: string): readonly HostPrompt[];
  resources(server?: string): readonly HostResource[];
  /** The skills of one server or of all servers, from connections or the cache. Reads none of their files. */
  skills(server?: string): readonly HostSkill[];
  /**
   * The entry of one skill, by name, path or URI. Connects the server if the host does not hold the entry.
   *
   * @throws HostError `not_found`, `usage` if several skills of the server have the name
   */
  findSkill(server: string, skill: string, options?: Pick<RequestOptions, "signal" | "wait">): Promise<HostSkill>;
  /**
   * Reads a file of a skill for the user: `SKILL.md`, or the option `file`. The content equals the size and digest in
   * the skill's entry.
   *
   * @throws HostError `denied`, `changed` if the skill or the file has changed, `not_found` and others
   */
  readSkill(server: string, skill: string, options?: ReadSkillOptions): Promise<LoadedSkillFile>;
  /** Tools that Fairlead does not give to a model, each with the reason. */
  quarantined(server?: string): readonly QuarantinedTool[];
  /** Tools that a filter in the settings hides, each with the setting that hides it. */
  hidden(server?: string): readonly HiddenTool[];
  /** Notes for the user about catalogs, such as a filter that matches nothing or a list that was cut. */
  notes(server?: string): readonly HostNote[];
  /**
   * What is suspicious in the texts of servers: in names, descriptions and schemas of tools, prompts, resources and
   * skills, and in instructions. A flag hides nothing and changes no decision. With a name, only those of this server.
   */
  flags(server?: string): readonly ServerFlag[];
  /**
   * The catalog of a server, from the server or the cache, without the tools that a filter hides, and with notes about
   * unusable tools, prompts and resources.
   */
  catalog(server: string): Catalog | undefined;
  /**
   * Calls a tool for the user. Connects the tool's server first if necessary.
   *
   * @throws HostError `denied`, `changed`, `arguments_invalid`, `call_timeout`, `cancelled` and others
   */
  call(server: string, tool: string, args?: unknown, options?: CallOptions): Promise<CallResult>;
  readResource(server: string, uri: string, options?: RequestOptions): Promise<ResourceResult>;
  getPrompt(
    server: string,
    prompt: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<PromptResult>;
  /** Decides about a request without running it. Uses the catalogs that the host has now, and connects no server. */
  decide(server: string, tool: string, args?: JsonObject, options?: DecideOptions): Promise<Decision>;
  explain(server: string, tool: string, args?: JsonObject, options?: DecideOptions): Promise<Explanation>;
  /** How a tool or prompt differs from its accepted or locked definition; undefined if it does not differ. */
  changeOf(server: string, tool: string, kind?: RequestKind): Promise<readonly Difference[] | undefined>;
  /** The current rules, and problems in the rule files. */
  policy(): Promise<Policies>;
  /** Values that the server suggests for an argument of a prompt or a variable of a resource template. */
  complete(request: CompletionRequest, options?: Pick<RequestOptions, "signal">): Promise<readonly string[]>;
  /**
   * Emits `resource_updated` each time this resource changes, until you dispose of the returned object. The
   * subscription continues after a reconnection.
   */
  subscribe(server: string, uri: string, options?: SubscribeOptions): Promise<Disposable>;
  /** Returns the text, followed by the contents of the resources and files that it names with `@`. */
  expandReferences(typed: string, options?: ReferenceOptions): Promise<PromptContent>;
  /**
   * Creates a conversation with a model that can call tools. Connects no server and sends nothing before the first
   * turn. The conversation is recorded, unless the settings turn that off.
   */
  conversation(options?: NewConversation): Conversation;
  /**
   * Resumes a recorded conversation with its history, tool names and approvals. New turns are recorded in the same
   * file, unless the settings turn that off. `resume` is the id or its beginning.
   *
   * @throws HostError `not_found`; `busy` if another process has the conversation open
   */
  conversation(options: NewConversation & { readonly resume: string }): Promise<Conversation>;
  /** The recorded conversations of the user, latest first. */
  conversations(search?: ConversationSearch): Promise<readonly ConversationInfo[]>;
  /** Replaces this host's secrets, and text that looks like a secret, by `(hidden)`. */
  hideSecrets(text: string): Promise<string>;
  /** Runs one turn, in a new conversation unless one is given. */
  runTurn(input: string | readonly Part[], options?: RunTurnOptions): AsyncGenerator<TurnEvent, void, undefined>;
  /**
   * Runs a call that a model requested, for programs with their own model loop. `name` is the tool's name for the
   * model. Calls `confirm` if the call needs confirmation. If the tool reports an error, the promise resolves with
   * `error`.
   *
   * @throws HostError `tool_unknown`, `denied`, `changed`, `call_timeout`, `cancelled`, `lost` and others
   */
  callAsModel(name: string, args?: unknown, options?: CallAsModelOptions): Promise<ToolExecution>;
  /**
   * Combines all tools into one `CallableTool` of `@google/genai`. It declares only the first 512 tools. Each returned
   * object is a separate conversation with fixed tool names.
   */
  asCallableTool(): CallableTool;
  /**
   * Passes a client's messages to a server and back, unchanged. Rules and history treat the client's calls, reads and
   * prompts as the user's own. Resolves when the client has disconnected.
   *
   * @throws HostError if the server cannot be started, or has ended the connection
   */
  relay(server: string, client: OpenChannel, options?: Pick<RequestOptions, "signal">): Promise<void>;
  /** Resolves when all completed requests are in the history on disk, or a write has failed. */
  flushHistory(): Promise<void>;
  /** The states of all servers in the order of the settings. The demo server comes last. */
  states(): readonly ServerState[];
  getDiscoveryState(): MCPDiscoveryState;
  readonly toolRegistry: RegisteredTools;
  readonly promptRegistry: PromptRegistry;
  readonly resourceRegistry: ResourceRegistry;
  readonly on: Emitter["on"];
}
