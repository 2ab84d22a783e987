/** Completes tools, resources and prompts from cached catalogs. */

import { demoName, type Host, type HostPrompt, type HostResource } from "@fairlead/core/host";
import {
  createTypeWriter,
  type Property,
  parametersOf,
  resolved,
  shapesOf,
  type ValueShape,
} from "@fairlead/core/normalise";
import { typedPromptName } from "@fairlead/core/request";
import type { CatalogTool } from "@fairlead/core/server";
import { isShallow, member } from "@fairlead/wire/json";
import { variablesOf } from "../arguments/named-values.ts";
import { isAddress } from "../targets/ad-hoc.ts";
import { findToolTarget, type ToolTarget, targetName } from "../targets/target.ts";
import { hasDemo, useHost } from "../targets/with-host.ts";
import { type CompletionAnswer, nothing, type Suggestion, toWords } from "./answer.ts";
import { type CompletionContext, configurationAt } from "./completion-context.ts";
import type { ServerSource } from "./known-command.ts";
import type { Cursor, Typed } from "./typed-words.ts";

/** Suggests values from cached catalogs. Suggests nothing after `--stdio`. */
export async function fromServers(
  source: ServerSource,
  at: Cursor,
  context: CompletionContext,
): Promise<CompletionAnswer> {
  // A server given with --stdio has no cached catalog.
  if (at.typed.values.has("--stdio")) return nothing;
  return withCachedServers(context, (cache) => answerFrom(source, at, cache));
}

async function answerFrom(
  source: ServerSource,
  { typed, current }: Cursor,
  cache: CachedServers,
): Promise<CompletionAnswer> {
  switch (source) {
    case "call":
      return suggestCallWords(typed, current, cache);
    case "tools":
      return toWords(await suggestTools(typed, cache));
    case "resources":
      return toWords(await suggestResources(typed, current, cache));
    case "skills":
      return toWords(suggestSkills(cache));
    case "variables":
      return toWords(await suggestVariables(typed, cache));
    case "prompts":
      return toWords(await suggestPrompts(typed, current, cache));
    case "prompt-arguments":
      return toWords(await suggestPromptArguments(typed, cache));
  }
}

/** Completes `fairlead call`: `server.tool`, then the tool's parameters and values. */
async function suggestCallWords(
  { operands, values }: Typed,
  current: string,
  cache: CachedServers,
): Promise<CompletionAnswer> {
  const [first] = operands;
  // A server given as a URL has no cached catalog.
  if (isAddress(operands[0])) return nothing;
  const [server, tool] = [values.get("--server"), values.get("--tool")];
  if (server !== undefined && tool !== undefined) return suggestArguments({ server, tool }, operands, current, cache);
  if (first === undefined) return toWords(await suggestTargets(current, cache));
  const meant = await targetOf(first, cache);
  return meant === undefined ? nothing : suggestArguments(meant, operands.slice(1), current, cache);
}

/** Suggests the tools of the server given with `--server`. */
async function suggestTools({ values }: Typed, cache: CachedServers): Promise<readonly Suggestion[]> {
  const tools = await toolsOf(values.get("--server") ?? "", cache);
  return tools.map(({ name, title, description }) => ({ value: name, about: title ?? description }));
}

/**
 * Suggests servers first, because there may be many tools. After a server's name, suggests the tools of that server.
 */
async function suggestTargets(current: string, cache: CachedServers): Promise<readonly Suggestion[]> {
  const begun = cache.names.filter((name) => current.startsWith(`${name}.`));
  const possible = cache.names.filter((name) => `${name}.`.startsWith(current));
  const [only, ...others] = begun.length > 0 ? begun : possible;
  if (begun.length === 0 && (only === undefined || others.length > 0))
    return cache.names.map((name) => ({ value: `${name}.`, isOpen: true }));
  const offered = await Promise.all(
    [only ?? "", ...others].map(async (server) =>
      (await toolsOf(server, cache)).map(({ name, title, description }) => ({
        value: targetName({ server, tool: name }),
        about: title ?? description,
      })),
    ),
  );
  return offered.flat();
}

/** Returns the tool that the word names. Returns undefined if the word names no tool or is ambiguous. */
async function targetOf(word: string, cache: CachedServers): Promise<ToolTarget | undefined> {
  const possible = cache.names.filter((name) => word.startsWith(`${name}.`));
  const servers = await Promise.all(
    possible.map(async (name) => ({ name, tools: (await toolsOf(name, cache)).map((tool) => tool.name) })),
  );
  try {
    return findToolTarget(word, servers);
  } catch {
    // Tab shows no error. `fairlead call` reports it when the user runs the command.
    return undefined;
  }
}

async function suggestArguments(
  { server, tool }: ToolTarget,
  given: readonly string[],
  current: string,
  cache: CachedServers,
): Promise<CompletionAnswer> {
  const found = (await toolsOf(server, cache)).find(({ name }) => name === tool);
  return found === undefined ? nothing : suggestParameters(found.inputSchema, given, current);
}

/** Returns the cached tools, without the tools that a filter in the settings removes. */
async function toolsOf(server: string, { host, names, recall }: CachedServers): Promise<readonly CatalogTool[]> {
  if (!names.includes(server)) return [];
  await recall([server]);
  const hidden = new Set(host.hidden(server).map(({ serverToolName }) => serverToolName));
  return (host.catalog(server)?.tools ?? []).filter(({ name }) => !hidden.has(name));
}

/**
 * Suggests prompts by the names that `fairlead prompts` shows, or as `server.prompt` if the user has typed the server's
 * name.
 */
async function suggestPrompts(typed: Typed, current: string, cache: CachedServers): Promise<readonly Suggestion[]> {
  const slash = current.startsWith("/") ? "/" : "";
  const prompts = await promptsOf(typed, cache);
  return prompts.map((prompt) => {
    const { server, serverPromptName } = prompt;
    const [colon, dot] = [":", "."].map((between) => current.startsWith(`${slash}${server}${between}`));
    const listed = typedPromptName({ ...prompt, serverName: server });
    const begun = current.slice(slash.length);
    // If only one server has a prompt of this name, the user can type the name without the server.
    const isUnique = prompts.every((one) => one === prompt || one.serverPromptName !== serverPromptName);
    if (begun !== "" && isUnique && serverPromptName.startsWith(begun))
      return { value: `${slash}${serverPromptName}`, about: prompt.title ?? prompt.description };
    const value = `${slash}${colon ? `${server}:${serverPromptName}` : dot ? pairOf(prompt) : listed}`;
    return { value, about: prompt.title ?? prompt.description };
  });
}

async function suggestPromptArguments(typed: Typed, cache: CachedServers): Promise<readonly Suggestion[]> {
  const wanted = typed.operands[0]?.replace(/^\//, "");
  const prompts = await promptsOf(typed, cache);
  const found = prompts.find((prompt) =>
    [pairOf(prompt), `${prompt.server}:${prompt.serverPromptName}`, prompt.name, prompt.serverPromptName].includes(
      wanted ?? "",
    ),
  );
  return (found?.arguments ?? []).map(({ name, description, required }) => ({
    value: `${name}=`,
    about: [...(required ? ["required"] : []), ...(description === undefined ? [] : [description])].join(", "),
    isOpen: true,
  }));
}

async function promptsOf(typed: Typed, cache: CachedServers): Promise<readonly HostPrompt[]> {
  return (await askedServers(typed, cache)).flatMap((name) => cache.host.prompts(name));
}

/** Loads the cached catalogs of the server given with `--server`, or of all servers. Returns the servers' names. */
async function askedServers({ values }: Typed, { names, recall }: CachedServers): Promise<readonly string[]> {
  const server = values.get("--server");
  const asked = server === undefined ? names : names.filter((name) => name === server);
  await recall(asked);
  return asked;
}

function pairOf({ server, serverPromptName }: HostPrompt): string {
  return `${server}.${serverPromptName}`;
}

function suggestSkills({ host }: CachedServers): readonly Suggestion[] {
  return host.skills().map(({ server, label, description }) => ({ value: `${server}/${label}`, about: description }));
}

/** Suggests a URI. If two servers have that URI, suggests `server:uri`. After a typed "@", suggests `@server:uri`. */
async function suggestResources(typed: Typed, current: string, cache: CachedServers): Promise<readonly Suggestion[]> {
  const resources = await resourcesOf(typed, cache);
  const count = (uri: string): number => resources.filter((resource) => uriOf(resource) === uri).length;
  return resources.map((resource) => {
    const { server, name, title } = resource;
    const uri = uriOf(resource);
    const full = `${server}:${uri}`;
    const isBare = count(uri) === 1 && (uri.startsWith(current) || !full.startsWith(current));
    return { value: current.startsWith("@") ? `@${full}` : isBare ? uri : full, about: title ?? name };
  });
}

async function suggestVariables(typed: Typed, cache: CachedServers): Promise<readonly Suggestion[]> {
  const wanted = typed.operands[0]?.replace(/^@/, "");
  const resources = await resourcesOf(typed, cache);
  const found = resources.find((one) => wanted === uriOf(one) || wanted === `${one.server}:${uriOf(one)}`);
  if (found?.kind !== "template") return [];
  return variablesOf(found.uriTemplate).map(({ name, required }) => ({
    value: `${name}=`,
    about: required ? "required" : "",
    isOpen: true,
  }));
}

async function resourcesOf(typed: Typed, cache: CachedServers): Promise<readonly HostResource[]> {
  return (await askedServers(typed, cache))
    .flatMap((name) => cache.host.resources(name))
    .filter((resource) => resource.kind === "resource" || resource.unusable === undefined);
}

function uriOf(resource: HostResource): string {
  return resource.kind === "resource" ? resource.uri : resource.uriTemplate;
}

/** The cached catalogs. The host that loads them connects to no configured server. */
interface CachedServers {
  readonly host: Host;
  /** Servers that are neither disabled nor blocked, in the order of the settings. The demo server is last. */
  readonly names: readonly string[];
  /** Loads the cached catalogs of these servers. Connects to the demo server, which runs in this process. */
  readonly recall: (names: readonly string[]) => Promise<void>;
}

async function withCachedServers<T>(context: CompletionContext, use: (cache: CachedServers) => Promise<T>): Promise<T> {
  const configuration = await configurationAt(context);
  const isOwn = (name: string): boolean => name === demoName && hasDemo(configuration);
  return useHost(configuration, context, (host) =>
    use({
      host,
      names: host.states().flatMap(({ name, status }) => (status === "disabled" || status === "blocked" ? [] : name)),
      async recall(names) {
        await host.recall(names.filter((name) => !isOwn(name)));
        if (names.some(isOwn)) await host.start({ servers: [demoName] });
      },
    }),
  );
}

// Completes `key=value` arguments from a tool's input schema. Pure functions.

/** Limits for the text that describes a parameter's type, so that the text fits into one line of the suggestions. */
const glimpse = { depth: 1, members: 4, parts: 50 };
/** Maximum number of suggested values, because a server may list any number of enum values. */
const mostValues = 500;

/**
 * Suggests `key=` for lists and for parameters not yet given. After `=`, suggests the parameter's values. After `=@`,
 * suggests files.
 */
export function suggestParameters(inputSchema: unknown, given: readonly string[], current: string): CompletionAnswer {
  const parameters = parametersOf(inputSchema);
  const [, key, sign = "", text = ""] = /^(.*?)(:?=)(.*)$/s.exec(current) ?? [];
  if (key === undefined) return toWords(suggestNames(parameters, inputSchema, given));
  if (text.startsWith("@")) return { kind: "files", prefix: `${key}${sign}@` };
  const schema = parameters.find(({ name }) => name === key)?.schema;
  const values = valuesOf(schema, inputSchema).slice(0, mostValues);
  return toWords(
    values.flatMap((value) => toWritten(value, sign === ":=")).map((value) => ({ value: `${key}${sign}${value}` })),
  );
}

function suggestNames(
  parameters: readonly Property[],
  inputSchema: unknown,
  given: readonly string[],
): readonly Suggestion[] {
  const typeOf = createTypeWriter(inputSchema, glimpse);
  return parameters.filter(isWritable).flatMap(({ name, required, schema }) => {
    const isGiven = given.some((word) => word.startsWith(`${name}=`) || word.startsWith(`${name}:=`));
    if (isGiven && !shapesOf(schema, inputSchema).some(isList)) return [];
    const said = member(resolved(schema, inputSchema), "description");
    const about = [typeOf(schema), ...(required ? ["required"] : []), ...(typeof said === "string" ? [said] : [])];
    return { value: `${name}=`, about: about.join(", "), isOpen: true };
  });
}

/** Whether the parameter can be typed as `key=value`. Otherwise the user must pass it with `--args`. */
function isWritable({ name }: Property): boolean {
  return !name.includes("=") && !name.endsWith(":");
}

function valuesOf(schema: unknown, root: unknown): readonly unknown[] {
  const shapes = shapesOf(schema, root);
  const inner = shapes.filter(isList).flatMap(({ items }) => shapesOf(items, root));
  return [...new Set([...shapes, ...inner].flatMap(listed))];
}

function listed({ types, values }: ValueShape): readonly unknown[] {
  if (values) return values;
  return types.has("boolean") ? [true, false] : [];
}

function toWritten(value: unknown, isJson: boolean): readonly string[] {
  if (typeof value === "object" && value !== null && !(isJson && isShallow(value))) return [];
  if (isJson || typeof value !== "string") return [JSON.stringify(value)];
  // A value that starts with "@" is not suggested, because after `=` it would name a file.
  return value.startsWith("@") ? [] : [value];
}

function isList({ types }: ValueShape): boolean {
  return types.has("array");
}
