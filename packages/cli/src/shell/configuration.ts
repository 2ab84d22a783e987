/** Loads the configuration that the global options select, and warns about invalid settings files. */

import { problemLines } from "@fairlead/console/server/words/server-details";
import type { Host } from "@fairlead/core/host";
import type { Problem } from "@fairlead/core/settings";
import { safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type Configuration, type ConfigurationOptions, loadConfiguration } from "@fairlead/core/trust";
import type { Context } from "./verb.ts";

/** Without `ide`, the IDE is not asked whether it trusts the folder. */
type Selected = Pick<Context, "globals" | "io"> & Partial<Pick<Context, "ide">>;
type Given = Selected & Pick<Context, "out">;

/** Returns the options of `loadConfiguration` that the global options select. */
export function configurationOptions({ globals, io, ide }: Selected): ConfigurationOptions {
  const { env, home, cwd, platform } = io;
  return {
    environment: { env, home, cwd, platform },
    workspace: globals.workspace,
    ide,
    trustWorkspace: globals.trustWorkspace,
    root: globals.root,
    settingsFile: globals.settings,
  };
}

/**
 * Loads the configuration for a command that uses servers. Prints the name of each server that a flag or an environment
 * variable approves for this run.
 */
export async function configurationOf(context: Given): Promise<Configuration> {
  const configuration = await loadConfiguration(configurationOptions(context));
  printConfigurationNotes(configuration, context);
  return configuration;
}

/** Prints what `configurationOf` prints about the configuration. For a host that has read its settings again. */
export function printConfigurationNotes(configuration: Configuration, { out }: Pick<Context, "out">): void {
  const { trust, servers } = configuration;
  warnOfFiles(configuration, out);
  if (!trust.approvesEntries) return;
  for (const { server } of servers.filter(({ server }) => server.scope === "workspace"))
    out.say(safe`approved for this run: ${toVisibleLine(server.name)} (${toVisibleLine(trust.detail)})`);
}

/** Loads the configuration, but ignores trust that a flag or an environment variable grants for one run. */
export function lastingConfiguration(context: Given): Promise<Configuration> {
  return load(lastingOptions(context), context);
}

/** Loads the configuration as if the folder were trusted, to show, check or edit entries, not to start servers. */
export function configurationIfTrusted(context: Given): Promise<Configuration> {
  return load(optionsIfTrusted(context), context);
}

/** Returns options that load settings as if the folder were trusted. The caller must not start servers with them. */
export function optionsIfTrusted(context: Selected): ConfigurationOptions {
  const { ide: _, ...options } = lastingOptions(context);
  return { ...options, embedderTrust: true };
}

function lastingOptions(context: Selected): ConfigurationOptions {
  const { trustWorkspace: _flag, environment, ...options } = configurationOptions(context);
  const { FAIRLEAD_TRUST_WORKSPACE: _ours, GEMINI_CLI_TRUST_WORKSPACE: _theirs, ...env } = environment.env;
  return { ...options, environment: { ...environment, env } };
}

/** Loads the configuration. Warns about invalid settings files, because the list of servers does not show them. */
async function load(options: ConfigurationOptions, { out }: Pick<Context, "out">): Promise<Configuration> {
  const configuration = await loadConfiguration(options);
  warnOfFiles(configuration, out);
  return configuration;
}

function warnOfFiles({ problems }: Configuration, out: Context["out"]): void {
  for (const problem of problems.filter(concernsFile)) out.warnOnce(problemLines(problem));
}

/**
 * Whether a problem makes a whole settings file unusable. Loading the configuration has printed such a problem already.
 */
export function concernsFile({ severity, serverName }: Problem): boolean {
  return severity === "error" && serverName === undefined;
}

/**
 * Warns about invalid policy rules. Every command that applies rules calls this, because the user may rely on an
 * invalid rule.
 */
export async function warnOfPolicyProblems(host: Pick<Host, "policy">, { out }: Pick<Context, "out">): Promise<void> {
  const { problems } = await host.policy();
  for (const problem of problems) if (problem.severity === "error") out.warnOnce(problemLines(problem));
}
