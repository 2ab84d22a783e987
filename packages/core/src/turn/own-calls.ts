/** Runs the model's calls of Fairlead's own functions: lists and reads resources, searches tools, reads stored results. */

import type { JsonObject } from "@fairlead/wire";
import { isObject } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import type { RunningHost } from "../host/running-host.ts";
import { displayOf } from "../normalise/content/display.ts";
import { type KeptFile, type LeftOut, toModelParts } from "../normalise/content/parts.ts";
import { toLabel } from "../normalise/content/shorten.ts";
import { readForModel } from "../request/reads.ts";
import { skillAt } from "../request/skills.ts";
import { describeResources, nearResources } from "../resources/describe-resources.ts";
import { contentsBlock } from "../resources/references/references.ts";
import { toolSignature } from "../search/tool-signature.ts";
import type { RegisteredTool, ToolExecution } from "../server/registered-tool.ts";
import type { ResourceRegistry } from "../server/registries.ts";
import { groupBy } from "../text/group-by.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import { createTurns } from "../text/turns.ts";
import { matchesTemplate } from "../text/uri-template.ts";
import type { TurnCall } from "./calls.ts";
import type { ConversationState } from "./conversation.ts";
import type { OwnFunction } from "./tools/own-functions.ts";
import { keyOf } from "./tools/tool-offer.ts";

/**
 * Runs one of Fairlead's own functions, such as `search_tools`. `call_tool` is none of them: it stands for the tool that
 * it names.
 */
export async function runOwnFunction(own: OwnFunction, args: JsonObject, call: TurnCall): Promise<ToolExecution> {
  switch (own) {
    case "list_resources":
      call.begin();
      return listResources(args, call);
    case "read_resource":
      return readResource(args, call);
    case "search_tools":
      call.begin();
      return searchTools(args, call);
    case "read_result": {
      call.begin();
      const { readResult } = await import("../results/read-result.ts");
      const { state, host, signal } = call;
      return readResult(args, {
        results: state.results,
        tokens: host.servers.configuration.settings.host.resultTokens,
        onServer: (server) => call.goesTo(server),
        clock: host.clock,
        signal,
      });
    }
    case "load_skill":
    case "read_skill_file": {
      const { runSkillFunction } = await import("./skill-calls.ts");
      return runSkillFunction(own, args, call);
    }
    case "call_tool":
      throw new HostError("arguments_invalid", "call_tool can call tools of servers only");
  }
}

/** Lists the resources in the servers' catalogs. */
function listResources(args: JsonObject, { state, host }: TurnCall): ToolExecution {
  const { resources } = host.registries;
  const servers = chosenServers(args, state.toolSelection.servers());
  const llmContent = describeResources({ servers, resources });
  const count = servers.reduce(
    (sum, server) =>
      sum + resources.getResourcesByServer(server).length + resources.getTemplatesByServer(server).length,
    0,
  );
  const none = [{ text: "[There are no resources.]" }];
  const returnDisplay = `${count} ${count === 1 ? "resource" : "resources"}`;
  return { llmContent: llmContent.length === 0 ? none : llmContent, returnDisplay };
}

/** Reads one resource, if the policy allows it. */
async function readResource(args: JsonObject, call: TurnCall): Promise<ToolExecution> {
  const { state, host, signal } = call;
  const { uri } = args;
  if (typeof uri !== "string" || uri === "") throw new HostError("arguments_invalid", "uri must be a string");
  const server = whose(uri, chosenServers(args, state.toolSelection.servers()), host.registries.resources);
  call.goesTo(server);
  const found = await skillAt(server, uri, { who: "model", signal }, host);
  // A read of a resource would neither verify the file nor need the skill's approval.
  if (found !== undefined)
    throw new HostError(
      "arguments_invalid",
      `the URI belongs to the skill ${found.skill.uri} of "${server}": load the skill instead`,
    );
  const { contents } = await readForModel(
    server,
    uri,
    {
      signal,
      confirm: (question) => call.ask(question),
      onAllowed: (rule) => call.begin(rule),
      actingOn: state.loadedSkills.servers,
    },
    host,
  );
  const blocks = contents.map((each) => contentsBlock(each, contents.length === 1));
  const files: string[] = [];
  const { tokens, keep: store } = call.largeResults(server);
  const keep = async (file: LeftOut): Promise<KeptFile> => {
    const kept = await store(file);
    files.push(kept.path);
    return kept;
  };
  const llmContent = await toModelParts(blocks, { toolName: "read_resource", limits: { tokens }, keep });
  return { llmContent, returnDisplay: displayOf(blocks), files: files.length > 0 ? files : undefined };
}

function chosenServers({ server }: JsonObject, servers: readonly string[]): readonly string[] {
  if (server === undefined || server === "") return servers;
  if (typeof server === "string" && servers.includes(server)) return [server];
  const names = servers.map((name) => `"${name}"`).join(", ");
  throw new HostError("server_unknown", `there is no server ${JSON.stringify(server)}; the servers are ${names}`);
}

/**
 * Returns the server that lists the URI, or else the one with a matching template. A single server is returned even
 * without a match. Throws if no server matches, or several do.
 */
function whose(uri: string, servers: readonly string[], resources: ResourceRegistry): string {
  const listed = servers.filter((server) => resources.getResourcesByServer(server).some((each) => each.uri === uri));
  const fitting =
    listed.length > 0
      ? listed
      : servers.filter((server) =>
          resources.getTemplatesByServer(server).some(({ uriTemplate }) => matchesTemplate(uri, uriTemplate)),
        );
  const [only, ...others] = fitting.length === 0 && servers.length === 1 ? servers : fitting;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined)
    throw new HostError(
      "arguments_invalid",
      `several servers have that URI: ${fitting.join(", ")}; give one of them as "server"`,
    );
  const allResources = servers.flatMap((server) => resources.getResourcesByServer(server));
  const near = nearResources(uri, allResources).map((each) => each.uri);
  const meant = near.length === 0 ? "" : `; similar: ${near.join(", ")}`;
  throw new HostError("arguments_invalid", `no server has a resource with that URI${meant}`);
}

const mostQueries = 8;
const usualLimit = 10;
const mostFound = 50;

/**
 * Searches all tools that the conversation may use. The next request declares the found tools that fit into the budget.
 */
async function searchTools(args: JsonObject, { state, host }: TurnCall): Promise<ToolExecution> {
  const { toolSelection, model } = state;
  const queries = queriesOf(args);
  const limit = Math.min(Math.max(Math.trunc(Number(args["limit"] ?? usualLimit)) || usualLimit, 1), mostFound);
  await toolSelection.prepare(model);
  const callable = toolSelection.callable(model);
  const allowed = await allowedTools(callable, host);
  const own = (tool: RegisteredTool): RegisteredTool | undefined => toolSelection.findByKey(keyOf(tool), model);
  const isUsable = (tool?: RegisteredTool): boolean => tool !== undefined && tool.quarantine === undefined;
  const ranked = await host.search.find(queries, limit, (tool) => isUsable(own(tool)));
  const found = ranked.flatMap(({ tool }) => own(tool) ?? []);
  toolSelection.reveal(found, model);
  const missing = missingServers(callable, state, host);
  const counts = countsText(found.length, callable.length, callable.length - allowed.length, missing);
  const text = found.length === 0 ? nothingText(queries, allowed) : foundText(found, queries, allowed);
  const returnDisplay = found.length === 0 ? "no tool found" : found.map(({ name }) => name).join(", ");
  return { llmContent: [{ text: `${text}\n${counts}` }], returnDisplay };
}

function queriesOf({ queries }: JsonObject): readonly string[] {
  const list = typeof queries === "string" ? [queries] : queries;
  if (!Array.isArray(list) || !list.every((query) => typeof query === "string") || list.length === 0)
    throw new HostError("arguments_invalid", 'queries must be a list of texts, such as ["create a chart"]');
  return list.slice(0, mostQueries);
}

/** The number of tools that are checked between two pauses for other code. */
const toolsPerTurn = 200;

/** The tools that no rule denies. Pauses regularly, so that other code can run. */
async function allowedTools(tools: Tools, { policy }: RunningHost): Promise<Tools> {
  const allowed: RegisteredTool[] = [];
  const turns = createTurns(toolsPerTurn);
  for (const tool of tools) {
    if (!policy.isDenied(tool)) allowed.push(tool);
    await turns.done(1);
  }
  return allowed;
}

type Tools = readonly RegisteredTool[];

const mostTokens = 800;
const mostOthers = 40;

/**
 * Writes one block for each server, best match first. If a query is the exact name of a tool, writes the tool's full
 * schema.
 */
function foundText(found: Tools, queries: readonly string[], allowed: Tools): string {
  const lines: string[] = [];
  let tokens = 0;
  let left = 0;
  const named = new Set(
    queries.flatMap((query) => query.replace(/^\s*select:/, "").split(",")).map((name) => name.trim()),
  );
  for (const [server, tools] of groupBy(found, ({ serverName }) => serverName)) {
    const about = tools.map((tool) => aboutTool(tool, named));
    const fitting = about.filter((text) => {
      tokens += estimateTokens(text);
      return tokens <= mostTokens || lines.length === 0;
    });
    left += about.length - fitting.length;
    if (fitting.length > 0) lines.push(`${toLabel(server)}:`, ...fitting.map((text) => `  ${text}`));
  }
  if (left > 0)
    lines.push(`[${left} more found, but not shown: all queries share one size limit. Search with fewer queries.]`);
  const [first] = found;
  const others = allowed.filter((tool) => tool.serverName === first?.serverName && !found.includes(tool));
  if (first !== undefined && others.length > 0) {
    const names = others.slice(0, mostOthers).map(({ name }) => name);
    const more = others.length > names.length ? ", …" : "";
    lines.push(`Other tools of ${toLabel(first.serverName)}: ${names.join(", ")}${more}`);
  }
  lines.push("Call a tool by its name. Search for the exact name of a tool to get its full schema.");
  return lines.join("\n");
}

function aboutTool(tool: RegisteredTool, named: ReadonlySet<string>): string {
  const { name, serverName, serverToolName } = tool;
  const { description, parametersJsonSchema: parameters } = tool.schema;
  const isNamed = [name, serverToolName, `${serverName}/${serverToolName}`, `${serverName}.${serverToolName}`].some(
    (each) => named.has(each),
  );
  return isNamed ? JSON.stringify({ name, description, parameters }) : toolSignature({ name, description, parameters });
}

const mostServers = 40;

function nothingText(queries: readonly string[], allowed: Tools): string {
  const servers = [...groupBy(allowed, ({ serverName }) => serverName)];
  const lines = servers.slice(0, mostServers).map(([server, tools]) => {
    const count = tools.length === 1 ? "1 tool" : `${tools.length} tools`;
    return `  ${toLabel(server)}: ${count}, such as ${tools
      .slice(0, 3)
      .map(({ name }) => name)
      .join(", ")}`;
  });
  const asked = queries.map((query) => JSON.stringify(toLabel(query.slice(0, 100)))).join(", ");
  return [
    `No tool found for ${asked}. The names, descriptions and parameters of all tools were searched. Other words may find more. The servers:`,
    ...lines,
  ].join("\n");
}

function countsText(shown: number, all: number, denied: number, missing: readonly string[]): string {
  const parts = [`${shown} of ${all} tools`];
  if (missing.length > 0) parts.push(`servers that are not connected: ${missing.map(toLabel).join(", ")}`);
  if (denied > 0) parts.push(`${denied} tools are hidden because a rule denies them`);
  return `[${parts.join("; ")}]`;
}

/** Servers without a catalog. The search cannot find their tools. */
function missingServers(
  callable: Tools,
  { toolSelection }: ConversationState,
  { servers }: RunningHost,
): readonly string[] {
  const withTools = new Set(callable.map(({ serverName }) => serverName));
  return toolSelection
    .servers()
    .filter((server) => !withTools.has(server) && servers.find(server)?.catalog === undefined);
}

/** Returns the name and the arguments of the tool that `call_tool` should call. */
export function innerCall(args: JsonObject): { readonly name: string; readonly args: JsonObject } {
  const { name, arguments: inner = {} } = args;
  if (typeof name !== "string" || name === "")
    throw new HostError("arguments_invalid", '"name" must be the name of a tool');
  if (!isObject(inner)) throw new HostError("arguments_invalid", `arguments of ${name} must be an object`);
  return { name, args: inner };
}
