/** Opens a host for one command, and stops all its servers when the command ends. */

import { demoName, type Host, type OpenHostOptions, openHost } from "@fairlead/core/host";
import { isPlantedDemo } from "@fairlead/core/host/servers/live-configuration";
import type { Elicitation, ElicitationAnswer } from "@fairlead/core/mcp/elicitation";
import type { Recorder } from "@fairlead/core/recordings/recorder";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { count } from "../output/output.ts";
import { configurationOf } from "../shell/configuration.ts";
import type { Context } from "../shell/verb.ts";

export async function withHost(
  context: Context,
  use: (host: Host, configuration: Configuration) => Promise<void>,
): Promise<void> {
  const configuration = await configurationOf(context);
  await useHost(configuration, context, (host) => use(host, configuration));
}

/** Whether the built-in demo server is available. It is not available if a configured server uses its name. */
export function hasDemo({ servers }: Configuration): boolean {
  return servers.every((entry) => entry.server.name !== demoName || isPlantedDemo(entry));
}

type HostOptions = Pick<
  OpenHostOptions,
  "observe" | "approvalMode" | "interactive" | "signIn" | "allow" | "recover" | "elicit" | "record"
>;

/** Warns the user and answers a server's question with `cancel`, for commands that ask the user no questions. */
async function leaveOpen({ serverName }: Elicitation, out: Context["out"] | undefined): Promise<ElicitationAnswer> {
  out?.warn(
    safe`"${toSafeLine(serverName)}" asked a question (elicitation): this command cannot ask you, so the server got no answer\n  next: use the app (fairlead), or run this command in a terminal`,
  );
  return { action: "cancel" };
}

/** Runs `use` with a host. Resolves after all servers that were started have stopped. */
export async function useHost<T>(
  configuration: Configuration,
  { globals, out }: Pick<Context, "globals"> & Partial<Pick<Context, "out">>,
  use: (host: Host) => Promise<T>,
  options: HostOptions = {},
): Promise<T> {
  const record = await recorderOf(globals);
  const host = openHost(configuration, {
    debug: globals.debug,
    ...(record && { record }),
    // With `elicit`, every command declares the capability `elicitation`, as the app does. Otherwise a server might
    // offer other tools.
    elicit: (request) => leaveOpen(request, out),
    ...options,
  });
  host.on("history_failed", ({ message }) =>
    out?.warnOnce(safe`note: requests are not recorded in the history: ${toSafeLine(message)}`),
  );
  host.on("conversation_not_recorded", ({ message }) =>
    out?.warnOnce(safe`note: the conversation is not recorded: ${toSafeLine(message)}`),
  );
  // Closes the host in `finally`, because the import checker (`scripts/checks/layers.mjs`) cannot parse `await using` yet.
  try {
    return await use(host);
  } finally {
    await host[Symbol.asyncDispose]();
    for (const { file, messages } of record?.written() ?? [])
      out?.say(safe`recorded ${count(messages, "message")} in ${toSafeLine(file)}`);
  }
}

/** Creates the recorder for `--record DIR`. Its code is loaded only with that option. */
async function recorderOf({ record: folder }: Context["globals"]): Promise<Recorder | undefined> {
  if (folder === undefined) return undefined;
  const { createRecorder } = await import("@fairlead/core/recordings/recorder");
  return createRecorder({ folder });
}
