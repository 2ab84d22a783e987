/** A host that knows what servers offer, for commands that list it: from earlier runs where possible, else by asking them. */

import type { ListKind } from "@fairlead/core/discover/catalog";
import type { ServerState } from "@fairlead/core/events";
import { demoName, type Host } from "@fairlead/core/host";
import { notConnectedError } from "@fairlead/core/mcp/server-state";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { ageWords, day } from "../output/age.ts";
import type { Output } from "../output/output.ts";
import { configurationOf } from "../shell/configuration.ts";
import { usageError } from "../shell/usage-error.ts";
import type { Context } from "../shell/verb.ts";
import { isAddress, openAdHoc } from "./ad-hoc.ts";
import type { AdHoc } from "./ad-hoc-server.ts";
import { connectServers } from "./connect-servers.ts";
import { useHost } from "./with-host.ts";

export interface CatalogScope {
  readonly host: Host;
  /** Undefined: all. */
  readonly server: string | undefined;
  /** The settings do not have it, so other commands do not know its name. */
  readonly isTyped: boolean;
}

/** The command's operand says whose; its option `--refresh` asks them again. Who cannot be asked is named on stderr. */
export async function withCatalogs(
  context: Context,
  use: (offers: CatalogScope) => void | Promise<void>,
): Promise<void> {
  const { server, configuration, isTyped, keep } = await choose(context);
  // The demo server stands in only where there is nothing else.
  const configured = configuration.servers.map((entry) => entry.server.name);
  const all = configured.length === 0 ? [demoName] : configured;
  await useHost(configuration, context, async (host) => {
    const known = await loadCatalogs(host, server === undefined ? all : [server], context);
    for (const state of host.states()) {
      if (state.status === "connected" || known.has(state.name)) continue;
      if (state.name === server) throw notConnectedError(state);
      if (server === undefined && all.includes(state.name)) printRefusal(state, context.out);
    }
    await keep?.();
    await use({ host, server, isTyped });
  });
}

interface Choice extends Omit<CatalogScope, "host"> {
  readonly configuration: Configuration;
  readonly keep?: AdHoc["keep"];
}

/** The server that is named or typed, and the settings with it among them. */
async function choose(context: Context): Promise<Choice> {
  const [operand] = context.operands;
  const configuration = await configurationOf(context);
  const address = isAddress(operand) ? operand : undefined;
  const typed = await openAdHoc(address, configuration, context);
  if (typed === undefined) return { server: operand, configuration, isTyped: false };
  if (operand !== address) throw usageError(`a server is named or given with --stdio, not both: "${operand}"`, context);
  return { server: typed.name, configuration: typed.configuration, isTyped: true, keep: typed.keep };
}

/** Connects only to servers of which nothing is known from earlier runs, or to all with `--refresh`; gives the others. */
async function loadCatalogs(host: Host, names: readonly string[], context: Context): Promise<ReadonlySet<string>> {
  const { refresh = false } = context.command.opts<{ readonly refresh?: boolean }>();
  // Of all servers, whoever is asked for: what a thing is called depends on what the others have.
  const recalled = await host.recall();
  const knowledge = refresh ? [] : recalled.filter(({ server }) => names.includes(server));
  const known = new Set(knowledge.map(({ server }) => server));
  const unknown = names.filter((name) => !known.has(name));
  await connectServers(host, unknown, context);
  for (const { server, savedAt = Date.now() } of knowledge) {
    const age = Date.now() - savedAt;
    if (age > day)
      context.out.say(safe`"${toSafeLine(server)}" as it was ${ageWords(age)} ago; --refresh asks it again`);
  }
  return known;
}

/** Why a server could not be asked. */
export function printRefusal(state: ServerState, out: Output): void {
  const { message, next } = notConnectedError(state);
  out.say(safe`${toSafeLine(message)}${next === undefined ? safe`` : safe`\n  next: ${toSafeLine(next)}`}`);
}

/** Lists that were not read to their end. */
export function warnOfTruncatedLists(
  host: Host,
  server: string | undefined,
  kinds: readonly ListKind[],
  { out }: Pick<Context, "out">,
): void {
  const names = server === undefined ? host.states().map(({ name }) => name) : [server];
  for (const name of names)
    for (const { kind, reason } of host.catalog(name)?.truncated ?? [])
      if (kinds.includes(kind)) out.warn(safe`"${toSafeLine(name)}": the list is cut: ${toSafeLine(reason)}`);
}
