/** Runs all checks that start no server. */

import type { HostError } from "@fairlead/core/errors";
import { readSources, whereWritten } from "@fairlead/core/settings/read/load";
import type { Environment } from "@fairlead/core/settings/read/paths";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { checkNetwork } from "./check-network.ts";
import { checkPackages } from "./check-packages.ts";
import { checkPolicy } from "./check-policy.ts";
import { checkPrograms } from "./check-programs.ts";
import { checkSecrets } from "./check-secrets.ts";
import { checkSettings } from "./check-settings.ts";
import { checkState } from "./check-state.ts";
import { checkTrust } from "./check-trust.ts";
import { type DoctorFinding, inGroup } from "./finding.ts";
import { readNetworkFacts } from "./network-facts.ts";
import { readPolicyFacts } from "./policy-facts.ts";
import { readNodeFacts, readProgramFacts } from "./program-facts.ts";
import { readSecretFacts } from "./secret-facts.ts";
import { readStateFacts } from "./state-facts.ts";

export async function examine(configuration: Configuration): Promise<readonly DoctorFinding[]> {
  const { environment, locations, servers } = configuration;
  const admitted = servers.filter(({ admission }) => admission.status === "admitted");
  const definitions = servers.flatMap(({ server }) => server.definition ?? []);
  // First, because opening the secret store also repairs the folder's permissions, unreported.
  const state = await readStateFacts(locations.state);
  const [sources, policy, programs, network, secrets] = await Promise.all([
    readSources(locations),
    readPolicyFacts(configuration),
    readProgramFacts(
      configuration,
      admitted.flatMap(({ server }) => server.definition ?? []),
    ),
    readNetworkFacts(environment),
    readSecretFacts(configuration),
  ]);
  const isUsed = definitions.some(({ transport }) => transport.kind !== "stdio");
  // A workspace cannot change this setting.
  const deciding = sources.filter(({ scope }) => scope !== "workspace");
  const folderTrust = whereWritten(deciding, "security", "folderTrust", "enabled").at(-1);
  return [
    ...inGroup("settings", checkSettings(configuration)),
    ...inGroup("trust", checkTrust({ ...configuration, folderTrust })),
    ...inGroup("policy", checkPolicy(policy)),
    ...inGroup("programs", checkPrograms(programs)),
    ...inGroup("network", checkNetwork({ ...network, isUsed })),
    ...inGroup("secrets", checkSecrets(secrets)),
    ...inGroup("state", checkState(state)),
    ...inGroup("packages", checkPackages(definitions)),
  ];
}

/** Runs the checks that need no settings; `why` is the reason the settings files could not be located. */
export async function examineWithoutSettings(
  environment: Environment,
  why: HostError,
): Promise<readonly DoctorFinding[]> {
  const { message, next, code } = why;
  const place = { environment, root: environment.cwd, trusted: false };
  const [programs, network] = await Promise.all([readNodeFacts(place), readNetworkFacts(environment)]);
  return [
    ...inGroup("settings", [{ severity: "problem", code, message, ...(next !== undefined && { next }) }]),
    ...inGroup("programs", checkPrograms({ ...programs, launches: [] })),
    ...inGroup("network", checkNetwork({ ...network, isUsed: false })),
  ];
}
