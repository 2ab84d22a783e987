/** Reads the values of `--allow` (a tool, a pattern or a whole server), and finds typing mistakes in them. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { type AllowedTools, exactName, namePattern } from "@fairlead/core/policy";
import type { Configuration } from "@fairlead/core/trust";
import { type Context, nameHint } from "../shell/verb.ts";
import { findToolTarget, type TargetServer, targetName } from "../targets/target.ts";
import { useHost } from "../targets/with-host.ts";

const isWild = (word: string): boolean => /[*?]/.test(word);

/**
 * Reads the values of `--allow`. Starts no server. Ambiguous names are looked up in cached catalogs.
 *
 * @throws HostError `usage` or `server_unknown`
 */
export async function readAllowed(
  words: readonly string[],
  names: readonly string[],
  configuration: Configuration,
  context: Pick<Context, "globals">,
): Promise<readonly AllowedTools[]> {
  const isUnclear = words.some(
    (word) => isWild(word) || names.filter((name) => word === name || word.startsWith(`${name}.`)).length > 1,
  );
  const tools = isUnclear ? await useHost(configuration, context, (host) => cachedTools(host, names)) : undefined;
  const servers = names.map((name) => ({ name, tools: tools?.get(name) ?? [] }));
  return words.map((word) => toAllowed(word, servers));
}

function toAllowed(word: string, servers: readonly TargetServer[]): AllowedTools {
  // The name of a tool may contain "*". Allowing that tool must not allow other tools.
  const isTool = servers.some(({ name, tools }) => tools.some((tool) => targetName({ server: name, tool }) === word));
  if (isTool) return findToolTarget(word, servers);
  if (servers.some(({ name }) => name === word)) return { server: word };
  return isWild(word) ? toPattern(word, servers) : findToolTarget(word, servers);
}

/** Refuses wildcards in the server's name, because they could allow servers that the user did not think of. */
function toPattern(word: string, servers: readonly TargetServer[]): AllowedTools {
  const names = servers.map(({ name }) => name);
  const longest = names.filter((name) => word.startsWith(`${name}.`)).sort((a, b) => b.length - a.length)[0];
  if (longest !== undefined) {
    const tool = word.slice(longest.length + 1);
    return isWild(tool) ? { server: longest, tool, isPattern: true } : findToolTarget(word, servers);
  }
  const [server = word] = word.split(".", 1);
  if (isWild(server))
    throw new HostError("usage", `--allow ${word}: the server's name must be exact, without * and ?`, {
      next: "for all tools of one server: --allow 'SERVER.*'",
    });
  throw new HostError("server_unknown", `--allow ${word}: there is no server "${server}"${nameHint(server, names)}`, {
    next: "fairlead mcp list",
  });
}

async function cachedTools(host: Host, names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  await host.recall();
  return new Map(names.map((name) => [name, toolsOf(host, name) ?? []]));
}

function toolsOf(host: Host, server: string): readonly string[] | undefined {
  return host.catalog(server)?.tools.map(({ name }) => name);
}

/**
 * Creates a function that returns warnings about tools in `--allow` that their server does not have. It returns each
 * warning once. Call it again after more servers have connected.
 */
export function createAllowedNotes(allowed: readonly AllowedTools[], host: Host): () => readonly string[] {
  const told = new Set<AllowedTools>();
  return () =>
    allowed.flatMap((one) => {
      const note = told.has(one) ? undefined : missingNote(one, host);
      if (note === undefined) return [];
      told.add(one);
      return [note];
    });
}

function missingNote({ server, tool, isPattern = false }: AllowedTools, host: Host): string | undefined {
  const toolNames = toolsOf(host, server);
  if (tool === undefined || toolNames === undefined) return undefined;
  if (toolNames.some((isPattern ? namePattern(tool) : exactName(tool)).matches)) return undefined;
  if (!isPattern) return `--allow: "${server}" has no tool "${tool}"${nameHint(tool, toolNames)}`;
  return `--allow: no tool of "${server}" matches "${tool}"`;
}
