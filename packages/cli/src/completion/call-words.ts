/** What may follow `fairlead call`: `server.tool`, then the names and values of that tool's parameters. */

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
  // Nothing is known of a server that is being typed.
  if (isAddress(operands[0])) return nothing;
  const [server, tool] = [values.get("--server"), values.get("--tool")];
  if (server !== undefined && tool !== undefined) return suggestArguments({ server, tool }, operands, current, known);
  if (first === undefined) return toWords(await suggestTargets(current, known));
  const meant = await targetOf(first, known);
  return meant === undefined ? nothing : suggestArguments(meant, operands.slice(1), current, known);
}

/** The tools of the server that is named with `--server`. */
export async function suggestTools({ values }: Typed, known: CachedServers): Promise<readonly Suggestion[]> {
  const tools = await toolsOf(values.get("--server") ?? "", known);
  return tools.map(({ name, title, description }) => ({ value: name, about: title ?? description }));
}

/** Servers first, for there may be many tools; those of the one that can be meant. */
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

/** Undefined for what names no tool, or could be more than one. */
async function targetOf(word: string, known: CachedServers): Promise<ToolTarget | undefined> {
  const possible = known.names.filter((name) => word.startsWith(`${name}.`));
  const servers = await Promise.all(
    possible.map(async (name) => ({ name, tools: (await toolsOf(name, known)).map((tool) => tool.name) })),
  );
  try {
    return findToolTarget(word, servers);
  } catch {
    // Whoever sends the line is told what is wrong with it.
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

/** Those that a call can reach: what a filter takes out is not among them. */
async function toolsOf(server: string, { host, names, recall }: CachedServers): Promise<readonly CatalogTool[]> {
  if (!names.includes(server)) return [];
  await recall([server]);
  const hidden = new Set(host.hidden(server).map(({ serverToolName }) => serverToolName));
  return (host.catalog(server)?.tools ?? []).filter(({ name }) => !hidden.has(name));
}
