/**
 * Answers `initialize` and `server/discover`. At `/mcp`, the gateway appears as one server with all tools. At
 * `/mcp/<server>`, it appears as that server.
 */

import { loopReason } from "@fairlead/core/connect";
import type { ServerDescription } from "@fairlead/core/host";
import { skillsExtension, uiExtension } from "@fairlead/core/server";
import { toSafeLine } from "@fairlead/core/text/safe-text";
import type { Era, JsonObject } from "@fairlead/wire";
import { isObject, objectOf } from "@fairlead/wire/json";
import { mentionsFairlead, withServerName } from "../questions/server-label.ts";
import type { BridgeContext } from "./bridge-context.ts";
import { hasViews } from "./extensions.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";
import { skillsCapability } from "./skills.ts";
import { hasTasks, tasksExtension } from "./tasks.ts";

/** The gateway's name, capabilities and instructions for one client. */
export interface GatewayGreeting {
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
}

/** The capabilities for clients of `/mcp`. They do not depend on the configured servers. */
const merged: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

/** The server capabilities that clients of `/mcp/<server>` may see. */
const passedOn = ["tools", "prompts", "resources", "completions", "logging", "experimental"];
/** Maximum length of one server's instructions, in characters. All instructions together may have ten times as many. */
const mostOfServer = 2000;

/**
 * Returns what the client learns first. For `/mcp/<server>`, connects to the server if its catalog is not cached.
 * @throws WireError if the client cannot use the server in its URL, or can use none because `--servers` has unknown
 * names
 */
export async function greet(context: BridgeContext, era: Era): Promise<GatewayGreeting> {
  const { client, workspace, serverInfo, view } = context;
  const { host } = workspace;
  if (client.only !== undefined) {
    if (!view().servers.includes(client.only))
      throw rpcError(
        rpcCodes.invalidParams,
        `server "${toSafeLine(client.only.slice(0, 200))}" is not configured, or is not allowed for this client`,
        {
          reason: "server_unknown",
        },
      );
    const { only } = client;
    const facts = factsOf(workspace, only) ?? (await connectedFacts(context, only, era));
    return {
      serverInfo: facts === undefined ? serverInfo : labelledInfo(facts.serverInfo, only),
      capabilities: {
        ...Object.fromEntries(
          Object.entries(facts?.capabilities ?? merged).filter(
            ([name, value]) => passedOn.includes(name) && isObject(value),
          ),
        ),
        ...extensionsOf(context, era),
      },
      instructions: facts?.instructions === undefined ? undefined : labelledText(facts.instructions, only),
    };
  }
  const servers = view().servers;
  const unknown = client.servers?.filter((name) => host.states().every((state) => state.name !== name)) ?? [];
  if (servers.length === 0 && unknown.length > 0)
    throw rpcError(
      rpcCodes.invalidParams,
      `this client can use no server: --servers names ${toSafeLine(unknown.join(", ").slice(0, 200))}, which the settings do not contain; to list the servers, run: fairlead mcp list`,
      { reason: "server_unknown" },
    );
  const own = `Fairlead passes requests on to ${servers.length === 1 ? "the MCP server" : "these MCP servers"}: ${servers.join(", ")}. If a request needs a person's approval, the response says how to approve it.`;
  const theirs = servers.flatMap((server) => {
    const { instructions } = factsOf(workspace, server) ?? {};
    return instructions === undefined ? [] : [`${server}: ${instructions.slice(0, mostOfServer)}`];
  });
  return {
    serverInfo,
    capabilities: { ...merged, ...extensionsOf(context, era) },
    instructions: [own, ...theirs].join("\n\n").slice(0, 10 * mostOfServer),
  };
}

/** The members of `serverInfo` that clients show. */
const shownInfo = ["name", "title", "description"];

/** Adds the server's name to what the server says of itself, if a person may take it for Fairlead. */
function labelledInfo(info: JsonObject, server: string): JsonObject {
  const entries = Object.entries(info).map(([member, value]) => {
    const isShown = shownInfo.includes(member) && typeof value === "string";
    return [member, isShown ? labelledText(value, server) : value] as const;
  });
  return Object.fromEntries(entries);
}

function labelledText(text: string, server: string): string {
  return mentionsFairlead(text) ? withServerName(text, server, "says") : text;
}

/**
 * Takes the tokens of the gateways above the client from its first request. Returns `_meta` for the answer, with the
 * tokens of this gateway and those below.
 * @throws WireError if this gateway is among those above
 */
export async function meetGateways({ workspace, loops, view }: BridgeContext, params: JsonObject): Promise<JsonObject> {
  const above = await loops.read("above", objectOf(params["_meta"]));
  if (above === "loop")
    throw rpcError(rpcCodes.refused, "this gateway is already above its client: it would be a server of itself", {
      reason: loopReason,
    });
  workspace.setAbove(above, (server) => view().servers.includes(server));
  return loops.metaOf("below", workspace.below(view().servers));
}

/** Declares what at least one of the client's servers has and the gateway passes on: views, skills, and tasks to a modern client. */
function extensionsOf({ workspace, view }: BridgeContext, era: Era): JsonObject {
  const { servers, views } = view();
  const declared = servers.map((server) => factsOf(workspace, server)?.capabilities);
  // A client reads the capabilities once, and a server that was never connected may have views or skills.
  const isUnknown = declared.includes(undefined);
  const extensions: JsonObject = {
    ...((isUnknown || views.size > 0 || declared.some(hasViews)) && { [uiExtension]: {} }),
    ...(isUnknown ? { [skillsExtension]: { directoryRead: true } } : skillsCapability(declared)),
    ...(era === "modern" && declared.some(hasTasks) && { [tasksExtension]: {} }),
  };
  return Object.keys(extensions).length === 0 ? {} : { extensions };
}

/** What a server reported about itself, on its shared connection or on an earlier one. */
function factsOf({ host }: BridgeContext["workspace"], server: string): ServerDescription | undefined {
  return host.gateway.servers.find(server)?.facts();
}

async function connectedFacts({ workspace }: BridgeContext, server: string, era: Era) {
  const connection = await workspace.connectionOf(server, era);
  await Promise.allSettled([connection.startForClient()]);
  return workspace.host.gateway.servers.find(server)?.facts(connection);
}
