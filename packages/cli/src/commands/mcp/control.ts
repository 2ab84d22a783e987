/** `fairlead mcp restart` and `mcp stop`: restart or stop a server that the background host runs. */

import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { controlServer } from "@fairlead/gateway/command/background-session";
import { reachHost } from "../../gateway/background.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { mayStartHost, reportHost } from "../../targets/background.ts";
import { findServer } from "./find-server.ts";

/** The commands `fairlead mcp restart` and `fairlead mcp stop`. */
export const verbs: Readonly<Record<"restart" | "stop", Verb>> = {
  restart: {
    help: `
Stops the server in the background host and connects it again, for example because its program has changed. Running
calls of this server fail. A server that does not run is started, and on a terminal also the background host.

Example:
  fairlead mcp restart github`,

    define: (command) => command.argument("<name>", "name of the server (see: fairlead mcp list)"),
    run: (context) => control(context, "restart"),
  },
  stop: {
    help: `
Stops the server in the background host. Running calls of this server fail. The next call starts it again. To prevent a
server from starting: fairlead mcp disable NAME

Example:
  fairlead mcp stop github`,

    define: (command) => command.argument("<name>", "name of the server (see: fairlead mcp list)"),
    run: (context) => control(context, "stop"),
  },
};

async function control(context: Context, action: "restart" | "stop"): Promise<void> {
  const { out, globals, operands } = context;
  const configuration = await configurationOf(context);
  const { name } = findServer(configuration, operands[0] ?? "").server;
  let started: number | undefined;
  const onStart = (pid: number): void => {
    started = pid;
  };
  const starts = action === "restart" && mayStartHost(configuration, context) ? onStart : false;
  try {
    const host = await reachHost(configuration, starts, context);
    const wasRunning = host !== undefined && (await controlServer(host, name, action));
    const isRunning = host !== undefined && action === "restart";
    const done = wasRunning ? doneWords[action] : isRunning ? safe`started` : safe`not running`;
    if (globals.json) out.json({ server: name, wasRunning, running: isRunning });
    else out.print(safe`${done}: ${toVisibleLine(name)}`);
  } finally {
    reportHost(started, out);
  }
}

const doneWords = { restart: safe`restarted`, stop: safe`stopped` };
