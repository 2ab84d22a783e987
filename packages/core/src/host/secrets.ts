/** Hides all secrets of a host: from the settings, the environment and the connections. */

import { createRedactor, proxyAccounts, type Redact, secretsOf, secretVariables } from "../connect/redact.ts";
import type { Servers } from "../server/servers.ts";
import { renderer, resolveTransport } from "../settings/define/expand.ts";
import type { Configuration } from "../trust/configuration.ts";

/** Collects the secrets of a host, to hide them in recordings and messages. */
export class HostSecrets {
  readonly #servers: () => Servers;
  /** Secrets from the current settings and from all earlier settings of this run. */
  readonly #written = new Set<string>();
  #redactor: { readonly version: number; readonly hide: Redact } | undefined;

  constructor(servers: () => Servers) {
    this.#servers = servers;
  }

  /** Returns a function that hides the secrets of all settings so far and of all connections. */
  async redactor(): Promise<Redact> {
    return this.hide;
  }

  /** Hides the secrets of all settings so far and of all connections in a text. */
  readonly hide: Redact = (text) => {
    const servers = this.#servers();
    if (this.#redactor?.version !== servers.version) {
      for (const value of configuredSecrets(servers.configuration)) this.#written.add(value);
      this.#redactor = { version: servers.version, hide: createRedactor(this.#written) };
    }
    return servers.redacts().reduce((so, redact) => redact(so), this.#redactor.hide(text));
  };
}

/**
 * The secrets in the environment and in the definitions of all servers. Servers that are not connected count too: a
 * tool may read the settings file.
 */
export function configuredSecrets({ servers, environment: { env } }: Configuration): readonly string[] {
  const values = servers.flatMap(({ server: { definition } }) => {
    if (definition === undefined) return [];
    const { transport, base } = definition;
    return secretsOf(resolveTransport(transport, base, renderer(definition.values)), definition, []);
  });
  return [...values.filter((value) => !value.includes("${")), ...secretVariables(env), ...proxyAccounts(env)];
}
