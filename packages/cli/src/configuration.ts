/** From global options to the configuration they select. */

import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { type Configuration, type ConfigurationOptions, loadConfiguration } from "@fairlead/core/trust/configuration";
import type { Context } from "./verb.ts";

export function configurationOptions({ globals, io }: Pick<Context, "globals" | "io">): ConfigurationOptions {
  const { env, home, cwd, platform } = io;
  return {
    environment: { env, home, cwd, platform },
    workspace: globals.workspace,
    ...(globals.trustWorkspace ? { trustWorkspace: true } : {}),
    ...(globals.root === undefined ? {} : { root: globals.root }),
    ...(globals.settings === undefined ? {} : { settingsFile: globals.settings }),
  };
}

export async function configurationOf(context: Pick<Context, "globals" | "io" | "out">): Promise<Configuration> {
  const configuration = await loadConfiguration(configurationOptions(context));
  const { trust, servers } = configuration;
  if (trust.approvesEntries) {
    for (const { server } of servers.filter(({ server }) => server.scope === "workspace"))
      context.out.say(safe`approved for this run: ${toSafeLine(server.name)} (${toSafeLine(trust.detail)})`);
  }
  return configuration;
}

/** As rules and settings say; what a flag or a variable says for one run is left aside. */
export function lastingConfiguration(context: Pick<Context, "globals" | "io">): Promise<Configuration> {
  return loadConfiguration(lastingOptions(context));
}

/** As it would be in a trusted folder: for showing, checking and editing entries. Nothing may be started from it. */
export function configurationIfTrusted(context: Pick<Context, "globals" | "io">): Promise<Configuration> {
  return loadConfiguration({ ...lastingOptions(context), embedderTrust: true });
}

function lastingOptions(context: Pick<Context, "globals" | "io">): ConfigurationOptions {
  const { trustWorkspace: _flag, environment, ...options } = configurationOptions(context);
  const { FAIRLEAD_TRUST_WORKSPACE: _ours, GEMINI_CLI_TRUST_WORKSPACE: _theirs, ...env } = environment.env;
  return { ...options, environment: { ...environment, env } };
}
