/** The environment variables that decide whether two clients of the background host can share servers. */

import { type Configuration, ideVariables } from "@fairlead/core/trust";

type Variables = Readonly<Record<string, string | undefined>>;

/** Environment variables that decide which settings and secrets are read, or whether a workspace is trusted. */
const choosing = [
  "FAIRLEAD_SECRET_STORE",
  "FAIRLEAD_SYSTEM_POLICIES_PATH",
  "FAIRLEAD_TRUST_WORKSPACE",
  "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
  "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
  "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
  "GEMINI_CLI_TRUST_WORKSPACE",
  ...Object.values(ideVariables),
];

/** The variables of an IDE's terminal, not set. */
export const withoutIde: Variables = Object.fromEntries(Object.values(ideVariables).map((name) => [name, undefined]));

/** Returns the variables that the settings mention, or that choose the settings. */
export function mentionedVariables({ servers, trust }: Configuration, env: Variables): Variables {
  const mentioned = servers.flatMap(({ server }) => server.definition?.variables.map(({ name }) => name) ?? []);
  const names = [...new Set([...choosing, ...mentioned])].sort();
  // Clients inside and outside of an IDE share servers, unless the IDE decides about the folder.
  const own = trust.source === "ide" ? env : { ...env, ...withoutIde };
  return Object.fromEntries(names.map((name) => [name, own[name]]));
}
