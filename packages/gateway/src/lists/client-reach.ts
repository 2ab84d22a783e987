/**
 * Decides which servers and tools a client may use: by `--servers`, `--tools`, the URL and the client's profile in the
 * settings.
 */

import { demoName, type OpenedHost } from "@fairlead/core/host";
import type { GatewayClient } from "../gateway-client.ts";

/** The servers and tools that one client may use. */
export interface ClientReach {
  /** The server in the URL `/mcp/<server>`. Undefined if the client uses `/mcp`. */
  readonly only: string | undefined;
  /** The names of the servers that the client may use, in the order of the settings. */
  readonly servers: readonly string[];
  readonly hasTool: (server: string, tool: string) => boolean;
}

/**
 * Returns what the client may use. The demo server is included only if it is the only server, or if the client's
 * options, URL or profile name it.
 */
export function reachOf(client: GatewayClient, host: Pick<OpenedHost, "states" | "gateway">): ClientReach {
  const { only } = client;
  const profile = host.gateway.clientProfile(client.name);
  const serverLists = [client.servers, profile?.servers].flatMap((list) => (list === undefined ? [] : [list]));
  const toolLists = [client.tools, profile?.tools].flatMap((list) => (list === undefined ? [] : [list]));
  const states = host.states();
  const isNamed = (name: string): boolean => only === name || serverLists.some((list) => list.includes(name));
  const servers = states.flatMap(({ name, status }) => {
    if (only !== undefined && only !== name) return [];
    if (serverLists.some((list) => !list.includes(name))) return [];
    if (name === demoName && states.length > 1 && !isNamed(name)) return [];
    return only === undefined && (status === "disabled" || status === "blocked") ? [] : [name];
  });
  return {
    only,
    servers,
    hasTool: (server, tool) =>
      servers.includes(server) &&
      toolLists.every((list) => list.some((pattern) => matches(pattern, `${server}.${tool}`))),
  };
}

function matches(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at === -1 || at + part.length > name.length - last.length) return false;
    from = at + part.length;
  }
  return true;
}
