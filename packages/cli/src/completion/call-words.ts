/** Completes `fairlead call`: `server.tool`, then the tool's parameters and values. */

import type { CatalogTool } from "@fairlead/core/discover/catalog";
import { isAddress } from "../targets/ad-hoc.ts";
import { findToolTarget, type ToolTarget, targetName } from "../targets/target.ts";
import { type CompletionAnswer, nothing, type Suggestion, toWords } from "./answer.ts";
import type { CachedServers } from "./cached-servers.ts";
import { suggestParameters } from "./parameter-words.ts";
import type { Typed } from "./typed-words.ts";

export async function suggestCallWords(
  { operands, values }: Typed,
  current: string,
  known: CachedServers,
): Promise<CompletionAnswer> {
  const [first] = operands;
  // A server typed as a URL has no cached catalog.
  if (isAddress(operands[0])) return nothing;
  const [server, tool] = [values.get("--server"), values.get("--tool")];
  if (server !== undefined && tool !== undefined) return suggestArguments({ server, tool }, operands, current, known);
  if (first === undefined) return toWords(await suggestTargets(current, known));
  const meant = await targetOf(first, known);
  return meant === undefined ? nothing : suggestArguments(meant, operands.slice(1), current, known);
}

/** Suggests the tools of the server given with `--server`. */
export async function suggestTools({ values }: Typed, known: CachedServers): Promise<readonly Suggestion[]> {
  const tools = await toolsOf(values.get("--server") ?? "", known);
  return tools.map(({ name, title, description }) => ({ value: name, about: title ?? description }));
}

/** Suggests servers first, because there may be many tools; then the tools of the matching server. */
async function suggestTargets(current: string, known: CachedServers): Promise<readonly Suggestion[]> {
  const begun = known.names.filter((name) => current.startsWith(`${name}.`));
  const possible = known.names.filter((name) => `${name}.`.startsWith(current));
  const [only, ...others] = begun.length > 0 ? begun : possible;
  if (begun.length === 0 && (only === undefined || others.length > 0))
    return known.names.map((name) => ({ value: `${name}.`, isOpen: true }));
  const offered = await Promise.all(
    [only ?? "", ...others].map(async (server) =>
      (await toolsOf(server, known)).map(({ name, title, description }) => ({
        value: targetName({ server, tool: name }),
        about: title ?? description,
      })),
    ),
  );
  return offered.flat();
}

/** Undefined if the word names no tool or is ambiguous. */
async function targetOf(word: string, known: CachedServers): Promise<ToolTarget | undefined> {
  const possible = known.names.filter((name) => word.startsWith(`${name}.`));
  const servers = await Promise.all(
    possible.map(async (name) => ({ name, tools: (await toolsOf(name, known)).map((tool) => tool.name) })),
  );
  try {
    return findToolTarget(word, servers);
  } catch {
    // Running the command reports the error.
    return undefined;
  }
}

async function suggestArguments(
  { server, tool }: ToolTarget,
  given: readonly string[],
  current: string,
  known: CachedServers,
): Promise<CompletionAnswer> {
  const found = (await toolsOf(server, known)).find(({ name }) => name === tool);
  return found === undefined ? nothing : suggestParameters(found.inputSchema, given, current);
}

/** Returns the cached tools without those that a filter removes. */
async function toolsOf(server: string, { host, names, recall }: CachedServers): Promise<readonly CatalogTool[]> {
  if (!names.includes(server)) return [];
  await recall([server]);
  const hidden = new Set(host.hidden(server).map(({ serverToolName }) => serverToolName));
  return (host.catalog(server)?.tools ?? []).filter(({ name }) => !hidden.has(name));
}
