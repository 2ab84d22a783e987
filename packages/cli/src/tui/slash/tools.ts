/** `/tools`, `/resources` and `/prompts`: list what the servers offer. */

import { HostError } from "@fairlead/core/errors";
import { closest, groupBy } from "@fairlead/core/plain-text";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ConversationTool, OfferedTool } from "@fairlead/core/turn";
import { promptsText, resourcesText, serverToolsText, sharedUris, textByServer } from "../../output/tools/lists.ts";
import { callName } from "../input/call-words.ts";
import type { Services } from "../services.ts";
import { lookFor, namedServer, type SlashCommand, serverNames, wordsOf } from "./command.ts";
import { asTyped } from "./prompt-commands.ts";

/** `/tools`: lists the tools of the conversation, and switches tools on and off. */
export const tools: SlashCommand = {
  name: "tools",
  summary: "list the tools of this conversation, or switch tools on or off",
  usage: "[SERVER] | [on|off] SERVER[.TOOL]",
  complete([first, ...others], services) {
    const switches = [
      { value: "on", about: "offer switched-off tools to the model again" },
      { value: "off", about: "do not offer tools to the model in this conversation" },
    ];
    if (first === undefined) return [...switches, ...serverNames(services)];
    if (others.length > 0 || (first !== "on" && first !== "off")) return [];
    const changeable = services.session.conversation.tools().filter(({ enabled }) => enabled === (first === "off"));
    return [
      ...changeable.map((tool) => ({ value: callName(tool), about: tool.description })),
      ...serverNames(services),
    ];
  },
  async run(line, services) {
    const [first, ...names] = wordsOf(line);
    if ((first === "on" || first === "off") && names.length > 0) return toggle(names, first === "on", services);
    const server = namedServer(line, services);
    services.session.show("/tools", toolListText(server, false, services, await offersIn(services)));
  },
};

/** Returns which tools the model gets. Before the first message, asks the host which tools it would choose now. */
async function offersIn({ session: { conversation, host } }: Services): Promise<readonly OfferedTool[]> {
  const { model, history } = conversation;
  if (model.provider === "manual") return [];
  return history.length === 0 ? host.toolOffers({ model }) : conversation.offers();
}

function toggle(names: readonly string[], isOn: boolean, { session }: Services): void {
  const { conversation, note } = session;
  const all = conversation.tools();
  const meant = names.flatMap((name) => toolsNamed(name, all));
  for (const { server, serverToolName } of meant) conversation.setTool(server, serverToolName, isOn);
  const words = isOn ? "Switched on" : "Switched off";
  note("info", `${words}: ${meant.map(callName).join(", ")}`, `/tools ${isOn ? "off" : "on"} ${names.join(" ")}`);
}

/** The name may be a server (all its tools), `server.tool`, or the name that the model sees. */
function toolsNamed(name: string, all: readonly ConversationTool[]): readonly ConversationTool[] {
  const meant = all.filter((tool) => [tool.server, callName(tool), tool.name].includes(name));
  if (meant.length > 0) return meant;
  const near = closest(name, all.map(callName));
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  throw new HostError("tool_unknown", `this conversation has no tool "${name}"${hint}`, { next: "/tools" });
}

/**
 * Returns the text of `/tools` and `/mcp desc`: the tools of each server, and why the model does not get some of them.
 */
export function toolListText(
  server: string | undefined,
  isWhole: boolean,
  services: Services,
  offeredTools: readonly OfferedTool[] = [],
): SafeText {
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
      ...offerLines(offeredTools.filter((tool) => tool.server === name)),
      ...absentLines(own),
    ]);
  });
  return texts.length === 0 ? safe`No tools found.` : joinSafe(texts, safe`\n\n`);
}

/** Says which tools of one server are sent to the model with each request, and which the model must search for. */
function offerLines(tools: readonly OfferedTool[]): readonly SafeText[] {
  const byReason = [...groupBy(tools, ({ reason }) => reason)];
  return byReason.map(([reason, some]) => {
    const names = some.map(({ serverToolName }) => toVisibleLine(serverToolName));
    const which = byReason.length === 1 ? safe`all` : joinSafe(names, safe`, `);
    const how = some.some(({ offered }) => offered) ? safe`offered to the model directly` : safe`found by search only`;
    return safe`\n  ${how}: ${which} (${toVisibleLine(reason)})`;
  });
}

function absentLines(tools: readonly ConversationTool[]): readonly SafeText[] {
  const off = tools.filter(({ enabled }) => !enabled).map(({ serverToolName }) => toVisibleLine(serverToolName));
  const set = tools.filter(({ enabled, quarantined }) => enabled && quarantined !== undefined);
  return [
    ...(off.length === 0 ? [] : [safe`\n  switched off in this conversation: ${joinSafe(off, safe`, `)}`]),
    ...set.map(
      ({ serverToolName, quarantined = "" }) =>
        safe`\n  quarantined: ${toVisibleLine(serverToolName)}: ${toVisibleLine(quarantined)}`,
    ),
  ];
}

/** `/resources`: lists the resources of servers. */
export const resources: SlashCommand = {
  name: "resources",
  summary: "list the servers' resources; to use one in a message, type @ and its name",
  usage: "[SERVER]",
  complete: ([server], services) => (server === undefined ? serverNames(services) : []),
  run(line, services) {
    const { session } = services;
    const found = session.host.resources(namedServer(line, services));
    const text = textByServer(found, (server, own) =>
      resourcesText(server, own, { ...lookFor(services), isShared: sharedUris(session.host.resources()) }),
    );
    session.show("/resources", text ?? "No resources found.");
  },
};

/** `/prompts`: lists the prompts of servers. Each prompt is a slash command. */
export const prompts: SlashCommand = {
  name: "prompts",
  summary: "list the servers' prompts",
  usage: "[SERVER]",
  complete: ([server], services) => (server === undefined ? serverNames(services) : []),
  run(line, services) {
    const { session } = services;
    const commands = session.commands();
    const found = session.host.prompts(namedServer(line, services));
    const text = textByServer(found, (server, own) => promptsText(server, asTyped(own, commands), lookFor(services)));
    session.show("/prompts", text ?? "No prompts found.");
  },
};
