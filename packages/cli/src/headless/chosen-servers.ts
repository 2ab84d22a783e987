/** What `--servers` and `--allow` name, held against the servers that there are. */

import { HostError } from "@fairlead/core/errors";
import { demoName, type Host } from "@fairlead/core/host";
import { closest } from "@fairlead/core/text/closest";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { Context } from "../shell/verb.ts";
import { findToolTarget, type ToolTarget } from "../targets/target.ts";
import { useHost } from "../targets/with-host.ts";

function namesIn({ servers }: Configuration): readonly string[] {
  return [...new Set([...servers.map(({ server }) => server.name), demoName])];
}

export function checkServers(wanted: readonly string[], configuration: Configuration): void {
  const known = namesIn(configuration);
  for (const name of wanted) {
    if (known.includes(name)) continue;
    const near = closest(name, known);
    const suggestion = near === undefined ? "" : `; did you mean "${near}"?`;
    throw new HostError("server_unknown", `there is no server "${name}"${suggestion}`, { next: "fairlead mcp list" });
  }
}

/** Which tools are meant. Nothing is started for it: where a name could be two things, what is remembered decides. */
export async function readAllowed(
  words: readonly string[],
  configuration: Configuration,
  context: Pick<Context, "globals">,
): Promise<readonly ToolTarget[]> {
  const names = namesIn(configuration);
  for (const word of words) {
    if (!/[*?]/.test(word)) continue;
    throw new HostError("usage", `--allow names one tool, and "${word}" is a pattern`, {
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

/** Names that are allowed and that nobody has, as far as is known: a slip would show only in what is denied. */
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
