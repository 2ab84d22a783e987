/** Reads the `server.tool` argument of the policy commands; the tool need not exist. Connects to no configured server. */

import { HostError } from "@fairlead/core/errors";
import { demoName, type Host } from "@fairlead/core/host";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { Command } from "commander";
import type { Context } from "../shell/verb.ts";
import { findToolTarget, type KnownServer, type ToolTarget } from "./target.ts";
import { hasDemo } from "./with-host.ts";

export interface Subject extends ToolTarget {
  /**
   * How much of the subject exists. `tool`: the tool is in the cached catalog; `server`: the cached catalog has no such
   * tool; `entry`: the server is configured, but has no cached catalog; `nothing`: there is no such server.
   */
  readonly known: "tool" | "server" | "entry" | "nothing";
}

export function defineSubject(command: Command): void {
  command
    .argument("[server.tool]", "the tool")
    .option("--server <name>", "with --tool: the server, if dots make server.tool ambiguous")
    .option("--tool <name>", "with --server: the tool");
}

/** A word that does not begin with a configured server's name is split at its first dot. @throws HostError `usage` */
export async function readSubject(
  host: Host,
  configuration: Configuration,
  { command, operands: [word] }: Pick<Context, "command" | "operands">,
): Promise<Subject> {
  const names = host.states().map(({ name }) => name);
  const { server, tool } = command.opts<{ readonly server?: string; readonly tool?: string }>();
  if ((server === undefined) !== (tool === undefined))
    throw new HostError("usage", "--server and --tool must be given together");
  const isMeant = (name: string): boolean => (word === undefined ? name === server : word.startsWith(`${name}.`));
  const servers = await loadCached(names.filter(isMeant), host, configuration);
  if (server !== undefined && tool !== undefined) {
    if (word !== undefined)
      throw new HostError("usage", `"${word}" and --server/--tool both name a tool: give only one`);
    return withCatalogState({ server, tool }, names, servers);
  }
  if (word === undefined) throw new HostError("usage", "the tool is missing", { next: "fairlead tools" });
  if (servers.length > 0) return withCatalogState(findToolTarget(word, servers), names, servers);
  const dot = word.indexOf(".");
  if (dot <= 0 || dot === word.length - 1)
    throw new HostError("usage", `"${word}" is not of the form server.tool`, { next: "fairlead tools" });
  return { server: word.slice(0, dot), tool: word.slice(dot + 1), known: "nothing" };
}

interface CachedServer extends KnownServer {
  readonly isRemembered: boolean;
}

/** Loads cached catalogs; the demo server runs inside this process, so it is connected to instead. */
async function loadCached(
  names: readonly string[],
  host: Host,
  configuration: Configuration,
): Promise<readonly CachedServer[]> {
  const isOwn = (name: string): boolean => name === demoName && hasDemo(configuration);
  await host.recall(names.filter((name) => !isOwn(name)));
  if (names.some(isOwn)) await host.start({ servers: [demoName] });
  return names.map((name) => {
    const catalog = host.catalog(name);
    return { name, tools: catalog?.tools.map((tool) => tool.name) ?? [], isRemembered: catalog !== undefined };
  });
}

function withCatalogState(target: ToolTarget, names: readonly string[], servers: readonly CachedServer[]): Subject {
  const server = servers.find(({ name }) => name === target.server);
  if (server === undefined) return { ...target, known: names.includes(target.server) ? "entry" : "nothing" };
  if (server.tools.includes(target.tool)) return { ...target, known: "tool" };
  return { ...target, known: server.isRemembered ? "server" : "entry" };
}
