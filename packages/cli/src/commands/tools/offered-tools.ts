/** Shows which tools are offered to models: `fairlead tools` with `--search`, `--tokens` or `--why`. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { groupBy } from "@fairlead/core/text/group-by";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { toShellWord } from "@fairlead/core/text/shell-word";
import type { OfferedTool } from "@fairlead/core/turn/conversation";
import { toolText } from "../../output/tools/lists.ts";
import { costsText, serverCosts } from "../../output/tools/tool-costs.ts";
import { toolDocument } from "../../output/tools/tool-document.ts";
import { columnsOf } from "../../output/wrap.ts";
import type { Context } from "../../shell/verb.ts";
import { findToolTarget, type TargetServer } from "../../targets/target.ts";

/** Lists the tools that `search_tools` finds for a model, best first. */
export async function showFound(host: Host, query: string, context: Context): Promise<void> {
  const { out, io, globals, command } = context;
  const { limit = 10, all = false } = command.opts<{ readonly limit?: number; readonly all?: boolean }>();
  const found = await host.searchTools(query, { limit });
  const byKey = new Map(host.tools().map((tool) => [`${tool.server}.${tool.serverToolName}`, tool]));
  const tools = found.flatMap(({ server, tool, score }) => {
    const listed = byKey.get(`${server}.${tool}`);
    return listed === undefined ? [] : [{ listed, score }];
  });
  if (globals.json) {
    out.json({ tools: tools.map(({ listed, score }) => ({ ...toolDocument(listed), score })) });
    return;
  }
  if (tools.length === 0) out.say(safe`No tool found for "${toSafeLine(query)}". All tools: fairlead tools`);
  const options = { style: out.style, columns: columnsOf(io.stdout), all };
  for (const { listed } of tools)
    out.show(toolText({ ...listed, serverToolName: `${listed.server}.${listed.serverToolName}` }, options));
}

/** Shows the estimated tokens of each tool and each server. */
export async function showCosts(host: Host, server: string | undefined, { out, globals }: Context): Promise<void> {
  const costs = serverCosts(await host.toolOffers(server === undefined ? {} : { servers: [server] }));
  if (!globals.json) {
    out.show(costsText(costs, out.style));
    return;
  }
  const listed = new Map(host.tools(server).map((tool) => [`${tool.server}.${tool.serverToolName}`, tool]));
  out.json({
    tools: costs.flatMap(({ tools }) =>
      tools.flatMap(({ server: name, serverToolName, tokens, offered }) => {
        const tool = listed.get(`${name}.${serverToolName}`);
        return tool === undefined ? [] : [{ ...toolDocument(tool), tokens, offered }];
      }),
    ),
    servers: costs.map(({ server: name, tokens }) => ({ name, tokens })),
    tokens: costs.reduce((sum, { tokens }) => sum + tokens, 0),
    isEstimate: true,
  });
}

/**
 * Prints whether models get the tool `word` directly, and why.
 * @throws HostError `usage`, `server_unknown` or `tool_unknown`
 */
export async function showWhy(host: Host, word: string, { out, globals }: Context): Promise<void> {
  const { server, tool } = findToolTarget(word, targetServers(host));
  const { offered, reason, tokens } = await offerOf(host, server, tool);
  if (globals.json) {
    out.json({ server, tool, offered, reason, tokens });
    return;
  }
  const how = offered ? safe`is offered to models directly` : safe`is not offered to models directly`;
  out.show(safe`${toVisibleLine(`${server}.${tool}`)} ${how}: ${toSafeLine(reason)}`);
}

function targetServers(host: Host): readonly TargetServer[] {
  const tools = groupBy([...host.tools(), ...host.quarantined(), ...host.hidden()], ({ server }) => server);
  return host.states().map(({ name }) => ({ name, tools: (tools.get(name) ?? []).map(nameOf) }));
}

function nameOf(tool: { readonly serverToolName: string }): string {
  return tool.serverToolName;
}

/** @throws HostError `tool_unknown` */
async function offerOf(
  host: Host,
  server: string,
  tool: string,
): Promise<Pick<OfferedTool, "offered" | "reason"> & { readonly tokens?: number }> {
  const isMeant = (one: { readonly server: string; readonly serverToolName: string }): boolean =>
    one.server === server && one.serverToolName === tool;
  const offeredTool = (await host.toolOffers()).find(isMeant);
  if (offeredTool !== undefined)
    return offeredTool.offered
      ? offeredTool
      : { ...offeredTool, reason: `${offeredTool.reason}; models find the tool by search` };
  const quarantined = host.quarantined().find(isMeant);
  if (quarantined !== undefined) return { offered: false, reason: quarantined.reason };
  const hidden = host.hidden().find(isMeant);
  if (hidden !== undefined) return { offered: false, reason: `${hidden.setting} in the settings hides this tool` };
  if (host.tools().some(isMeant)) return { offered: false, reason: "conversations do not use this tool's server" };
  throw new HostError("tool_unknown", `"${server}" has no tool "${tool}"`, {
    serverName: server,
    next: `fairlead tools ${toShellWord(server)}`,
  });
}
