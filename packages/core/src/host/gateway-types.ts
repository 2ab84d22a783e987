/** The part of a host that a gateway uses: it runs requests that other MCP clients send to servers. */

import type { Era, JsonObject, McpRequestOptions, RequestHandler } from "@fairlead/wire";
import type { ToolIdentity } from "../policy/decide.ts";
import type { ConfirmPort } from "../registry/binding.ts";
import type { ClientProfile, SharedBy, ToolBudget } from "../settings/define/definition.ts";
import type { ServerListing } from "./catalogs/catalog-cache.ts";

/** The client that sends a request through a gateway. */
export interface RequestingClient {
  /** The name that rules and the history use, such as `claude-code`. */
  readonly name: string;
  /**
   * Identifies the client's connection: an approval "for this conversation" is valid for requests with the same value.
   */
  readonly conversation: string;
}

/** A request of a client, with the names that its server uses. */
export interface ForwardedRequest {
  readonly client: RequestingClient;
  readonly server: string;
  /** `tools/call`, `prompts/get`, `resources/read`, `completion/complete`, `logging/setLevel` or a method of tasks. */
  readonly method: string;
  /** The parameters without `_meta`, which is an option. */
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
  /**
   * The controller of `signal`. The host aborts it when the host is closed; without it, the host needs a signal of its
   * own for each request.
   */
  readonly stop?: AbortController | undefined;
  /** The longest time without a response or progress, in milliseconds. Default: the server's `timeout` setting. */
  readonly timeout?: number | undefined;
  /**
   * Whether the user has already confirmed this request. A confirmation answers a rule that asks, never a rule that
   * denies.
   */
  readonly confirmed?: boolean | undefined;
  /** Asks the user if the rules ask. If absent, such a request is denied. */
  readonly confirm?: ConfirmPort | undefined;
}

/** The facts that a connected server reports about itself. Texts are unescaped. */
export interface ServerDescription {
  /** The protocol era of the current or the last connection to the server. */
  readonly era: Era;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
}

/** The capabilities that a host declares to servers of the legacy era, for the clients of a gateway. */
export interface DeclaredCapabilities {
  readonly elicitation: boolean;
  readonly sampling: boolean;
  readonly roots: boolean;
}

/** Answers a server's question that belongs to no request with an `answer` of its own. */
export type QuestionHandler = (server: string, ...question: Parameters<RequestHandler>) => Promise<JsonObject>;

/** Options of `host.sampleThrough`. */
export interface SampleOptions extends Pick<ForwardOptions, "signal" | "confirm"> {
  /** The client whose model answers. */
  readonly client?: RequestingClient | undefined;
}

/**
 * Options of `host.subscribe`. With a client, the rules for the client's reads apply; otherwise the user subscribes.
 */
export interface SubscribeOptions extends Pick<ForwardOptions, "signal" | "confirm"> {
  readonly client?: RequestingClient | undefined;
}

/** Options of `host.searchTools`. */
export interface SearchToolsOptions {
  /** Default: 10. */
  readonly limit?: number;
  /** The name of a gateway's client: tools that the rules deny to it are left out. */
  readonly client?: string | undefined;
  /** A filter for the tools that may be found. Default: all tools. */
  readonly isOffered?: ((tool: ToolIdentity) => boolean) | undefined;
}

/** A tool that may be listed to a client, with the definition that the client would get. */
export interface ListableTool extends ToolIdentity {
  readonly definition: JsonObject;
}

/** What an approval outside the host must be bound to: a server of the same name may be another program elsewhere. */
export interface IdentifiedServer {
  /** The digest of the server's entry and its resolved command. */
  readonly fingerprint: string;
  /** The workspace root. */
  readonly root: string;
}

/** The members of a host for requests of other MCP clients. */
export interface GatewayHost {
  /**
   * Runs a request of a client: decides, asks, sends and records it like every other request. Resolves with the server's
   * result as it came. Calls, prompts and reads are decided; a completion only fails where a rule denies its prompt or
   * resource, and log levels are not decided.
   *
   * @throws HostError `denied`, `changed`, `arguments_invalid`, `call_timeout`, `cancelled`, `lost` and others. The
   * `cause` of an error that the server answered with is a `WireError` with that answer.
   */
  forward(request: ForwardedRequest, options?: ForwardOptions): Promise<JsonObject>;
  /** Returns a function that tells which tools the rules deny to this client, independent of the arguments. */
  deniedTo(client: Pick<RequestingClient, "name">): Promise<(tool: ToolIdentity) => boolean>;
  /**
   * The facts that a connected server reports about itself, or reported when its catalog was cached; undefined if
   * unknown.
   */
  serverFacts(server: string): ServerDescription | undefined;
  /** The identity of a server as it is configured now; undefined if it is not configured. */
  identify(server: string): IdentifiedServer | undefined;
  /**
   * Decides about a server's sampling request, asks if the rules ask, then lets `ask` put it to the client.
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
   * Whether all clients of a gateway share one connection to the server, or each has its own
   * (`fairlead.servers.NAME.share`).
   */
  shareOf(server: string): SharedBy;
  /** Records that the server asks questions without saying which client's request they belong to. */
  noteAsksBack(server: string): void;
  /** The catalog of a connected server, for use in another host; undefined if the server is not connected. */
  listing(server: string): ServerListing | undefined;
  /**
   * Registers the catalog of a server that another host with the same settings has connected. Has no effect while the
   * server is connected here.
   */
  adopt(server: string, listing: ServerListing): void;
  /** Tells connected servers that declared roots have changed. */
  rootsChanged(): Promise<void>;
  /**
   * The tools to list to a client with this budget, in their order: all tools if they fit; otherwise first the tools of
   * servers with `alwaysLoad`, then tools used before, then others, as far as they fit. The client finds the remaining
   * tools with `searchTools`.
   */
  toolsWithin<T extends ListableTool>(tools: readonly T[], budget: ToolBudget): Promise<readonly T[]>;
  /** The profile of a client in the settings (`fairlead.clients.NAME`); undefined if there is none. */
  clientProfile(name: string): ClientProfile | undefined;
}
