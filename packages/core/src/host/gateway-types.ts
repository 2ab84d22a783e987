/** The part of `Host` for gateways, which run requests from other MCP clients. */

import type { Era, JsonObject, RequestHandler, ServerInfo } from "@fairlead/wire";
import type { MessageTap } from "../connect/message-tap.ts";
import type { Redact } from "../connect/redact.ts";
import type { CallResult } from "../execute/executor.ts";
import type { ClientOptions } from "../execute/repeat.ts";
import type { Issue } from "../execute/validation/validation.ts";
import type { ConfirmPort } from "../policy/confirmation.ts";
import type { ToolIdentity } from "../policy/decide.ts";
import type { RequestWatch } from "../request/request-watch.ts";
import type { Connection } from "../server/connection.ts";
import type { PersonAnswers } from "../server/person-answers.ts";
import type { Servers } from "../server/servers.ts";
import type { ClientProfile, ToolBudget } from "../settings/define/definition.ts";
import type { ReceivedSpan } from "../telemetry/client-traces.ts";
import type { HostTelemetry } from "../telemetry/telemetry.ts";
import type { Configuration } from "../trust/configuration.ts";
import type { Host } from "./types.ts";

/** The client that sends a request through a gateway. */
export interface RequestingClient {
  /** The name that rules and the history use, such as `claude-code`. */
  readonly name: string;
  /**
   * Identifies the client's connection. An approval "for this conversation" applies to all requests of this connection.
   */
  readonly conversation: string;
}

/** A client's request to one server. Tools, prompts and resources have the server's own names. */
export interface ForwardedRequest {
  readonly client: RequestingClient;
  readonly server: string;
  /**
   * The method: `tools/call`, `prompts/get`, `resources/read`, `completion/complete`, `logging/setLevel`, or a method
   * that begins with `tasks/`.
   */
  readonly method: string;
  /** The parameters without `_meta`. The option `meta` contains `_meta`. */
  readonly params: JsonObject;
}

/**
 * Waits until a client's request may be sent, for example because the client has too many open requests. Returns the
 * function to call when the request has ended, or a promise of it if the request must wait.
 *
 * @param limits The settings `fairlead.limits.callsPerServer` and `callsTotal`.
 * @param signal Cancels the request.
 */
export type TakeTurn = (
  limits: { readonly callsPerServer: number; readonly callsTotal: number },
  signal: AbortSignal,
) => (() => void) | Promise<() => void>;

/** Options for sending, confirming and cancelling a client's request. */
export interface ForwardOptions extends ClientOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * What aborts `signal`. Closing the host aborts it too. Without it, the host creates a controller of its own for the
   * request, which takes as long as sending a small call.
   */
  readonly stop?: Pick<AbortController, "abort"> | undefined;
  /** The longest time without a response or progress, in milliseconds. Default: the server's `timeout` setting. */
  readonly timeout?: number | undefined;
  /** Whether the user has already confirmed this request. This has no effect if a rule denies the request. */
  readonly confirmed?: boolean | undefined;
  /**
   * Asks the user when the rules require a confirmation. If absent, such a request is denied, unless `confirmed` is
   * true.
   */
  readonly confirm?: ConfirmPort | undefined;
  /**
   * Called after the request is allowed and confirmed, before it is sent. A request that waits for a person therefore
   * takes no turn. Default: a call waits in the host's own queue.
   */
  readonly turn?: TakeTurn | undefined;
  /** The connection that the client uses. Default: the shared one. */
  readonly connection?: Connection | undefined;
  /** For `resources/read`: the URI of the skill whose file is read. Default: the skill that the address belongs to. */
  readonly skill?: string | undefined;
  /** The span of the client's request. Absent if no spans are collected. */
  readonly received?: ReceivedSpan | undefined;
  /** The servers of the skills that the client's model acts on. */
  readonly actingOn?: readonly string[] | undefined;
}

/** Options of `host.gateway.call`. */
export type CallOnOptions = NonNullable<Parameters<Host["call"]>[3]> &
  Pick<ForwardOptions, "connection" | "capabilities">;

/** What a server reported about itself in its current or last connection. Texts are not escaped. */
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
  /** The extensions that the clients of the connection declare. */
  readonly extensions?: JsonObject | undefined;
}

/** What the clients declare that share a connection of a legacy server only with each other. */
export type SharedCapabilities = Pick<DeclaredCapabilities, "sampling" | "extensions">;

/** A server of one host, as an object: a server whose definition changes is another object. */
export interface NamedServer {
  readonly name: string;
}

/** What a gateway adds to the first message to a server, and reads in the server's answer. */
export interface GreetingHooks {
  /** Returns members of `_meta` for `initialize` and `server/discover`. */
  meta(server: NamedServer): Promise<JsonObject>;
  /**
   * Called with `_meta` and `serverInfo` of the server's answer. Returns false if the server must not be connected,
   * because it is a loop. Returns a text for another reason, which continues a sentence after the server's name.
   */
  accepts(server: NamedServer, meta: JsonObject, serverInfo: ServerInfo): Promise<boolean | string>;
}

/** Answers a request from a server, such as an elicitation. The type of the host option `onQuestion`. */
export type QuestionHandler = (server: string, ...question: Parameters<RequestHandler>) => Promise<JsonObject>;

/** Options of `host.sampleThrough`. */
export interface SampleOptions extends Pick<ForwardOptions, "signal" | "confirm"> {
  /** The client whose model answers the sampling request. */
  readonly client?: RequestingClient | undefined;
}

/**
 * Options of `host.subscribe`. Reads need permission: with `client`, the rules for this client apply, otherwise the
 * rules for the user.
 */
export interface SubscribeOptions {
  readonly signal?: AbortSignal | undefined;
  /** Asks the user when the rules require a confirmation. If absent, such a subscription is denied. */
  readonly confirm?: ConfirmPort | undefined;
  readonly client?: RequestingClient | undefined;
}

/** Options of `host.searchTools`. */
export interface SearchToolsOptions {
  /** Maximum number of tools to return. Default: 10. */
  readonly limit?: number;
  /** The name of a gateway's client. Tools that the rules deny to this client are left out. */
  readonly client?: string | undefined;
  /** Whether the search may return this tool. Default: all tools. */
  readonly isOffered?: ((tool: ToolIdentity) => boolean) | undefined;
}

/** A tool that the gateway may list to a client, with the definition that the client would get. */
export interface ListableTool extends ToolIdentity {
  readonly definition: JsonObject;
}

/**
 * Identifies a server for approvals that are stored outside the host. A name is not enough: in another workspace, the
 * same name may mean another program.
 */
export interface IdentifiedServer {
  /** Digest of the server's definition and its resolved command. */
  readonly fingerprint: string;
  /** The workspace root. */
  readonly root: string;
}

/** A host as the command and the gateway see it. */
export interface OpenedHost extends Host {
  /** The settings that the host applies now: the last ones that it could read. */
  readonly configuration: Configuration;
  /**
   * Runs `change`, which changes settings files, and reloads the settings. The host does not report these changes as
   * `settings_changed`.
   */
  changeSettings<T>(change: () => Promise<T>): Promise<T>;
  /** The messages between the host and its servers, for a program that shows them. */
  readonly messages: MessageTap;
  /** The requests that run now, for a program that shows them. */
  readonly requests: RequestWatch;
  /** The spans of the host. */
  readonly telemetry: HostTelemetry;
  /** Asks a person what no client can answer. */
  readonly person: PersonAnswers;
  /** What is wrong with a value, by a server's schema, such as the arguments of a call. */
  issuesIn(schema: JsonObject, value: JsonObject): Promise<readonly Pick<Issue, "path" | "message">[]>;
  /**
   * Accepts the current definition of a tool, or all files of a skill, if they still have this digest.
   *
   * @param name The tool's name, or the skill's URI.
   * @throws HostError `changed` if the definition is another one by now, `tool_unknown`, `not_found`, `server_unknown`
   */
  accept(server: string, name: string, digest: string, kind?: "tool" | "skill"): Promise<void>;
  /**
   * Saves an approval for a host that was refused to a server in its sandbox.
   *
   * @param fingerprint The server's definition that the user has seen.
   * @throws HostError `changed`, `not_found`, `server_unknown`, `denied`
   */
  allowHost(server: string, host: string, fingerprint: string): Promise<void>;
  /** Like `hideSecrets`, without waiting. */
  readonly hide: Redact;
  /** What only the gateway needs. */
  readonly gateway: GatewayHost;
}

/** The members of a host that a gateway uses for requests from other MCP clients. */
export interface GatewayHost {
  /** The servers with their connections, and what is known about them without a connection. */
  readonly servers: Servers;
  /**
   * Runs a client's request: applies the rules, asks the user if needed, sends the request and records it. Resolves
   * with the server's unchanged result.
   *
   * @throws HostError `denied`, `changed`, `arguments_invalid`, `call_timeout`, `cancelled`, `lost` and others. If the
   * server answered with an error, the `cause` is a `WireError` with that answer.
   */
  forward(request: ForwardedRequest, options?: ForwardOptions): Promise<JsonObject>;
  /** Like `host.call`, on another connection, and with what its server is told of the caller. */
  call(server: string, tool: string, args?: JsonObject, options?: CallOnOptions): Promise<CallResult>;
  /** Like `host.subscribe`, on the connection that the client uses. */
  subscribe(
    server: string,
    uri: string,
    options: SubscribeOptions & Pick<ForwardOptions, "connection">,
  ): Promise<Disposable>;
  /** Returns a function that says whether the rules deny a tool to this client, before the arguments are known. */
  deniedTo(
    client: Pick<RequestingClient, "name">,
  ): Promise<(subject: ToolIdentity & { readonly kind?: "skill" }) => boolean>;
  /** The identity of a server in the current configuration; undefined if it is not configured. */
  identify(server: string): IdentifiedServer | undefined;
  /**
   * Applies the rules to a server's sampling request, and asks the user if necessary. If the request is allowed, `ask`
   * sends it to the client.
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
   * The tools that fit into a client's budget, in the order of `tools`. Prefers tools of servers with `alwaysLoad`,
   * then tools that were used before; for the rest, the servers take turns. The client finds the others with
   * `searchTools`.
   */
  toolsWithin<T extends ListableTool>(tools: readonly T[], budget: ToolBudget): Promise<readonly T[]>;
  /** The profile of a client in the settings (`fairlead.clients.NAME`); undefined if there is none. */
  clientProfile(name: string): ClientProfile | undefined;
}
