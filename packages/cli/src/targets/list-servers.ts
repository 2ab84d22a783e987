/** Lists servers for `fairlead mcp list`. Connects to the servers, or uses the catalog cache. */

import type { OpenedHost } from "@fairlead/core/host";
import { joinSafe, type SafeText } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { isConnectSettled, type ListedServer } from "../output/servers/server-state.ts";
import type { Context } from "../shell/verb.ts";
import { signedIn } from "../sign-in/signed-in.ts";
import { backgroundFor } from "./background.ts";
import { connectServers, createWaitingLine } from "./connect-servers.ts";
import { useHost } from "./with-host.ts";

/** Adds what is known before connecting: the sign-in, and who shares the connections of a server that may start. */
async function withSignIns(
  listed: readonly ListedServer[],
  host: OpenedHost,
  configuration: Configuration,
): Promise<readonly ListedServer[]> {
  const signIns = await signedIn(configuration);
  return listed.map((one) => {
    const { server, state } = one;
    const mayStart = state.status === "disconnected" && state.reason === "lazy";
    return {
      ...one,
      signIn: signIns.get(server.name),
      share: mayStart ? host.gateway.servers.get(server.name).shareOf() : undefined,
    };
  });
}

/** Adds the failed starts, and the estimated number of tokens of each server's tool definitions. */
async function withCosts(listed: readonly ListedServer[], host: OpenedHost): Promise<readonly ListedServer[]> {
  const servers = listed.map(({ server }) => server.name);
  const [failed, tools] = await Promise.all([host.failedStarts(), host.toolOffers({ servers })]);
  const tokens = new Map<string, number>();
  for (const tool of tools) tokens.set(tool.server, (tokens.get(tool.server) ?? 0) + tool.tokens);
  return listed.map((one) => {
    const { name } = one.server;
    return {
      ...one,
      failed: failed.find(({ server }) => server === name),
      tokens: tokens.get(name),
      flags: host.flags(name),
    };
  });
}

/** Prints all servers with data from the catalog cache. Connects to no server. Prints nothing with `--json`. */
export async function listCachedServers(
  listed: readonly ListedServer[],
  configuration: Configuration,
  context: Context,
  toText: (one: ListedServer) => SafeText,
): Promise<readonly ListedServer[]> {
  const recalled = await useHost(configuration, context, async (host) => {
    const cached = await host.recall();
    const all = await withCosts(await withSignIns(listed, host, configuration), host);
    return all.map((one) => ({ ...one, cachedCatalog: cached.find(({ server }) => server === one.server.name) }));
  });
  if (!context.globals.json) context.out.print(joinSafe(recalled.map(toText)));
  return recalled;
}

/**
 * Connects to all servers that may start, and prints all servers. On a terminal, prints each server as soon as it is
 * connected or has failed. Without a terminal, prints them at the end, in the order of the settings.
 *
 * @param before All servers in the order of the settings, before connecting.
 * @param toText Formats one server.
 */
export function listServers(
  before: readonly ListedServer[],
  configuration: Configuration,
  context: Context,
  toText: (one: ListedServer) => SafeText,
): Promise<readonly ListedServer[]> {
  const { io, out, globals } = context;
  const isLive = io.stdout.isTTY === true && !globals.json;
  const shown = new Set<string>();
  const show = (one: ListedServer): void => {
    if (shown.has(one.server.name)) return;
    shown.add(one.server.name);
    out.print(toText(one));
  };

  const look = async (host: OpenedHost): Promise<readonly ListedServer[]> => {
    const changed = new Map<string, readonly string[]>();
    const shows: Promise<void>[] = [];
    const listed = await withSignIns(before, host, configuration);
    host.on("catalog", ({ server, tools }) => void changed.set(server, tools.changed));
    if (isLive) for (const one of listed) if (isConnectSettled(one.state)) show(one);
    const names = listed.filter(({ state }) => !isConnectSettled(state)).map(({ server }) => server.name);
    const waiting = createWaitingLine(context);
    await connectServers(host, names, context, {
      waiting,
      onSettled(state) {
        const one = listed.find(({ server }) => server.name === state.name);
        if (!isLive || one === undefined) return;
        const showing = withCosts([{ ...one, state, changed: changed.get(state.name) }], host).then(([reached]) => {
          // The status line (`files: connecting (3 s)`) must be erased before other text is printed.
          waiting.hide();
          if (reached !== undefined) show(reached);
        });
        // After Ctrl-C, the host is closed and nothing waits for this.
        showing.catch(() => undefined);
        shows.push(showing);
      },
    });
    await Promise.all(shows);
    const states = new Map(host.states().map((state) => [state.name, state]));
    const settled = listed.map((one) => {
      const { name } = one.server;
      return { ...one, state: states.get(name) ?? one.state, changed: changed.get(name) };
    });
    const reached = await withCosts(settled, host);
    if (isLive) for (const one of reached) show(one);
    else if (!globals.json) out.print(joinSafe(reached.map(toText)));
    return reached;
  };
  return useHost(configuration, context, look, { background: backgroundFor(configuration, context, true) });
}
