/** The part of a host that a gateway uses to run requests which other MCP clients send to servers. */

import type { Era, JsonObject, McpRequestOptions, RequestHandler, RequestStop } from "@fairlead/wire";
import type { ToolIdentity } from "../policy/decide.ts";
import type { ConfirmPort } from "../registry/binding.ts";
import type { ClientProfile, SharedBy, ToolBudget } from "../settings/define/definition.ts";
import type { ServerListing } from "./catalogs/catalog-cache.ts";

/** The client that sends a request through a gateway. */
export interface RequestingClient {
  /** The name that rules and the history use, such as `claude-code`. */
  readonly name: string;
  /**
   * Identifies the client's connection. An approval "for this conversation" applies to all requests of this connection.
   */
  readonly conversation: string;
}

/** A request of a client, with the tool, prompt and resource names that the server uses. */
export interface ForwardedRequest {
  readonly client: RequestingClient;
  readonly server: string;
  /**
   * The method: `tools/call`, `prompts/get`, `resources/read`, `completion/complete`, `logging/setLevel`, or a method
   * that begins with `tasks/`.
   */
  readonly method: string;
  /** The parameters without `_meta`, which is passed in the option `meta`. */
  readonly params: JsonObject;
}

/** Options for sending, confirming and cancelling a client's request. */
export interface ForwardOptions
  extends Pick<
    McpRequestOptions,
    | "onProgress"
    | "meta"
    | "capabilities"
    | "logLevel"
    | "onNotification"
    | "answer"
    | "input"
    | "tasks"
    | "owner"
    | "beforeSend"
  > {
  readonly signal?: AbortSignal | undefined;
  /** Cancels the request when the caller aborts this object. If it is present, `signal` is ignored. */
  readonly stop?: RequestStop | undefined;
  /** The longest time without a response or progress, in milliseconds. Default: the server's `timeout` setting. */
  readonly timeout?: number | undefined;
  /** Whether the user has already confirmed this request. This has no effect if a rule denies the request. */
  readonly confirmed?: boolean | undefined;
  /** Asks the user if the rules require it. If absent, a request that needs confirmation is denied. */
  readonly confirm?: ConfirmPort | undefined;
}

/** The facts that a connected server reports about itself. Texts are not escaped. */
export interface ServerDescription {
  /** Whether the current or the last connection to the server uses a legacy or a modern protocol version. */
  readonly era: Era;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
}

/** The capabilities that a gateway's host declares to servers with a legacy protocol version. */
export interface DeclaredCapabilities {
  readonly elicitation: boolean;
  readonly sampling: boolean;
  readonly roots: boolean;
}

/** Answers a question that a server asks. The type of the host option `onQuestion`. */
export type QuestionHandler = (server: string, ...question: Parameters<RequestHandler>) => Promise<JsonObject>;

/** Options of `host.sampleThrough`. */
export interface SampleOptions extends Pick<ForwardOptions, "signal" | "confirm"> {
  /** The client whose model answers the sampling request. */
  readonly client?: RequestingClient | undefined;
}

/**
 * Options of `host.subscribe`. If `client` is given, the rules for reads by this client apply. Otherwise, the rules for
 * reads by the user apply.
 */
export interface SubscribeOptions extends Pick<ForwardOptions, "signal" | "confirm"> {
  readonly client?: RequestingClient | undefined;
}

/** Options of `host.searchTools`. */
export interface SearchToolsOptions {
  /** Maximum number of tools to return. Default: 10. */
  readonly limit?: number;
  /** The name of a gateway's client. Tools that the rules deny to this client are left out. */
  readonly client?: string | undefined;
  /** A filter for the tools that may be found. Default: all tools. */
  readonly isOffered?: ((tool: ToolIdentity) => boolean) | undefined;
}

/** A tool that the gateway may list to a client, with the definition that the client would get. */
export interface ListableTool extends ToolIdentity {
  readonly definition: JsonObject;
}

/**
 * Identifies a server for approvals that are stored outside the host. Its name is not enough, because in another
 * workspace a server with the same name may run another program.
 */
export interface IdentifiedServer {
  /** The digest of the server's entry and its resolved command. */
  readonly fingerprint: string;
  /** The workspace root. */
  readonly root: string;
}

/** The members of a host for requests of other MCP clients. */
export interface GatewayHost {
  /**
   * Runs a request of a client: applies the rules, asks the user if needed, sends the request and records it. Resolves
   * with the unchanged result of the server.
   *
   * @throws HostError `denied`, `changed`, `arguments_invalid`, `call_timeout`, `cancelled`, `lost` and others. If the
   * server answered with an error, the `cause` is a `WireError` with that answer.
   */
  forward(request: ForwardedRequest, options?: ForwardOptions): Promise<JsonObject>;
  /**
   * Returns a function that tells whether the rules deny a tool to this client. The function does not look at the
   * arguments of a call.
   */
  deniedTo(client: Pick<RequestingClient, "name">): Promise<(tool: ToolIdentity) => boolean>;
  /**
   * The facts that a connected server reports about itself, or that the cached catalog contains. Undefined if there are
   * none.
   */
  serverFacts(server: string): ServerDescription | undefined;
  /** The identity of a server in the current configuration; undefined if it is not configured. */
  identify(server: string): IdentifiedServer | undefined;
  /**
   * Decides about a server's sampling request and asks the user if the rules require it. If the request is allowed,
   * calls `ask`, which sends it to the client.
   *
   * @throws HostError `denied`
   */
  sampleThrough(
    server: string,
    params: JsonObject,
    ask: (signal: AbortSignal) => Promise<JsonObject>,
    options?: SampleOptions,
  ): Promise<JsonObject>;
  /**
   * Whether all clients of a gateway share one connection to the server, or each client has its own
   * (`fairlead.servers.NAME.share`).
   */
  shareOf(server: string): SharedBy;
  /** Records that the server has asked a question without saying which of several clients it is for. */
  noteAsksBack(server: string): void;
  /** The catalog of a connected server, for use in another host; undefined if the server is not connected. */
  listing(server: string): ServerListing | undefined;
  /**
   * Registers the catalog of a server that another host with the same settings has connected. Has no effect while this
   * host is connected to the server.
   */
  adopt(server: string, listing: ServerListing): void;
  /** Tells connected servers that the roots have changed. */
  rootsChanged(): Promise<void>;
  /**
   * Returns the tools that fit into a client's budget, in the order of `tools`. Chooses first the tools of servers with
   * `alwaysLoad`, then tools that were used before, then the others. The client finds the remaining tools with
   * `searchTools`.
   */
  toolsWithin<T extends ListableTool>(tools: readonly T[], budget: ToolBudget): Promise<readonly T[]>;
  /** The profile of a client in the settings (`fairlead.clients.NAME`); undefined if there is none. */
  clientProfile(name: string): ClientProfile | undefined;
}
