/** `fairlead tools`: what can be called, as signatures to read or as schemas to work with. */

import type { ServerState } from "@fairlead/core/events";
import { demoName, type HostTool } from "@fairlead/core/host";
import { refusal } from "@fairlead/core/mcp/server-state";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { commandWord } from "../command-word.ts";
import { connectServers } from "../connect-servers.ts";
import type { Output, Style } from "../output/output.ts";
import { exampleCall, signature } from "../output/signature.ts";
import type { Verb } from "../verb.ts";
import { withHost } from "../with-host.ts";

export const verb: Verb = {
  define(command) {
    command.argument("[server]", "only the tools of this server").addHelpText(
      "after",
      `
Connects to all configured servers that may start, or only to the one that is
named, and lists their tools. The built-in server "demo" is listed when nothing
else is configured, or when it is named. A server that cannot be connected to is
named on stderr.

Examples:
  fairlead tools
  fairlead tools demo
  fairlead tools demo --json`,
    );
  },

  run: (context) =>
    withHost(context, async (host, { servers }) => {
      const { io, out, globals, operands } = context;
      const [server] = operands;
      // The demo server stands in only where there is nothing else.
      const all = servers.length === 0 ? [demoName] : servers.map((configured) => configured.server.name);
      await connectServers(host, server === undefined ? all : [server], context);
      const tools = host.tools(server);
      for (const state of host.states()) {
        if (state.status === "connected") continue;
        if (state.name === server) throw refusal(state);
        if (server === undefined && all.includes(state.name)) explain(state, out);
      }
      if (globals.json) return out.json({ tools: tools.map(toDocument), quarantined: [] });
      const command = commandWord(io);
      const [first] = tools;
      if (first === undefined) return out.say(safe`No tools to show. To see some: ${command} tools demo`);
      for (const name of new Set(tools.map((tool) => tool.server)))
        out.print(
          groupText(
            name,
            tools.filter((tool) => tool.server === name),
            out.style,
          ),
        );
      out.say(safe`\nTry: ${command} call ${exampleCall(first)}`);
    }),
};

function explain(state: ServerState, out: Output): void {
  const { message, next } = refusal(state);
  out.say(safe`${toSafeLine(message)}${next === undefined ? safe`` : safe`\n  next: ${toSafeLine(next)}`}`);
}

function toDocument({
  name,
  server,
  serverToolName,
  description,
  parametersJsonSchema,
  annotations,
  decision,
}: HostTool): object {
  return {
    name,
    server,
    serverToolName,
    description,
    parametersJsonSchema,
    ...(annotations && { annotations }),
    decision,
  };
}

function groupText(server: string, tools: readonly HostTool[], style: Style): SafeText {
  const title = safe`${style.bold(toSafeLine(server))}: ${tools.length} ${tools.length === 1 ? safe`tool` : safe`tools`}`;
  return joinSafe([title, ...tools.map((tool) => toolText(tool, style))]);
}

function toolText(tool: HostTool, style: Style): SafeText {
  const description = tool.description.split(/\r?\n/).map((line) => safe`\n      ${style.dim(toSafeLine(line))}`);
  return safe`\n  ${style.cyan(signature(tool))}${joinSafe(description, safe``)}`;
}
