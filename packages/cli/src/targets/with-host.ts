/** Opens a host for one command, and stops all its servers when the command ends. */

import { demoName, type OpenedHost, openHost } from "@fairlead/core/host";
import type { Recorder } from "@fairlead/core/recordings";
import type { Elicitation, ElicitationAnswer } from "@fairlead/core/server";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { type Configuration, isPlantedDemo } from "@fairlead/core/trust";
import { count } from "../output/output.ts";
import { configurationOf } from "../shell/configuration.ts";
import type { Context } from "../shell/verb.ts";
import type { BackgroundUse } from "./background.ts";

/** Reads the settings, opens a host and runs `use`. Stops all servers when `use` has ended. */
export async function withHost(
  context: Context,
  use: (host: OpenedHost, configuration: Configuration) => Promise<void>,
): Promise<void> {
  const configuration = await configurationOf(context);
  await useHost(configuration, context, (host) => use(host, configuration));
}

/** Whether the name `demo` means the built-in server. False if the user configured another server with that name. */
export function hasDemo({ servers }: Configuration): boolean {
  return servers.every((entry) => entry.server.name !== demoName || isPlantedDemo(entry));
}

type HostOptions = Pick<
  NonNullable<Parameters<typeof openHost>[1]>,
  | "observe"
  | "approvalMode"
  | "interactive"
  | "confirm"
  | "signIn"
  | "allow"
  | "recover"
  | "elicit"
  | "record"
  | "from"
  | "acceptedDefinitions"
  | "ide"
  | "era"
> & { readonly background?: BackgroundUse | undefined };

/** Cancels a server's question (elicitation), for commands that cannot ask the user. Prints a warning. */
async function leaveOpen({ serverName }: Elicitation, out: Context["out"] | undefined): Promise<ElicitationAnswer> {
  out?.warn(
    safe`"${toSafeLine(serverName)}" asked a question (elicitation), but this command cannot ask you: Fairlead cancelled the question\n  next: use the app (fairlead), or run this command in a terminal`,
  );
  return { action: "cancel" };
}

/** Opens a host, runs `use` with it, and then stops all servers. Returns the result of `use`. */
export async function useHost<T>(
  configuration: Configuration,
  { globals, out, telemetry }: Pick<Context, "globals"> & Partial<Pick<Context, "out" | "telemetry">>,
  use: (host: OpenedHost) => Promise<T>,
  options: HostOptions = {},
): Promise<T> {
  const record = await recorderOf(globals);
  const host = openHost(configuration, {
    debug: globals.debug,
    record,
    telemetry,
    ...options,
    // Every command declares the capability `elicitation`, as the app does. Otherwise a server might list different
    // tools.
    elicit: options.elicit ?? ((request) => leaveOpen(request, out)),
    background: options.background?.open,
  });
  host.on("history_failed", ({ message }) =>
    out?.warnOnce(safe`note: requests are not recorded in the history: ${toSafeLine(message)}`),
  );
  host.on("conversation_not_recorded", ({ message }) =>
    out?.warnOnce(safe`note: the conversation is not recorded: ${toSafeLine(message)}`),
  );
  host.on("ide_trust_changed", ({ trusted, detail }) =>
    out?.warn(safe`note: the folder is ${trusted ? safe`` : safe`not `}trusted now: ${toSafeLine(detail)}`),
  );
  host.on("settings_unread", ({ message, next }) =>
    out?.warnOnce(
      safe`note: ${toSafeLine(message)}${next === undefined ? safe`` : safe`\n  next: ${toSafeLine(next)}`}`,
    ),
  );
  // `finally` instead of `await using`: the import checker (`scripts/checks/layers.mjs`) cannot parse `await using`
  // yet.
  try {
    return await use(host);
  } finally {
    await host[Symbol.asyncDispose]();
    for (const { file, messages } of record?.written() ?? [])
      out?.say(safe`recorded ${count(messages, "message")} in ${toSafeLine(file)}`);
    options.background?.report();
  }
}

async function recorderOf({ record: folder }: Context["globals"]): Promise<Recorder | undefined> {
  if (folder === undefined) return undefined;
  const { createRecorder } = await import("@fairlead/core/recordings/recorder");
  return createRecorder({ folder });
}
