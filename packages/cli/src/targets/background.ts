/** Decides whether a command uses the servers of the background host, or starts its own. */

import type { OpenInBackground } from "@fairlead/core/server";
import { safe } from "@fairlead/core/text/safe-text";
import { type Configuration, parentVariable } from "@fairlead/core/trust";
import type { Command } from "commander";
import type { Context, Io } from "../shell/verb.ts";

/** Adds the option `--alone`. */
export function defineAloneOption(command: Command): void {
  command.option("--alone", "start the servers in this process, without the background host");
}

/** How a command uses the background host. */
export interface BackgroundUse {
  readonly open: OpenInBackground;
  /** Says that a host keeps running, if the command has started it. Called at the end, below the command's output. */
  readonly report: () => void;
}

/**
 * Returns how the command opens servers in the background host; undefined if it starts its own servers.
 *
 * @param isFresh Whether the host reads the lists of a running server again. Default: with `--refresh`.
 */
export function backgroundFor(
  configuration: Configuration,
  context: Context,
  isFresh: boolean = context.command.opts<{ readonly refresh?: boolean }>().refresh === true,
): BackgroundUse | undefined {
  const { out } = context;
  if (isWithoutBackground(configuration, context)) return undefined;
  let started: number | undefined;
  const onStart = (pid: number): void => {
    started = pid;
  };
  const starts = mayStartHost(configuration, context) ? onStart : false;
  return {
    async open(...wanted) {
      const { openInBackground } = await import("../gateway/background.ts");
      return openInBackground(configuration, { starts, isFresh }, context)(...wanted);
    },
    report: () => reportHost(started, out),
  };
}

/**
 * Returns how the app and `fairlead -p` open servers in the background host, if it runs: only those with which it makes
 * no difference.
 */
export function openStatelessInBackground(configuration: () => Configuration, context: Context): OpenInBackground {
  return async (server, options) => {
    const current = configuration();
    if (!server.isStateless || isWithoutBackground(current, context)) return undefined;
    const { openInBackground } = await import("../gateway/background.ts");
    return openInBackground(current, { starts: false, isFresh: false }, context)(server, options);
  };
}

/** Whether the command may start a background host, which keeps running. */
export function mayStartHost(configuration: Configuration, context: Context): boolean {
  const isOn = configuration.settings.host.background === "on";
  return !isWithoutBackground(configuration, context) && (isOn || hasTerminal(context.io));
}

/** Says that the host keeps running that the command has started. Does nothing if it has started none. */
export function reportHost(started: number | undefined, out: Context["out"]): void {
  if (started === undefined) return;
  out.say(
    safe`note: a background host (process ${started}) keeps servers running for the next command; to stop it: fairlead daemon stop`,
  );
}

/** Whether the command must not use the background host. */
export function isWithoutBackground({ settings }: Configuration, { io, globals, command }: Context): boolean {
  const { alone = false } = command.opts<{ readonly alone?: boolean }>();
  // The background host neither logs nor records the messages of one command, and a program that a server starts must
  // not use the servers of its user.
  const isApart =
    alone || globals.debug !== false || globals.record !== undefined || io.env[parentVariable] !== undefined;
  return settings.host.background === "off" || isApart || isCi(io.env);
}

function hasTerminal({ stdin, stdout, stderr }: Io): boolean {
  return [stdin, stdout, stderr].some(({ isTTY }) => isTTY === true);
}

/** Whether the command runs in continuous integration, where each command stands for itself. */
function isCi({ CI = "" }: Io["env"]): boolean {
  return CI !== "" && CI !== "false" && CI !== "0";
}
