/** Hides every secret that a host knows: secrets of the settings, the environment, and each connection. */

import type { ConnectStep } from "../connect/connect-step.ts";
import type { Redact } from "../connect/redact.ts";
import type { Configuration } from "../trust/configuration.ts";
import type { LiveConfiguration } from "./servers/live-configuration.ts";
import type { OpenHostOptions } from "./types.ts";

export interface HostSecrets {
  /** Returns a function that hides the secrets which are known now. */
  readonly redactor: () => Promise<Redact>;
  /**
   * Receives the steps of connecting. Stores the `redact` function of the step `definition`, which hides the secrets
   * of the connection.
   */
  readonly observe: NonNullable<OpenHostOptions["observe"]>;
}

export function createHostSecrets(configuration: LiveConfiguration, observe: OpenHostOptions["observe"]): HostSecrets {
  const ofConnections = new Map<string, Redact>();
  /** Secrets from the current settings and from all earlier settings of this run. */
  const written = new Set<string>();
  let known: { readonly version: number; readonly hide: Redact } | undefined;

  return {
    async redactor() {
      const version = configuration.version();
      if (known?.version !== version) {
        const { createRedactor } = await import("../connect/redact.ts");
        for (const value of await configuredSecrets(configuration.current())) written.add(value);
        known = { version, hide: createRedactor(written) };
      }
      const { hide } = known;
      return (text) => [...ofConnections.values()].reduce((so, redact) => redact(so), hide(text));
    },
    observe(server, step) {
      if (isDefinition(step)) ofConnections.set(server, step.redact);
      observe?.(server, step);
    },
  };
}

function isDefinition(step: object): step is Extract<ConnectStep, { readonly step: "definition" }> {
  return "step" in step && step.step === "definition";
}

/**
 * The secrets in the environment and in the entries of all servers. Includes servers that are not connected, because a
 * tool may read the settings file.
 */
export async function configuredSecrets({ servers, environment: { env } }: Configuration): Promise<readonly string[]> {
  const [{ proxyAccounts, secretsOf, secretVariables }, { renderer, resolveTransport }] = await Promise.all([
    import("../connect/redact.ts"),
    import("../settings/define/expand.ts"),
  ]);
  const values = servers.flatMap(({ server: { definition } }) => {
    if (definition === undefined) return [];
    const { transport, base } = definition;
    return secretsOf(resolveTransport(transport, base, renderer(definition.values)), definition, []);
  });
  return [...values.filter((value) => !value.includes("${")), ...secretVariables(env), ...proxyAccounts(env)];
}
