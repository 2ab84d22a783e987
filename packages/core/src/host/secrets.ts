/** Hides all secrets of a host: from the settings, the environment and the connections. */

import type { ConnectStep } from "../connect/connect-step.ts";
import type { Redact } from "../connect/redact.ts";
import type { Configuration } from "../trust/configuration.ts";
import type { LiveConfiguration } from "./servers/live-configuration.ts";
import type { OpenHostOptions } from "./types.ts";

/** Collects the secrets of a host, to hide them in recordings and messages. */
export interface HostSecrets {
  /** Returns a function that hides the secrets of all settings so far and of all connections. */
  readonly redactor: () => Promise<Redact>;
  /**
   * Call this with each step of connecting. The step `definition` contains the function that hides the connection's
   * secrets.
   */
  readonly observe: NonNullable<OpenHostOptions["observe"]>;
}

/** Creates the collection. Each step of connecting is also passed to `observe`. */
export function createHostSecrets(configuration: LiveConfiguration, observe: OpenHostOptions["observe"]): HostSecrets {
  const ofConnections = new Map<string, Redact>();
  /** Secrets from the current settings and from all earlier settings of this run. */
  const written = new Set<string>();
  let settingsRedactor: { readonly version: number; readonly hide: Redact } | undefined;

  return {
    async redactor() {
      const version = configuration.version();
      if (settingsRedactor?.version !== version) {
        const { createRedactor } = await import("../connect/redact.ts");
        for (const value of await configuredSecrets(configuration.current())) written.add(value);
        settingsRedactor = { version, hide: createRedactor(written) };
      }
      const { hide } = settingsRedactor;
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
 * The secrets in the environment and in the definitions of all servers. Servers that are not connected count too: a
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
