/** Answers the requests of one client. List requests are answered from the catalogs, most others go to a server. */

import type { ListableTool } from "@fairlead/core/host";
import { possibleNames } from "@fairlead/core/normalise";
import { invalidParameter } from "@fairlead/core/request";
import { appOnlyReason, isAppOnly, type Pin, readOwnAddress, viewAddressesOf } from "@fairlead/core/server";
import type { JsonObject } from "@fairlead/wire";
import { isObject, objectOf, stringOf } from "@fairlead/wire/json";
import { ownTools } from "../lists/client-view.ts";
import { searchListed, withinBudget } from "../lists/tool-budget.ts";
import type { ClientCall } from "../questions/client-call.ts";
import { adaptResult, toolError, uncached } from "./adapt-result.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { type Forwarded, forwardRequest, isDeniedToClient } from "./forward-request.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";
import { signInForClient, signInToolDefinition } from "./sign-in-tool.ts";
import { loadSkillForClient, skillToolDefinition } from "./skill-tool.ts";
import { skillEntries, withSkillAddresses } from "./skills.ts";
import { serverOfTask } from "./tasks.ts";

/** A client's request, before the gateway knows its server. */
export interface ReceivedRequest extends Pick<Forwarded, "confirmed" | "onYes" | "onSignIn"> {
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * Answers a request. Reads the catalogs first if the request needs them.
 * @throws WireError with the JSON-RPC error for the client, also as a rejection of the promise
 */
export function answerRequest(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  const problem = invalidParameter(asked.method, asked.params);
  if (problem !== undefined)
    return Promise.reject(rpcError(rpcCodes.invalidParams, `Invalid parameters of ${asked.method}: ${problem}`));
  if (asked.method.endsWith("/list"))
    return context.discovered(call.era, call.signal).then(() => answerListed(context, call, asked));
  if (isUnknown(context, asked)) return answerUnknown(context, call, asked);
  return asked.method === "tools/call" ? callTool(context, call, asked) : answerListed(context, call, asked);
}

/**
 * Answers a request for something that no loaded catalog has. Reads the catalogs of the servers that may have it, except
 * those at which a rule denies it by name: no server is started for a request that would be refused in any case.
 */
async function answerUnknown(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  const denied = await deniedOwners(context, asked);
  await context.discovered(call.era, call.signal, new Set(denied.map(({ server }) => server)));
  const [first] = denied;
  return first === undefined || isListed(context, asked)
    ? answerListed(context, call, asked)
    : forwardRequest(context, call, { ...asked, ...first });
}

/** Returns the servers without a loaded catalog at which a rule denies the request by name, with its parameters there. */
async function deniedOwners(context: BridgeContext, asked: ReceivedRequest): Promise<readonly Owned[]> {
  const { view, names, workspace } = context;
  const { method } = asked;
  const params = innerParams(context, asked);
  const { name: word } = namedIn(method, params);
  const pin = word === undefined ? undefined : names[method === "tools/call" ? "tools" : "prompts"].ownerOf(word);
  const unread = view().servers.filter((server) => workspace.host.catalog(server) === undefined);
  const found = unread.map(async (server): Promise<readonly Owned[]> => {
    if (pin !== undefined && pin.server !== server) return [];
    const possible = word === undefined ? [undefined] : pin === undefined ? possibleNames(server, word) : [pin.name];
    const requests = possible.map((name) => (name === undefined ? params : withName(method, params, name)));
    const denials = await Promise.all(
      requests.map((request) => isDeniedToClient(context, { server, method, params: request })),
    );
    return denials.includes(false) ? [] : requests.slice(0, 1).map((request) => ({ server, params: request }));
  });
  return (await Promise.all(found)).flat();
}

/** Whether a loaded catalog has what the request names. */
function isListed(context: BridgeContext, asked: ReceivedRequest): boolean {
  const { tools, prompts, templates } = context.view();
  const { method } = asked;
  if (isOwnTool(context, asked)) return true;
  const { name, uri = "" } = namedIn(method, innerParams(context, asked));
  if (name !== undefined) return (method === "tools/call" ? tools : prompts).has(name);
  return templates.has(uri) || context.targetOf(uri) !== undefined;
}

/** Whether the request calls a tool of the gateway itself that stands for no other tool. */
function isOwnTool({ view }: BridgeContext, { method, params }: ReceivedRequest): boolean {
  const { own, loadSkill, signIn } = view();
  const { name } = params;
  return method === "tools/call" && typeof name === "string" && [own?.search, loadSkill, signIn].includes(name);
}

/** Returns the parameters of a call. For the gateway's own tool `call_tool`, those of the call inside. */
function innerParams({ view }: BridgeContext, { method, params }: ReceivedRequest): JsonObject {
  const isInner = method === "tools/call" && params["name"] === view().own?.call;
  return isInner ? { ...params, ...objectOf(params["arguments"]) } : params;
}

function namedIn(method: string, params: JsonObject): { readonly name?: string; readonly uri?: string } {
  const { name, uri } = method === "completion/complete" ? objectOf(params["ref"]) : params;
  return { name: stringOf(name), uri: stringOf(uri) };
}

function withName(method: string, params: JsonObject, name: string): JsonObject {
  return method === "completion/complete"
    ? { ...params, ref: { ...objectOf(params["ref"]), name } }
    : { ...params, name };
}

/** Call this only after the catalogs were read, or if the request does not need them. */
async function answerListed(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  const { method, params } = asked;
  switch (method) {
    case "tools/list":
      return listed(call, params, "tools", await listedTools(context));
    case "prompts/list":
      return listed(call, params, "prompts", seenItems(context, "prompts"));
    case "resources/list":
      context.seeAddresses();
      return listed(call, params, "resources", seenItems(context, "resources"));
    case "resources/templates/list":
      context.seeAddresses();
      return listed(call, params, "resourceTemplates", seenItems(context, "templates"));
    case "skills/list":
      return listed(call, params, "skills", await skillEntries(context));
    case "skills/get":
    case "resources/directory/read": {
      const reader = readerOf(context, call, params);
      return withSkillAddresses(context, reader.server, await forwardRequest(context, call, { ...asked, ...reader }));
    }
    case "tools/call":
      return callTool(context, call, asked);
    case "prompts/get":
      return forwardRequest(context, call, { ...asked, ...ownerOf(context, params, "prompts") });
    case "resources/read":
      return forwardRequest(context, call, { ...asked, ...readerOf(context, call, params) });
    case "completion/complete":
      return forwardRequest(context, call, { ...asked, ...completed(context, call, params) });
    case "tasks/get":
    case "tasks/update":
    case "tasks/cancel":
      return forwardRequest(context, call, { ...asked, server: serverOfTask(call, params, context.view().servers) });
    default:
      throw rpcError(rpcCodes.methodNotFound, `the gateway does not support ${method.slice(0, 100)}`);
  }
}

/**
 * Whether the request names something that no loaded catalog has, or that a server without a loaded catalog may have
 * first. The client may know the name from an earlier run of the gateway.
 */
function isUnknown(context: BridgeContext, { method, params }: ReceivedRequest): boolean {
  const { view, targetOf } = context;
  const { name, uri } = method === "completion/complete" ? objectOf(params["ref"]) : params;
  switch (method) {
    case "tools/call":
      return isUnsure(context, "tools", stringOf(name) ?? "");
    case "prompts/get":
    case "completion/complete":
      if (typeof name === "string") return isUnsure(context, "prompts", name);
      return method === "completion/complete" && !view().templates.has(stringOf(uri) ?? "");
    case "resources/read":
    case "resources/directory/read":
    case "skills/get":
      return typeof uri === "string" && targetOf(uri) === undefined;
    default:
      return false;
  }
}

function isUnsure({ view, names, workspace }: BridgeContext, list: "tools" | "prompts", name: string): boolean {
  const { [list]: items, servers } = view();
  const owner = items.get(name)?.server;
  if (owner === undefined) return true;
  // A name that the client has seen keeps its server.
  if (names[list].ownerOf(name) !== undefined) return false;
  const earlier = servers.slice(0, Math.max(servers.indexOf(owner), 0));
  return earlier.some((server) => workspace.host.catalog(server) === undefined);
}

/** Returns the definitions in a list, after their names are fixed for this client. */
function seenItems({ view, see }: BridgeContext, list: "prompts" | "resources" | "templates"): readonly JsonObject[] {
  const items = [...view()[list]].map(([as, item]) => ({ ...item, as }));
  return see(list, items).map(({ definition }) => definition);
}

/** Returns the tools that no rule denies to this client. */
async function allowedTools({ view, client, workspace }: BridgeContext): Promise<readonly ListableTool[]> {
  const isDenied = await workspace.host.gateway.deniedTo(client);
  return [...view().tools.values()]
    .map(({ server, name, definition }) => ({ serverName: server, serverToolName: name, definition }))
    .filter((tool) => !isDenied(tool));
}

/** If the client has a tool budget, returns only the tools that fit it. */
async function listedTools(context: BridgeContext): Promise<readonly JsonObject[]> {
  const { client, workspace, view, see, names } = context;
  const { host } = workspace;
  const allowed = await allowedTools(context);
  const budget = host.gateway.clientProfile(client.name)?.toolBudget;
  const { own } = view();
  const definition = await skillToolDefinition(context);
  const signIn = signInToolDefinition(context);
  const ownListed = [
    ...(definition ? [{ serverName: "", serverToolName: ownTools.skill.name, definition }] : []),
    ...(signIn ? [{ serverName: "", serverToolName: ownTools.signIn.name, definition: signIn }] : []),
  ];
  const listed =
    budget && own ? await withinBudget(host.gateway, allowed, budget, own, ownListed) : [...allowed, ...ownListed];
  // The names may have changed since: then `see` leaves a tool out, and the client is told to list again.
  const items = listed.map(({ serverName: server, serverToolName: name, definition }) => {
    return { server, name, as: String(definition["name"]), definition };
  });
  context.seeAddresses();
  // A view must be the view of the tool's own server. A server that has used too many addresses gets no more of them.
  const isOfServer = (server: string, uri: string): boolean =>
    client.only !== undefined || (names.ownerOf(uri) ?? readOwnAddress(uri)?.server) === server;
  return see("tools", items)
    .filter(({ server, definition }) => viewAddressesOf(definition).every((uri) => isOfServer(server, uri)))
    .map(({ definition }) => definition);
}

async function callTool(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  const { params } = asked;
  const { own, loadSkill, signIn } = context.view();
  if (signIn !== undefined && params["name"] === signIn) {
    seeOwn(context, "signIn", signIn);
    return signInForClient(context, call, asked);
  }
  if (own !== undefined && params["name"] === own.search) return search(context, call, params, own.search);
  if (loadSkill !== undefined && params["name"] === loadSkill) {
    seeOwn(context, "skill", loadSkill);
    return loadSkillForClient(context, call, asked);
  }
  if (own === undefined || params["name"] !== own.call) return callListedTool(context, call, asked);
  const { name, arguments: given = {} } = objectOf(params["arguments"]);
  seeOwn(context, "call", own.call);
  const found = find(context, { ...params, name, arguments: given }, "tools");
  // The inner name and arguments are arguments of `call_tool`, which its model can correct.
  if (found !== undefined && isForViewsOnly(context, found))
    return toolError(`the tool ${String(name)} is not for models: ${appOnlyReason}`, call.era);
  if (found === undefined) return toolError(unknownName(context, name, "tools"), call.era);
  if (!isObject(given)) return toolError(`the arguments of ${String(name)} must be an object`, call.era);
  return forwardRequest(context, call, { ...asked, ...found });
}

function isForViewsOnly({ workspace }: BridgeContext, { server, params }: Owned): boolean {
  const { name } = params;
  const catalog = workspace.catalogOf(server) ?? workspace.host.catalog(server);
  const tool = catalog?.tools.find((each) => each.name === name);
  return tool !== undefined && isAppOnly(tool);
}

function callListedTool(context: BridgeContext, call: ClientCall, asked: ReceivedRequest): Promise<JsonObject> {
  const { server, params } = ownerOf(context, asked.params, "tools");
  const { method, confirmed, onYes, onSignIn } = asked;
  return forwardRequest(context, call, { server, method, params, confirmed, onYes, onSignIn });
}

/** Runs `search_tools`. The names that it returns are names that the client has seen. */
async function search(
  context: BridgeContext,
  { era }: ClientCall,
  params: JsonObject,
  name: string,
): Promise<JsonObject> {
  const { view, client, workspace, see } = context;
  const { host } = workspace;
  seeOwn(context, "search", name);
  const isDenied = await host.gateway.deniedTo(client);
  const maySee = (tool: Pin): boolean => see("tools", [tool]).length > 0;
  const found = await searchListed(host, view, { isDenied, maySee }, objectOf(params["arguments"]));
  return adaptResult("tools/call", found, era);
}

function seeOwn({ see }: BridgeContext, tool: keyof typeof ownTools, as: string): void {
  see("tools", [{ ...ownTools[tool], as }]);
}

/** Every list has one page, so no cursor is valid. */
function listed({ era }: ClientCall, { cursor }: JsonObject, list: string, items: readonly JsonObject[]): JsonObject {
  if (cursor !== undefined && cursor !== "")
    throw rpcError(rpcCodes.invalidParams, "unknown cursor: this list has only one page");
  return era === "modern" ? { resultType: "complete", ...uncached, [list]: items } : { [list]: items };
}

/**
 * Finds the server of a tool or prompt. In the returned parameters, `name` is the name that this server uses.
 * @throws WireError if no server has it, or if the server that had it under this name no longer does
 */
function ownerOf(context: BridgeContext, params: JsonObject, list: "tools" | "prompts"): Owned {
  const found = find(context, params, list) ?? unlistedOwner(context, params, list);
  if (found !== undefined) return found;
  const reason = list === "tools" ? "tool_unknown" : "prompt_unknown";
  throw rpcError(rpcCodes.invalidParams, unknownName(context, params["name"], list), { reason });
}

type Owned = Pick<Forwarded, "server" | "params">;

function find(
  { view, see, workspace }: BridgeContext,
  params: JsonObject,
  list: "tools" | "prompts",
): Owned | undefined {
  const name = stringOf(params["name"]) ?? "";
  const { [list]: items, servers, only, hasTool } = view();
  const item = items.get(name);
  if (item !== undefined && see(list, [{ ...item, as: name }]).length > 0)
    return { server: item.server, params: item.name === name ? params : { ...params, name: item.name } };
  // A server may have tools and prompts that it does not list. Clients of `/mcp/<server>` can use them, because the
  // server is known.
  const isHidden = (server: string): boolean =>
    list === "tools" &&
    (!hasTool(server, name) || workspace.host.catalog(server)?.tools.some((tool) => tool.name === name) === true);
  const isUnlisted = only !== undefined && servers.includes(only) && !isHidden(only);
  return isUnlisted ? { server: only, params } : undefined;
}

/**
 * Returns the server that has shown the client this name, if its catalog is not loaded: a reload has replaced it. If it
 * cannot start, the client gets its error.
 */
function unlistedOwner(
  { names, workspace, view }: BridgeContext,
  params: JsonObject,
  list: "tools" | "prompts",
): Owned | undefined {
  const { server, name } = names[list].ownerOf(stringOf(params["name"]) ?? "") ?? {};
  const { servers, hasTool } = view();
  // The server may be removed, or hidden from the client.
  if (server === undefined || !servers.includes(server)) return undefined;
  const isAllowed = list === "prompts" || hasTool(server, name ?? "");
  return isAllowed && workspace.host.catalog(server) === undefined
    ? { server, params: { ...params, name } }
    : undefined;
}

/** Says why a tool or prompt cannot be used under this name. */
function unknownName({ view, names }: BridgeContext, given: unknown, list: "tools" | "prompts"): string {
  const name = stringOf(given) ?? "";
  const { [list]: items, servers } = view();
  const shown = `${list === "tools" ? "tool" : "prompt"} "${name.slice(0, 200)}"`;
  if (items.has(name)) return `the ${shown} cannot be used: its server has changed its names too often; connect again`;
  if (names[list].ownerOf(name) !== undefined) return `the ${shown} is no longer offered; list the ${list} again`;
  const where = servers.length === 1 ? `the server "${servers[0]}"` : `${servers.length} servers`;
  return `there is no ${shown} in ${where}`;
}

/**
 * Finds the server of a resource. In the returned parameters, `uri` is the address that this server uses.
 * @throws WireError if no server has it
 */
function readerOf({ targetOf }: BridgeContext, { era }: ClientCall, params: JsonObject): Owned & Pick<Forwarded, "as"> {
  const { uri } = params;
  const target = typeof uri === "string" ? targetOf(uri) : undefined;
  if (target !== undefined && typeof uri === "string")
    return { server: target.server, params: target.uri === uri ? params : { ...params, uri: target.uri }, as: uri };
  const code = era === "modern" ? rpcCodes.invalidParams : rpcCodes.resourceNotFound;
  throw rpcError(code, "no configured server lists this resource", { uri });
}

/** Finds the server that completes an argument of a prompt or a variable of a resource template. */
function completed(context: BridgeContext, call: ClientCall, params: JsonObject) {
  const ref = objectOf(params["ref"]);
  if (ref["type"] !== "ref/prompt") {
    const uri = stringOf(ref["uri"]) ?? "";
    const template = context.view().templates.get(uri);
    context.seeAddresses();
    if (template !== undefined)
      return { server: template.server, params: { ...params, ref: { ...ref, uri: template.name } } };
    const { server, params: own } = readerOf(context, call, ref);
    return { server, params: { ...params, ref: own } };
  }
  const { server, params: own } = ownerOf(context, ref, "prompts");
  return { server, params: { ...params, ref: own } };
}
