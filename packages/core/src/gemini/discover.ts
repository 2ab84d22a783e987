/** Discovery step by step: reads a connected client's tools and prompts, and filters them by the server's entry. */

import type { PromptResult } from "@fairlead/wire";
import { isObject, objectOf, stringOf } from "@fairlead/wire/json";
import { normalisePromptResult } from "@fairlead/wire/results";
import { errorMessage } from "@fairlead/wire/text";
import { HostError } from "../errors.ts";
import {
  aBoolean,
  aListOfStrings,
  anObject,
  aString,
  expectArguments,
  optional,
  readMembers,
  someMilliseconds,
  withMethod,
} from "../expect-arguments.ts";
import { hiddenBy } from "../normalise/filter.ts";
import { generateValidName } from "../normalise/tool-name.ts";
import type { CatalogPrompt, PromptArgument } from "../server/catalog.ts";
import { DiscoveredMCPPrompt, type PromptValues } from "../server/discovered-prompt.ts";
import type { PromptRegistry } from "../server/registries.ts";
import type { MCPServerConfig } from "../settings/define/server-config.ts";
import { defaults } from "../settings/schema/defaults.ts";
import { splitShellLine } from "../settings/shell-line.ts";
import { aConfig, type Config } from "./config.ts";
import { DiscoveredMCPTool } from "./discovered-tool.ts";
import { type CatalogClient, everyPage, type ListedToolFacts, listSdkTools, mcpToTool } from "./mcp-to-tool.ts";
import { aPromptClient, aToolClient, type SdkClient } from "./sdk-client.ts";
import { aServerName, checkEntryObjects } from "./server-entry.ts";
import { warn } from "./warn.ts";

/** A registry that takes prompts. */
export type PromptSink = Pick<PromptRegistry, "registerPrompt"> & Partial<Pick<PromptRegistry, "removeServer">>;

/**
 * Reads the server's tools and returns those that its entry enables. A tool's `trust` counts only if `cliConfig` says
 * that the folder is trusted. If the list cannot be read, warns and returns no tools.
 *
 * @throws HostError `usage`
 */
export async function discoverTools(
  serverName: string,
  serverConfig: MCPServerConfig,
  client: SdkClient,
  cliConfig?: Config,
): Promise<DiscoveredMCPTool[]> {
  const call = "discoverTools()";
  expectArguments(call, {
    serverName: [serverName, aServerName],
    serverConfig: [serverConfig, anObject],
    client: [client, aToolClient],
    cliConfig: [cliConfig, aConfig],
  });
  const wanted = { ...wantedFilter, timeout: optional(someMilliseconds), trust: optional(aBoolean) };
  const entry = readMembers(call, serverConfig, wanted, "serverConfig.");
  try {
    const listed = await listSdkTools(client);
    const enabled = listed.filter((tool) => isEnabled(tool, serverName, entry));
    return toTools(enabled, { serverName, serverConfig: entry, client, cliConfig });
  } catch (error) {
    warn(`the tools of "${serverName}" cannot be read: ${errorMessage(error)}`, "McpDiscoveryWarning");
    return [];
  }
}

/** The settings that choose a server's tools. */
const wantedFilter = { includeTools: optional(aListOfStrings), excludeTools: optional(aListOfStrings) };

/** The server of tools, and how they run. */
interface ToolServer {
  readonly serverName: string;
  readonly serverConfig: MCPServerConfig;
  readonly client: SdkClient | CatalogClient;
  readonly cliConfig: Config | undefined;
}

/** Returns listed tools as tools that run on this client. */
export function toTools(listed: readonly ListedToolFacts[], server: ToolServer): DiscoveredMCPTool[] {
  const { serverName, serverConfig, client, cliConfig } = server;
  const { timeout = defaults.timeout, trust = false } = serverConfig;
  const mcpTool = mcpToTool(client, { timeout });
  return listed.map(({ name, title, description = "", inputSchema, outputSchema, annotations }) => {
    return new DiscoveredMCPTool({
      mcpTool,
      serverName,
      serverToolName: name,
      title,
      description,
      parameterSchemaJson: inputSchema,
      outputSchema,
      annotations,
      timeout,
      // Without a configuration, the program has not said that the folder is trusted.
      trust: trust && cliConfig !== undefined,
      cliConfig,
    });
  });
}

/**
 * Reads the server's prompts and registers them. If the list cannot be read, warns and returns no prompts.
 *
 * @throws HostError `usage`
 */
export async function discoverPrompts(
  serverName: string,
  client: SdkClient,
  promptRegistry: PromptSink,
): Promise<DiscoveredMCPPrompt[]> {
  expectArguments("discoverPrompts()", {
    serverName: [serverName, aServerName],
    client: [client, aPromptClient],
    promptRegistry: [promptRegistry, withMethod("registerPrompt")],
  });
  try {
    const listed: object[] = [];
    await everyPage(async (params) => {
      const page = await client.listPrompts(params);
      listed.push(...page.prompts);
      return page.nextCursor;
    });
    const get = async (name: string, values: PromptValues): Promise<PromptResult> =>
      normalisePromptResult(objectOf(await client.getPrompt({ name, arguments: { ...values } })));
    const prompts = toPrompts(serverName, listed.flatMap(toCatalogPrompt), get);
    for (const prompt of prompts) promptRegistry.registerPrompt(prompt);
    return prompts;
  } catch (error) {
    warn(`the prompts of "${serverName}" cannot be read: ${errorMessage(error)}`, "McpDiscoveryWarning");
    return [];
  }
}

/** Returns listed prompts as prompts that `get` gets. */
export function toPrompts(
  serverName: string,
  listed: readonly CatalogPrompt[],
  get: (name: string, values: PromptValues, signal?: AbortSignal) => Promise<PromptResult>,
): DiscoveredMCPPrompt[] {
  return listed.map(({ name: serverPromptName, title, description, arguments: wanted }) => {
    return new DiscoveredMCPPrompt({ serverName, serverPromptName, title, description, arguments: wanted, get });
  });
}

/** Reads a prompt that a foreign client has listed. Leaves out what has no name. */
function toCatalogPrompt(item: object): readonly CatalogPrompt[] {
  const { name, title, description, arguments: given } = item as Record<string, unknown>;
  if (typeof name !== "string" || name === "") return [];
  const wanted = (Array.isArray(given) ? given : []).flatMap((each): readonly PromptArgument[] => {
    const { name: argument, description: about, required } = objectOf(each);
    if (typeof argument !== "string") return [];
    return [{ name: argument, description: stringOf(about), required: required === true }];
  });
  return [{ name, title: stringOf(title), description: stringOf(description), arguments: wanted }];
}

/** Whether a server's entry enables a tool: `excludeTools` goes before `includeTools`. A tool needs a name. */
export function isEnabled(
  funcDecl: { readonly name?: string | undefined },
  mcpServerName: string,
  mcpServerConfig: MCPServerConfig,
): boolean {
  const call = "isEnabled()";
  expectArguments(call, {
    funcDecl: [funcDecl, anObject],
    mcpServerName: [mcpServerName, aString],
    mcpServerConfig: [mcpServerConfig, anObject],
  });
  const { name = "" } = readMembers(call, funcDecl, { name: optional(aString) }, "funcDecl.");
  const filter = readMembers(call, mcpServerConfig, wantedFilter, "mcpServerConfig.");
  const { includeTools, excludeTools = [] } = filter;
  return name !== "" && hiddenBy(name, { includeTools, excludeTools }) === undefined;
}

/** Returns a name that the Gemini API accepts: other characters become `_`, and a long name is cut in its middle. */
export function checkedName(name: string): string {
  expectArguments("generateValidName()", { name: [name, aString] });
  return generateValidName(name);
}

/** The deepest level of a schema that `hasValidTypes` reads. */
const mostLevels = 100;

/**
 * Whether a schema, and each schema in its properties, items and alternatives, has a `type` or alternatives.
 * `discoverTools` repairs schemas that do not.
 */
export function hasValidTypes(schema: unknown): boolean {
  return isTyped(schema, 0);
}

function isTyped(schema: unknown, level: number): boolean {
  if (!isObject(schema)) return true;
  if (level > mostLevels) return false;
  const isInnerTyped = (inner: unknown): boolean => isTyped(inner, level + 1);
  const { type, properties, items } = schema;
  if (!type) {
    const alternatives = ["anyOf", "allOf", "oneOf"].map((keyword) => schema[keyword]).filter(Array.isArray);
    if (alternatives.length === 0 || !alternatives.flat().every(isInnerTyped)) return false;
  }
  if (type === "object" && isObject(properties)) return Object.values(properties).every(isInnerTyped);
  return type !== "array" || isInnerTyped(items);
}

/**
 * Returns the entries and, under the name `mcp`, the server that a command line starts. An entry named `mcp` stays.
 *
 * @throws HostError `usage` if the command line needs a shell
 */
export function populateMcpServerCommand(
  mcpServers: Readonly<Record<string, MCPServerConfig>>,
  mcpServerCommand?: string,
): Record<string, MCPServerConfig> {
  const call = "populateMcpServerCommand()";
  const entries = checkEntryObjects(call, mcpServers);
  expectArguments(call, { mcpServerCommand: [mcpServerCommand, optional(aString)] });
  if (mcpServerCommand === undefined || mcpServerCommand === "" || Object.hasOwn(entries, "mcp")) return entries;
  const line = splitShellLine(mcpServerCommand);
  if (line.kind === "refused") {
    const message = `${call}: "mcpServerCommand" has a mistake at character ${line.at}: ${line.reason}`;
    throw new HostError("usage", message);
  }
  const [command = "", ...args] = line.words;
  return { ...entries, mcp: { command, args } };
}
