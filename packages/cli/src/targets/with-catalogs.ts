/** Opens a host and loads the catalogs that a list command shows, such as `fairlead tools`. */

import type { ServerState } from "@fairlead/core/events";
import { demoName, type Host } from "@fairlead/core/host";
import { type ListKind, notConnectedError } from "@fairlead/core/server";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Command } from "commander";
import { errorLines, type Output } from "../output/output.ts";
import { ageWords, day } from "../output/time-text.ts";
import { configurationOf } from "../shell/configuration.ts";
import { type Context, usageError } from "../shell/verb.ts";
import { isAddress, openAdHoc } from "./ad-hoc.ts";
import { backgroundFor, defineAloneOption } from "./background.ts";
import { connectServers, skippedError } from "./connect-servers.ts";
import { useHost } from "./with-host.ts";

/** Returns the first paragraph of a list command's help. */
export function listHelp(items: "tools" | "prompts" | "resources" | "skills"): string {
  return `
Lists the ${items} of all configured servers that may start, or only of the given
server. Connects to servers that have no cached catalog. The built-in server
"demo" is listed if no other server is configured, or if you name it. Servers
that cannot be reached are reported on stderr.
`;
}

/** Adds the argument `[server]` and the option `--refresh` to a list command. */
export function defineListOptions(command: Command, items: "tools" | "prompts" | "resources" | "skills"): void {
  command
    .argument("[server]", `only the ${items} of this server: its name, or a URL`)
    .option("--refresh", "connect to the servers instead of using the catalog cache");
  defineAloneOption(command);
}

/** A host with loaded catalogs, and which server's catalog the command shows. */
export interface CatalogScope {
  readonly host: Host;
  /** The server whose tools, prompts or resources are listed. Undefined for all servers. */
  readonly server: string | undefined;
  /**
   * Whether the user gave a URL or `--stdio` instead of a name. The server is then not in the settings, so other
   * commands cannot find it by name.
   */
  readonly isTyped: boolean;
}

/** Loads the catalogs that a list command shows, and passes them to `use`. Reports unreachable servers on stderr. */
export async function withCatalogs(
  context: Context,
  use: (scope: CatalogScope) => void | Promise<void>,
): Promise<void> {
  const { server, configuration, isTyped, keep } = await choose(context);
  // If the user names no server, `demo` is listed only if no server is configured.
  const configured = configuration.servers.map((entry) => entry.server.name);
  const all = configured.length === 0 ? [demoName] : configured;
  const background = isTyped ? undefined : backgroundFor(configuration, context);
  const show = async (host: Host): Promise<void> => {
    const { cachedNames, skipped } = await loadCatalogs(host, server, all, context);
    for (const state of host.states()) {
      if (state.status === "connected" || cachedNames.has(state.name)) continue;
      const failed = skipped.find((other) => other.server === state.name);
      if (failed !== undefined) {
        context.out.say(errorLines(skippedError(failed, Date.now())));
        continue;
      }
      if (state.name === server) throw notConnectedError(state);
      if (server === undefined && all.includes(state.name)) printRefusal(state, context.out);
    }
    await keep?.();
    await use({ host, server, isTyped });
  };
  await useHost(configuration, context, show, { background });
}

/**
 * Returns the server that the user gave as a name, as a URL or with `--stdio`. Without a name, the server is added to
 * `configuration`.
 */
async function choose(context: Context) {
  const [operand] = context.operands;
  const configuration = await configurationOf(context);
  const address = isAddress(operand) ? operand : undefined;
  const typed = await openAdHoc(address, configuration, context);
  if (typed === undefined) return { server: operand, configuration, isTyped: false };
  if (operand !== address) throw usageError(`"${operand}" and --stdio both name a server: give only one`, context);
  return { server: typed.name, configuration: typed.configuration, isTyped: true, keep: typed.keep };
}

/**
 * Connects to the listed servers that have no cached catalog. With `--refresh`, connects to all listed servers. Skips
 * servers that failed in an earlier run, unless the user names the server or sets `--refresh`.
 */
async function loadCatalogs(host: Host, server: string | undefined, all: readonly string[], context: Context) {
  const names = server === undefined ? all : [server];
  const { refresh = false } = context.command.opts<{ readonly refresh?: boolean }>();
  // Loads the cached catalogs of all servers, because the name that a model sees for a tool depends on them.
  const recalled = await host.recall();
  const cached = refresh ? [] : recalled.filter((one) => names.includes(one.server));
  const cachedNames = new Set(cached.map((one) => one.server));
  const unknown = names.filter((name) => !cachedNames.has(name));
  const failed = refresh || server !== undefined || unknown.length === 0 ? [] : await host.failedStarts();
  const skipped = failed.filter((other) => unknown.includes(other.server));
  await connectServers(
    host,
    unknown.filter((name) => !skipped.some((other) => other.server === name)),
    context,
  );
  for (const { server: name, savedAt = Date.now() } of cached) {
    const age = Date.now() - savedAt;
    if (age > day)
      context.out.say(
        safe`catalog of "${toSafeLine(name)}" cached ${ageWords(age)} ago; add --refresh to read it again`,
      );
  }
  return { cachedNames, skipped };
}

/** Prints on stderr why a server is not connected. */
export function printRefusal(state: ServerState, out: Output): void {
  out.say(errorLines(notConnectedError(state)));
}

/** Warns about lists that Fairlead did not read to the end. `server`: undefined for all servers. */
export function warnOfTruncatedLists(
  host: Host,
  server: string | undefined,
  kinds: readonly ListKind[],
  { out }: Pick<Context, "out">,
): void {
  const names = server === undefined ? host.states().map(({ name }) => name) : [server];
  for (const name of names)
    for (const { kind, reason } of host.catalog(name)?.truncated ?? [])
      if (kinds.includes(kind)) out.warn(safe`"${toSafeLine(name)}": list truncated: ${toSafeLine(reason)}`);
}
