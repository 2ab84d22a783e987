/** The text of `/tools` and `/mcp desc`: the tools that the model has, then those it does not have, with the reason. */

import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { groupBy } from "../../output/group-by.ts";
import { serverToolsText } from "../../output/tools/tool-list.ts";
import type { Services } from "../services.ts";
import { lookFor } from "./listing.ts";

export function toolListText(server: string | undefined, isWhole: boolean, services: Services): SafeText {
  const { host, conversation } = services.session;
  const meant = new Set(host.tools(server).map((tool) => tool.server));
  const inside = conversation.tools();
  const tools = inside.filter((tool) => meant.has(tool.server));
  if (server !== undefined && tools.length === 0 && meant.size > 0)
    return joinSafe([
      serverToolsText(server, host.tools(server), { ...lookFor(services), all: isWhole }, host.hidden(server)),
      safe`\n  not available to the model: the demo server is only used while no other server is configured`,
    ]);
  const texts = [...groupBy(tools, (tool) => tool.server)].map(([name, own]) => {
    const offered = host
      .tools(name)
      .filter(({ serverToolName }) => own.some((tool) => tool.serverToolName === serverToolName && tool.enabled));
    return joinSafe([
      serverToolsText(name, offered, { ...lookFor(services), all: isWhole }, host.hidden(name)),
      ...absentLines(own),
    ]);
  });
  return texts.length === 0 ? safe`No tools found.` : joinSafe(texts, safe`\n\n`);
}

function absentLines(tools: readonly ConversationTool[]): readonly SafeText[] {
  const off = tools.filter(({ enabled }) => !enabled).map(({ serverToolName }) => toVisibleLine(serverToolName));
  const set = tools.filter(({ enabled, quarantined }) => enabled && quarantined !== undefined);
  return [
    ...(off.length === 0 ? [] : [safe`\n  off in this conversation: ${joinSafe(off, safe`, `)}`]),
    ...set.map(
      ({ serverToolName, quarantined = "" }) =>
        safe`\n  quarantined: ${toVisibleLine(serverToolName)}: ${toVisibleLine(quarantined)}`,
    ),
  ];
}
