/** `/tools`, `/resources` and `/prompts`: list the catalogs of the servers. */

import { HostError } from "@fairlead/core/errors";
import { closest } from "@fairlead/core/text/closest";
import { groupBy } from "@fairlead/core/text/group-by";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { ConversationTool, OfferedTool } from "@fairlead/core/turn/conversation";
import { promptsText, resourcesText, serverToolsText, sharedUris, textByServer } from "../../output/tools/lists.ts";
import { callName } from "../input/call-words.ts";
import type { Services } from "../services.ts";
import { type BuiltIn, lookFor, namedServer, serverNames, wordsOf } from "./command.ts";
import { asTyped } from "./prompt-commands.ts";

/** `/tools`: lists the tools of the conversation, and switches them on and off. */
export const tools: BuiltIn = {
  name: "tools",
  summary: "list the tools of this conversation, or switch some on or off",
  usage: "[SERVER] | [on|off] SERVER[.TOOL]",
  complete([first, ...others], services) {
    const switches = [
      { value: "on", about: "put removed tools back into this conversation" },
      { value: "off", about: "remove tools from this conversation" },
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

/**
 * Returns the tools that the model is offered. Before the first request, these are the tools that it would be offered
 * now.
 */
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

/** Finds the tools that a name means: all tools of a server, or one tool. */
function toolsNamed(name: string, all: readonly ConversationTool[]): readonly ConversationTool[] {
  const meant = all.filter((tool) => [tool.server, callName(tool), tool.name].includes(name));
  if (meant.length > 0) return meant;
  const near = closest(name, all.map(callName));
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  throw new HostError("tool_unknown", `this conversation has no tool "${name}"${hint}`, { next: "/tools" });
}

/**
 * Returns the text of `/tools` and `/mcp desc`: the tools of each server, and the reason why the model does not get
 * some of these tools.
 */
export function toolListText(
  server: string | undefined,
  isWhole: boolean,
  services: Services,
  offers: readonly OfferedTool[] = [],
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
      ...offerLines(offers.filter((tool) => tool.server === name)),
      ...absentLines(own),
    ]);
  });
  return texts.length === 0 ? safe`No tools found.` : joinSafe(texts, safe`\n\n`);
}

/**
 * Lists the tools of one server by the reason why the model is offered them directly, or why it must search for them.
 */
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
    ...(off.length === 0 ? [] : [safe`\n  off in this conversation: ${joinSafe(off, safe`, `)}`]),
    ...set.map(
      ({ serverToolName, quarantined = "" }) =>
        safe`\n  quarantined: ${toVisibleLine(serverToolName)}: ${toVisibleLine(quarantined)}`,
    ),
  ];
}

/** `/resources`: lists the resources of servers. */
export const resources: BuiltIn = {
  name: "resources",
  summary: "resources offered by servers; in a message, refer to one with @",
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
export const prompts: BuiltIn = {
  name: "prompts",
  summary: "prompts offered by servers",
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
