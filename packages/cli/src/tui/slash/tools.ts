/** `/tools`: lists the tools of the conversation, and switches them on and off. */

import { HostError } from "@fairlead/core/errors";
import { closest } from "@fairlead/core/text/closest";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { callName } from "../input/call-words.ts";
import type { Services } from "../services.ts";
import { type BuiltIn, serverNames } from "./command.ts";
import { namedServer } from "./listing.ts";
import { toolListText } from "./tool-text.ts";
import { wordsOf } from "./words.ts";

export const tools: BuiltIn = {
  name: "tools",
  summary: "list the tools of this conversation, or switch some on or off",
  usage: "[SERVER] | [on|off] SERVER[.TOOL]",
  complete([first, ...others], services) {
    const switches = [
      { value: "on", about: "add tools to this conversation again" },
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
  run(line, services) {
    const [first, ...names] = wordsOf(line);
    if ((first === "on" || first === "off") && names.length > 0) return toggle(names, first === "on", services);
    services.session.show("/tools", toolListText(namedServer(line, services), false, services));
  },
};

function toggle(names: readonly string[], isOn: boolean, { session }: Services): void {
  const { conversation, note } = session;
  const all = conversation.tools();
  const meant = names.flatMap((name) => toolsNamed(name, all));
  for (const { server, serverToolName } of meant) conversation.setTool(server, serverToolName, isOn);
  const words = isOn ? "Switched on" : "Switched off";
  note("info", `${words}: ${meant.map(callName).join(", ")}`, `/tools ${isOn ? "off" : "on"} ${names.join(" ")}`);
}

/** All tools of a server, or one tool. */
function toolsNamed(name: string, all: readonly ConversationTool[]): readonly ConversationTool[] {
  const meant = all.filter((tool) => [tool.server, callName(tool), tool.name].includes(name));
  if (meant.length > 0) return meant;
  const near = closest(name, all.map(callName));
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  throw new HostError("tool_unknown", `this conversation has no tool "${name}"${hint}`, { next: "/tools" });
}
