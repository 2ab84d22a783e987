/** Gives a command the servers of the background host, and starts the host if the command may leave it running. */

import { resolve } from "node:path";
import { inheritedVariables } from "@fairlead/core/connect";
import type { OpenInBackground } from "@fairlead/core/server";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust";
import { openBackgroundSession } from "@fairlead/gateway/command/background-session";
import type { HostConnection } from "@fairlead/gateway/relay/connect-host";
import { findHost, HostRefused, type RelayHello } from "@fairlead/gateway/relay/find-host";
import type { CommandCaller } from "@fairlead/gateway/relay/speech";
import { WireError } from "@fairlead/wire";
import { errorMessage } from "@fairlead/wire/text";
import type { Context } from "../shell/verb.ts";
import { type HostPlace, hostPlace } from "./installation.ts";
import { mentionedVariables } from "./workspace-variables.ts";

/** False if the command starts no host. Otherwise called with the process id of the host that the command has started. */
export type StartsHost = false | ((pid: number) => void);

type Caller = Pick<Context, "io" | "globals" | "out" | "command">;

/**
 * Returns the function that opens sessions in the background host. If no host can be used, it resolves with undefined,
 * and the command starts the server itself.
 *
 * @param isFresh Whether the host reads the lists of a running server again.
 */
export function openInBackground(
  configuration: Configuration,
  { starts, isFresh }: { readonly starts: StartsHost; readonly isFresh: boolean },
  caller: Caller,
): OpenInBackground {
  return async (server, options) => {
    const host = await reachHost(configuration, starts, caller);
    if (host === undefined) return undefined;
    try {
      return await openBackgroundSession(host, server, { ...options, isFresh });
    } catch (error) {
      // The host has ended before the server was connected. Nothing was sent to the server.
      if (error instanceof WireError && error.code === "closed") return undefined;
      throw error;
    }
  };
}

/** Connects to the running host. Resolves with undefined if none runs, or if it cannot be used. */
export async function reachHost(
  configuration: Configuration,
  starts: StartsHost,
  caller: Caller,
): Promise<HostConnection | undefined> {
  const backgroundHost = hostPlace(caller.io);
  if (backgroundHost === undefined) return undefined;
  const greeting: RelayHello = {
    version: backgroundHost.version,
    wants: "command",
    command: describeCaller(configuration, caller),
  };
  try {
    const found = await findHost(backgroundHost.folder, greeting);
    return found ?? (starts === false ? undefined : await startHost(backgroundHost, greeting, starts));
  } catch (error) {
    // A host that ends, or that was started with another home folder, is not worth a message.
    const isUsual = error instanceof HostRefused && (error.reason === "retired" || error.reason === "home");
    if (!isUsual)
      caller.out.warnOnce(
        safe`note: the background host cannot be used, so this command starts its own servers: ${toSafeLine(errorMessage(error))}`,
      );
    return undefined;
  }
}

async function startHost(
  { folder, command }: HostPlace,
  greeting: RelayHello,
  onStart: (pid: number) => void,
): Promise<HostConnection> {
  const { findOrStartHost } = await import("@fairlead/gateway/relay/start-host");
  return findOrStartHost(folder, greeting, command, onStart);
}

function describeCaller(configuration: Configuration, { io, globals, command }: Caller): CommandCaller {
  const { root, settings, workspace, trustWorkspace } = globals;
  const mentioned = mentionedVariables(configuration, io.env);
  const inherited = inheritedVariables(io).map((name): [string, string] => [name, io.env[name] ?? ""]);
  return {
    name: command.name(),
    home: io.home,
    cwd: configuration.locations.root,
    env: Object.fromEntries(Object.entries(mentioned).map(([name, value]) => [name, value ?? null])),
    inherited: Object.fromEntries(inherited),
    options: {
      workspace,
      trustWorkspace,
      root: root === undefined ? undefined : resolve(io.cwd, root),
      settingsFile: settings === undefined ? undefined : resolve(io.cwd, settings),
    },
  };
}
