/** Checks the names in `--servers` and `--allow` against the configured servers. */

import { HostError } from "@fairlead/core/errors";
import { demoName, type Host } from "@fairlead/core/host";
import { closest } from "@fairlead/core/text/closest";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { Context } from "../shell/verb.ts";
import { findToolTarget, type ToolTarget } from "../targets/target.ts";
import { useHost } from "../targets/with-host.ts";

function fileNamesIn({ servers }: Configuration): readonly string[] {
  return [...new Set([...servers.map(({ server }) => server.name), demoName])];
}

/** @throws HostError `server_unknown` */
export function checkServers(wanted: readonly string[], configuration: Configuration): void {
  const known = fileNamesIn(configuration);
  for (const name of wanted) {
    if (known.includes(name)) continue;
    const near = closest(name, known);
    const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new HostError("server_unknown", `there is no server "${name}"${suggestion}`, { next: "fairlead mcp list" });
  }
}

/** Reads the tools of `--allow` without starting servers; cached catalogs resolve ambiguous names. @throws HostError `usage` or `server_unknown` */
export async function readAllowed(
  words: readonly string[],
  configuration: Configuration,
  context: Pick<Context, "globals">,
): Promise<readonly ToolTarget[]> {
  const names = fileNamesIn(configuration);
  for (const word of words) {
    if (!/[*?]/.test(word)) continue;
    throw new HostError("usage", `--allow takes one tool, not the pattern "${word}"`, {
      next: `fairlead policy allow '${word}'`,
    });
  }
  const isUnclear = words.some((word) => names.filter((name) => word.startsWith(`${name}.`)).length > 1);
  const tools = isUnclear ? await useHost(configuration, context, (host) => cachedTools(host, names)) : undefined;
  const servers = names.map((name) => ({ name, tools: tools?.get(name) ?? [] }));
  return words.map((word) => findToolTarget(word, servers));
}

async function cachedTools(host: Host, names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  await host.recall();
  return new Map(names.map((name) => [name, toolsOf(host, name) ?? []]));
}

/** Notes about allowed tools that the cached catalogs do not have: a typing mistake would otherwise show only as a denial. */
export function unknownToolNotes(allowed: readonly ToolTarget[], host: Host): readonly string[] {
  return allowed.flatMap(({ server, tool }) => {
    const known = toolsOf(host, server);
    if (known === undefined || known.includes(tool)) return [];
    const near = closest(tool, known);
    return `--allow: "${server}" has no tool "${tool}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
  });
}

function toolsOf(host: Host, server: string): readonly string[] | undefined {
  return host.catalog(server)?.tools.map(({ name }) => name);
}
