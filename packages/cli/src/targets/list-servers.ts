/** Lists servers for `fairlead mcp list`. Connects to the servers, or uses the catalog cache. */

import type { Host } from "@fairlead/core/host";
import type { SharedBy } from "@fairlead/core/settings/define/definition";
import { joinSafe, type SafeText } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { isConnectSettled, type ListedServer } from "../output/servers/server-state.ts";
import type { Context } from "../shell/verb.ts";
import { signedIn } from "../sign-in/signed-in.ts";
import { connectServers, createWaitingLine } from "./connect-servers.ts";
import { useHost } from "./with-host.ts";

/** Returns the estimated number of tokens of each server's tool definitions. Servers without tools are left out. */
async function tokensByServer(host: Host, servers?: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  for (const { server, tokens } of await host.toolOffers(servers === undefined ? {} : { servers }))
    sums.set(server, (sums.get(server) ?? 0) + tokens);
  return sums;
}

/** Prints all servers with data from the catalog cache. Connects to no server. Prints nothing with `--json`. */
export async function listCachedServers(
  listed: readonly ListedServer[],
  configuration: Configuration,
  context: Context,
  toText: (one: ListedServer) => SafeText,
): Promise<readonly ListedServer[]> {
  const { out, globals } = context;
  const { cached, failed, tokens, shares } = await useHost(configuration, context, async (host) => {
    const [recalled, failures] = await Promise.all([host.recall(), host.failedStarts()]);
    return { cached: recalled, failed: failures, tokens: await tokensByServer(host), shares: sharesOf(listed, host) };
  });
  const signIns = await signedIn(configuration);
  const recalled = listed.map(
    (one): ListedServer => ({
      ...one,
      cachedCatalog: cached.find(({ server }) => server === one.server.name),
      failed: failed.find(({ server }) => server === one.server.name),
      signIn: signIns.get(one.server.name),
      tokens: tokens.get(one.server.name),
      share: shares.get(one.server.name),
    }),
  );
  if (!globals.json) out.print(joinSafe(recalled.map(toText)));
  return recalled;
}

/**
 * Connects to all servers that may start, and prints all servers. On a terminal, prints each server as soon as it is
 * connected or has failed. Without a terminal, prints them at the end, in the order of the settings.
 *
 * @param listed All servers in the order of the settings, before connecting.
 * @param toText Formats one server.
 */
export function listServers(
  listed: readonly ListedServer[],
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

  return useHost(configuration, context, async (host) => {
    const changed = new Map<string, readonly string[]>();
    const shows: Promise<void>[] = [];
    const signIns = await signedIn(configuration);
    host.on("catalog", ({ server, tools }) => void changed.set(server, tools.changed));
    if (isLive) for (const one of listed) if (isConnectSettled(one.state)) show(one);
    const names = listed.filter(({ state }) => !isConnectSettled(state)).map(({ server }) => server.name);
    const waiting = createWaitingLine(context);
    // The status line (`files: connecting (3 s)`) must be erased before other text is printed.
    const showNow = (one: ListedServer): void => {
      waiting.hide();
      show(one);
    };
    await connectServers(host, names, context, {
      waiting,
      onSettled(state) {
        const one = listed.find(({ server }) => server.name === state.name);
        if (!isLive || one === undefined) return;
        const reached = {
          ...one,
          state,
          changed: changed.get(state.name),
          signIn: signIns.get(state.name),
          share: host.shareOf(state.name),
        };
        const { name } = state;
        const showing =
          state.status === "connected"
            ? tokensByServer(host, [name]).then((tokens) => showNow({ ...reached, tokens: tokens.get(name) }))
            : host
                .failedStarts()
                .then((all) => showNow({ ...reached, failed: all.find((each) => each.server === name) }));
        // After Ctrl-C, the host is closed and nothing waits for this.
        showing.catch(() => undefined);
        shows.push(showing);
      },
    });
    await Promise.all(shows);
    const [failed, tokens] = await Promise.all([host.failedStarts(), tokensByServer(host)]);
    const states = new Map(host.states().map((state) => [state.name, state]));
    const shares = sharesOf(listed, host);
    const reached = listed.map(({ server, state }) => ({
      server,
      share: shares.get(server.name),
      state: states.get(server.name) ?? state,
      changed: changed.get(server.name),
      signIn: signIns.get(server.name),
      failed: failed.find((each) => each.server === server.name),
      tokens: tokens.get(server.name),
    }));
    if (isLive) for (const one of reached) show(one);
    else if (!globals.json) out.print(joinSafe(reached.map(toText)));
    return reached;
  });
}

function sharesOf(listed: readonly ListedServer[], host: Host): ReadonlyMap<string, SharedBy> {
  const startable = listed.filter(({ state }) => state.status === "disconnected" && state.reason === "lazy");
  return new Map(startable.map(({ server: { name } }) => [name, host.shareOf(name)]));
}
