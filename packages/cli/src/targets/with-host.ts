/** A host for the length of one command: when that ends, so does all that the host started. */

import { demoName, type Host, type OpenHostOptions, openHost } from "@fairlead/core/host";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { configurationOf } from "../shell/configuration.ts";
import type { Context } from "../shell/verb.ts";

export async function withHost(
  context: Context,
  use: (host: Host, configuration: Configuration) => Promise<void>,
): Promise<void> {
  const configuration = await configurationOf(context);
  await useHost(configuration, context, (host) => use(host, configuration));
}

/** The demo server may always be connected to, unless an entry of the settings has taken its name. */
export function hasDemo({ servers }: Configuration): boolean {
  return servers.every(({ server }) => server.name !== demoName);
}

/** Returns when nothing that was started is left. */
export async function useHost<T>(
  configuration: Configuration,
  { globals, out }: Pick<Context, "globals"> & Partial<Pick<Context, "out">>,
  use: (host: Host) => Promise<T>,
  options: Pick<OpenHostOptions, "observe" | "approvalMode" | "interactive" | "signIn" | "allow" | "recover"> = {},
): Promise<T> {
  const host = openHost(configuration, { debug: globals.debug, ...options });
  host.on("history_failed", ({ message }) =>
    out?.warnOnce(safe`note: fairlead history will not show this: ${toSafeLine(message)}`),
  );
  // Not `await using`: the tool that checks our imports cannot read it yet.
  try {
    return await use(host);
  } finally {
    await host[Symbol.asyncDispose]();
  }
}
