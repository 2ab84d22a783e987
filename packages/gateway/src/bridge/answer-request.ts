/** Answers the requests of one client. List requests are answered from the catalogs, most others go to a server. */

import type { ListableTool } from "@fairlead/core/host/types";
import type { JsonObject } from "@fairlead/wire";
import { objectOf, stringOf } from "@fairlead/wire/json";
import { serverOfUri } from "../lists/client-view.ts";
import { callToolName, hasSearchTools, searchListed, searchToolsName, withinBudget } from "../lists/tool-budget.ts";
import type { ClientCall } from "../questions/client-call.ts";
import { adaptResult, uncached } from "./adapt-result.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { type Forwarded, forwardRequest } from "./forward-request.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";
import { serverTask } from "./tasks.ts";

/** A client's request, before the gateway knows its server. */
export interface ReceivedRequest extends Pick<Forwarded, "confirmed" | "onYes"> {
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * Answers a request. Reads the catalogs first if the request needs them.
 * @throws WireError with the JSON-RPC error for the client, also as a rejection of the promise
 */
export function answerRequest(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  if (asked.method.endsWith("/list") || isUnknown(context, asked))
    return context.discovered(call.era, call.signal).then(() => answerListed(context, call, asked));
  return asked.method === "tools/call" ? callTool(context, call, asked) : answerListed(context, call, asked);
}

/** Call this only after the catalogs were read, or if the request does not need them. */
async function answerListed(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  const { method, params } = asked;
  switch (method) {
    case "tools/list":
      return listed(call, params, "tools", await listedTools(context));
    case "prompts/list":
      return listed(call, params, "prompts", definitionsOf(context.view().prompts));
    case "resources/list":
      return listed(call, params, "resources", definitionsOf(context.view().resources));
    case "resources/templates/list":
      return listed(call, params, "resourceTemplates", definitionsOf(context.view().templates));
    case "tools/call":
      return callTool(context, call, asked);
    case "prompts/get":
      return forwardRequest(context, call, { ...asked, ...named(context, params, "prompts") });
    case "resources/read":
      return forwardRequest(context, call, { ...asked, server: readerOf(context, call, params["uri"]) });
    case "completion/complete":
      return forwardRequest(context, call, { ...asked, ...completed(context, call, params) });
    case "tasks/get":
    case "tasks/update":
    case "tasks/cancel":
      return forwardRequest(context, call, { ...asked, ...serverTask(call, params, context.view()) });
    default:
      throw rpcError(rpcCodes.methodNotFound, `the gateway does not support ${method.slice(0, 100)}`);
  }
}

/**
 * Whether the request names something that no loaded catalog has. The client may know the name from an earlier run of
 * the gateway.
 */
function isUnknown({ view }: BridgeContext, { method, params }: ReceivedRequest): boolean {
  const { name, uri } = method === "completion/complete" ? objectOf(params["ref"]) : params;
  switch (method) {
    case "tools/call":
      return !view().tools.has(stringOf(name) ?? "");
    case "prompts/get":
    case "completion/complete":
      if (typeof name === "string") return !view().prompts.has(name);
      return method === "completion/complete" && !view().templates.has(stringOf(uri) ?? "");
    case "resources/read":
      return serverOfUri(stringOf(uri) ?? "", view()) === undefined;
    default:
      return false;
  }
}

function definitionsOf(items: ReadonlyMap<string, { readonly definition: JsonObject }>): readonly JsonObject[] {
  return [...items.values()].map(({ definition }) => definition);
}

/** Returns the tools that no rule denies to this client. */
async function allowedTools({ view, client, hosts }: BridgeContext): Promise<readonly ListableTool[]> {
  const isDenied = await hosts.shared.host.deniedTo(client);
  return [...view().tools.values()]
    .map(({ server, name, definition }) => ({ serverName: server, serverToolName: name, definition }))
    .filter((tool) => !isDenied(tool));
}

/** If the client has a tool budget, returns only the tools that fit it. */
async function listedTools(context: BridgeContext): Promise<readonly JsonObject[]> {
  const { client, hosts } = context;
  const { host } = hosts.shared;
  const allowed = await allowedTools(context);
  const budget = host.clientProfile(client.name)?.toolBudget;
  return budget === undefined ? allowed.map(({ definition }) => definition) : withinBudget(host, allowed, budget);
}

function callTool(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  const { name } = asked.params;
  const isNamedSo = name === searchToolsName || name === callToolName;
  return isNamedSo ? callSearchTool(context, call, asked) : callListedTool(context, call, asked);
}

function callListedTool(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  const { server, params } = named(context, asked.params, "tools");
  const { method, confirmed, onYes } = asked;
  return forwardRequest(context, call, { server, method, params, confirmed, onYes });
}

/**
 * Handles `search_tools` and `call_tool`. The gateway offers them to a client whose tool budget is too small for all
 * tools. From any other client, the call goes to a server's tool with that name.
 */
async function callSearchTool(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  const { params } = asked;
  const { view, client, hosts } = context;
  const { host } = hosts.shared;
  const { name: called } = params;
  const budget = host.clientProfile(client.name)?.toolBudget;
  if (budget !== undefined && (await hasSearchTools(host, await allowedTools(context), budget))) {
    const args = objectOf(params["arguments"]);
    if (called === searchToolsName)
      return adaptResult("tools/call", await searchListed(host, view(), await host.deniedTo(client), args), call.era);
    const { name, arguments: given = {} } = args;
    return forwardRequest(context, call, {
      ...asked,
      ...named(context, { ...params, name, arguments: given }, "tools"),
    });
  }
  return callListedTool(context, call, asked);
}

/** Every list has one page, so no cursor is valid. */
function listed({ era }: ClientCall, { cursor }: JsonObject, list: string, items: readonly JsonObject[]): JsonObject {
  if (cursor !== undefined && cursor !== "")
    throw rpcError(rpcCodes.invalidParams, "unknown cursor: this list has only one page");
  return era === "modern" ? { resultType: "complete", ...uncached, [list]: items } : { [list]: items };
}

/** Finds the server of a tool or prompt. In the returned parameters, `name` is the name that this server uses. */
function named({ view }: BridgeContext, params: JsonObject, list: "tools" | "prompts") {
  const name = stringOf(params["name"]) ?? "";
  const { [list]: items, servers, only, hasTool } = view();
  const item = items.get(name);
  if (item !== undefined)
    return { server: item.server, params: item.name === name ? params : { ...params, name: item.name } };
  // A server may have tools and prompts that it does not list. Clients of `/mcp/<server>` can use them, because the
  // server is known.
  if (only !== undefined && servers.includes(only) && (list === "prompts" || hasTool(only, name)))
    return { server: only, params };
  const what = list === "tools" ? "tool" : "prompt";
  const where = servers.length === 1 ? `the server "${servers[0]}"` : `${servers.length} servers`;
  throw rpcError(rpcCodes.invalidParams, `there is no ${what} "${name.slice(0, 200)}" in ${where}`, {
    reason: `${what}_unknown`,
  });
}

function readerOf({ view }: BridgeContext, { era }: ClientCall, uri: unknown): string {
  const server = typeof uri === "string" ? serverOfUri(uri, view()) : undefined;
  if (server !== undefined) return server;
  const code = era === "modern" ? rpcCodes.invalidParams : rpcCodes.resourceNotFound;
  throw rpcError(code, "no configured server lists this resource", { uri });
}

/** Finds the server that completes an argument of a prompt or a variable of a resource template. */
function completed(context: BridgeContext, call: ClientCall, params: JsonObject) {
  const ref = objectOf(params["ref"]);
  if (ref["type"] !== "ref/prompt") {
    const uri = stringOf(ref["uri"]) ?? "";
    return { server: context.view().templates.get(uri)?.server ?? readerOf(context, call, uri), params };
  }
  const { server, params: own } = named(context, ref, "prompts");
  return { server, params: { ...params, ref: own } };
}
