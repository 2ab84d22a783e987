/** A connected client with the methods of the official SDK's client: what `connectToMcpServer` returns. */

import type { JsonObject, ListKind, McpRequestOptions } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import type { OpenedSession } from "../connect/open-session.ts";
import { toCallError } from "../connect/outcome.ts";
import {
  aBoolean,
  aName,
  anObject,
  aSignal,
  aString,
  expectArguments,
  optional,
  readMembers,
  someMilliseconds,
  type Wanted,
  withMethod,
} from "../expect-arguments.ts";
import { type Catalog, type CatalogPrompt, type CatalogTool, readCatalog } from "../server/catalog.ts";
import type { MCPServerConfig } from "../settings/define/server-config.ts";
import { type WorkspaceContext, workspaceFolder } from "./config.ts";
import { entryOpener, processEnvironment } from "./open-entry.ts";
import { aServerName, checkServerEntry } from "./server-entry.ts";

/** Options of one request. `timeout` is in milliseconds without a response or progress. */
export type SdkRequestOptions = Pick<McpRequestOptions, "signal" | "timeout">;

/** Checks the options of a request. @throws HostError `usage` */
export function expectRequestOptions(call: string, options: SdkRequestOptions | undefined): void {
  expectArguments(call, { options: [options, optional(anObject)] });
  const wanted = { signal: optional(aSignal), timeout: optional(someMilliseconds) };
  if (options !== undefined) readMembers(call, options, wanted, "options.");
}

/** A tool call, as the official SDK takes it. */
export interface SdkCall {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
}

/** What this subpath needs of a client. The official SDK's client has it, and so has `ConnectedClient`. */
export interface SdkClient {
  listTools(params?: { cursor: string }): Promise<{ tools: readonly object[]; nextCursor?: string | undefined }>;
  callTool(params: SdkCall): Promise<object>;
  listPrompts(params?: { cursor: string }): Promise<{ prompts: readonly object[]; nextCursor?: string | undefined }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<object>;
}

/** Accepts what can list and call tools. */
export const aToolClient: Wanted = withMethod("listTools", "callTool");
/** Accepts what can list and get prompts. */
export const aPromptClient: Wanted = withMethod("listPrompts", "getPrompt");

/**
 * A connection to one server, with the official SDK's methods. Lists are read completely and checked, so there is no
 * next page. Results are as the server sent them.
 *
 * @throws HostError from its methods
 */
export class ConnectedClient implements SdkClient {
  readonly #serverName: string;
  readonly #session: OpenedSession;
  readonly #timeout: number | undefined;

  /** @param timeout The longest time of a request without a response or progress, in milliseconds. */
  constructor(serverName: string, session: OpenedSession, timeout?: number) {
    expectArguments("new ConnectedClient()", {
      serverName: [serverName, aName],
      session: [session, withMethod("request")],
      timeout: [timeout, optional(someMilliseconds)],
    });
    this.#serverName = serverName;
    this.#session = session;
    this.#timeout = timeout;
  }

  getServerCapabilities(): JsonObject {
    return this.#session.capabilities;
  }

  async listTools(): Promise<{ tools: readonly CatalogTool[] }> {
    return { tools: (await this.#list("tools")).tools };
  }

  async listPrompts(): Promise<{ prompts: readonly CatalogPrompt[] }> {
    return { prompts: (await this.#list("prompts")).prompts };
  }

  async listResources(): Promise<Pick<Catalog, "resources">> {
    return { resources: (await this.#list("resources")).resources };
  }

  /** The options are the second argument, or the third, after the SDK's schema of the result, which has no effect. */
  async callTool(params: SdkCall, schemaOrOptions?: unknown, options?: SdkRequestOptions): Promise<JsonObject> {
    const given = options === undefined && isObject(schemaOrOptions) ? (schemaOrOptions as SdkRequestOptions) : options;
    const call = "callTool()";
    expectArguments(call, { params: [params, anObject] });
    expectRequestOptions(call, given);
    const wanted = { name: aString, arguments: optional(anObject) };
    const { name, arguments: args = {} } = readMembers(call, params, wanted, "params.");
    return this.#request(`${this.#serverName}.${name}`, "tools/call", { name, arguments: args }, given);
  }

  async getPrompt(
    params: { name: string; arguments?: Record<string, string> },
    options?: SdkRequestOptions,
  ): Promise<JsonObject> {
    const call = "getPrompt()";
    expectArguments(call, { params: [params, anObject] });
    expectRequestOptions(call, options);
    const wanted = { name: aString, arguments: optional(anObject) };
    const { name, arguments: args = {} } = readMembers(call, params, wanted, "params.");
    const what = `prompt ${name} of ${this.#serverName}`;
    return this.#request(what, "prompts/get", { name, arguments: args }, options);
  }

  async readResource(params: { uri: string }, options?: SdkRequestOptions): Promise<JsonObject> {
    const call = "readResource()";
    expectArguments(call, { params: [params, anObject] });
    expectRequestOptions(call, options);
    const { uri } = readMembers(call, params, { uri: aString }, "params.");
    return this.#request(`${uri} of ${this.#serverName}`, "resources/read", { uri }, options);
  }

  /** Ends the connection and the server's process. */
  async close(): Promise<void> {
    await this.#session.close();
  }

  async #list(kind: ListKind): Promise<Catalog> {
    const method = `${kind}/list`;
    return readCatalog(this.#session, { only: [kind] }).catch((error: unknown) =>
      this.#fail(error, `${method} of ${this.#serverName}`, method),
    );
  }

  async #request(what: string, method: string, params: JsonObject, options?: SdkRequestOptions): Promise<JsonObject> {
    const { signal, timeout = this.#timeout } = options ?? {};
    return this.#session
      .request(method, params, { signal, timeout })
      .catch((error: unknown) => this.#fail(error, what, method));
  }

  #fail(error: unknown, what: string, method: string): never {
    const { explain } = this.#session;
    throw toCallError(error, { serverName: this.#serverName, what, method, explain });
  }
}

/**
 * Connects to a server and reads nothing yet. `close()` of the returned client ends the server's process.
 *
 * @param debugMode Whether the server's stderr and messages are written to stderr. Default: false.
 * @throws HostError `usage`, `variable_unset`, and why the server cannot be connected
 */
export async function connectToMcpServer(
  serverName: string,
  serverConfig: MCPServerConfig,
  debugMode?: boolean,
  workspaceContext?: WorkspaceContext,
): Promise<ConnectedClient> {
  const call = "connectToMcpServer()";
  expectArguments(call, {
    serverName: [serverName, aServerName],
    debugMode: [debugMode, optional(aBoolean)],
  });
  const entry = checkServerEntry(call, "serverConfig", serverName, serverConfig);
  const environment = processEnvironment(workspaceFolder(call, workspaceContext));
  const open = entryOpener(serverName, entry, { environment, debugMode });
  const session = await open({ signal: new AbortController().signal });
  return new ConnectedClient(serverName, session, entry.timeout);
}
