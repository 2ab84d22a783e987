/** The settings and rules of a tenant: the system settings and rules of this machine, and what an administrator has pushed. */

import { HostError } from "@fairlead/core";
import { demoName } from "@fairlead/core/host";
import { loadPolicies, type PolicyRule, readPolicies } from "@fairlead/core/policy";
import type { Environment, Problem } from "@fairlead/core/settings";
import { type AdmittedServer, type Configuration, loadConfiguration } from "@fairlead/core/trust";

/**
 * The name of the workspace that a team does not have. Approvals, task ids and accepted definitions contain it, so it is the
 * same on all replicas.
 */
const root = "/team";

/** What was pushed. */
export interface PushedTexts {
  readonly settings?: string | undefined;
  /** `name` is what messages and rules call it, such as `policy version 12`. */
  readonly policy?: { readonly name: string; readonly text: string } | undefined;
}

/**
 * @param environment Where the system settings are. Its folder is empty, so no workspace has a part in it.
 * @throws HostError `settings_invalid` for a mistake that concerns more than one server
 */
export async function loadTenantConfiguration(
  environment: Environment,
  { settings = "{}", policy }: PushedTexts,
): Promise<Configuration> {
  // There is no workspace, and its administrator trusts the settings of the machine.
  const loaded = await loadConfiguration({
    environment,
    workspace: false,
    userSettings: settings,
    embedderTrust: true,
  });
  // Rules of a person on this machine have no part in it.
  const folders = { ...loaded.locations.policies, user: `${environment.cwd}/none`, workspace: undefined };
  const policies = policy && (await readPolicies(policy.text, policy.name, loaded.settings.servers));
  const configuration = teamConfiguration({
    ...loaded,
    locations: { ...loaded.locations, root, policies: folders },
    ...(policies && { policies }),
  });
  const rules = await loadPolicies(configuration);
  refuseProblems([...configuration.problems.filter(concernsAll), ...rules.problems]);
  return configuration;
}

/** All rules that count for a tenant. */
export async function loadTenantRules(environment: Environment, texts: PushedTexts): Promise<readonly PolicyRule[]> {
  return (await loadPolicies(await loadTenantConfiguration(environment, texts))).rules;
}

/** The configuration without what a team does not have: stdio servers and the demo. */
function teamConfiguration(configuration: Configuration): Configuration {
  const { settings } = configuration;
  const isDemo = settings.servers.some(({ name }) => name === demoName);
  const names = isDemo ? settings.excluded.names : new Set([...settings.excluded.names, demoName]);
  return {
    ...configuration,
    settings: { ...settings, excluded: { ...settings.excluded, names } },
    servers: configuration.servers.map(withoutStdio),
  };
}

function withoutStdio({ server, admission }: AdmittedServer): AdmittedServer {
  if (server.kind !== "stdio" || admission.status === "disabled") return { server, admission };
  return {
    server,
    admission: {
      status: "disabled",
      reason: "user",
      message: `"${server.name}" is off: it is a stdio server, and the gateway of a team starts none`,
      next: `Run it as an HTTP server, and write its address as "httpUrl" of "${server.name}".`,
    },
  };
}

/** Whether a problem is about more than one server: a server with a mistake is off, and the others work. */
function concernsAll({ serverName }: Problem): boolean {
  return serverName === undefined;
}

function refuseProblems(problems: readonly Problem[]): void {
  const found = problems.find(({ severity }) => severity === "error");
  if (found === undefined) return;
  const { message, origin, next } = found;
  const at = origin === undefined ? "" : ` (line ${origin.line}, column ${origin.column})`;
  throw new HostError("settings_invalid", `${message}${at}`, next === undefined ? {} : { next });
}
