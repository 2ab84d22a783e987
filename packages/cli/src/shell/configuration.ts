/** From global options to the configuration they select. What is wrong with a whole file is told here, for every command. */

import type { Problem } from "@fairlead/core/settings/define/definition";
import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type Configuration, type ConfigurationOptions, loadConfiguration } from "@fairlead/core/trust/configuration";
import { problemLines } from "../output/problem-lines.ts";
import type { Context } from "./verb.ts";

type Given = Pick<Context, "globals" | "io" | "out">;

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

export async function configurationOf(context: Given): Promise<Configuration> {
  const configuration = await load(configurationOptions(context), context);
  const { trust, servers } = configuration;
  if (trust.approvesEntries) {
    for (const { server } of servers.filter(({ server }) => server.scope === "workspace"))
      context.out.say(safe`approved for this run: ${toVisibleLine(server.name)} (${toVisibleLine(trust.detail)})`);
  }
  return configuration;
}

/** As rules and settings say; what a flag or a variable says for one run is left aside. */
export function lastingConfiguration(context: Given): Promise<Configuration> {
  return load(lastingOptions(context), context);
}

/** As it would be in a trusted folder: for showing, checking and editing entries. Nothing may be started from it. */
export function configurationIfTrusted(context: Given): Promise<Configuration> {
  return load(optionsIfTrusted(context), context);
}

export function optionsIfTrusted(context: Pick<Context, "globals" | "io">): ConfigurationOptions {
  return { ...lastingOptions(context), embedderTrust: true };
}

function lastingOptions(context: Pick<Context, "globals" | "io">): ConfigurationOptions {
  const { trustWorkspace: _flag, environment, ...options } = configurationOptions(context);
  const { FAIRLEAD_TRUST_WORKSPACE: _ours, GEMINI_CLI_TRUST_WORKSPACE: _theirs, ...env } = environment.env;
  return { ...options, environment: { ...environment, env } };
}

/** A file that is left out takes all its servers along, and no server would mention it. */
async function load(options: ConfigurationOptions, { out }: Pick<Context, "out">): Promise<Configuration> {
  const configuration = await loadConfiguration(options);
  for (const problem of configuration.problems.filter(concernsFile)) out.warnOnce(problemLines(problem));
  return configuration;
}

/** Told already, by whoever loaded the configuration. */
export function concernsFile({ severity, serverName }: Problem): boolean {
  return severity === "error" && serverName === undefined;
}
