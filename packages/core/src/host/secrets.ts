/** Hides every secret that a host knows: those of the settings, of the environment, and of each connection. */

import type { ConnectStep } from "../connect/connect-step.ts";
import { createRedactor, proxyAccounts, type Redact, secretsOf, secretVariables } from "../connect/redact.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import { renderer, resolveTransport } from "../settings/define/expand.ts";
import type { LiveConfiguration } from "./servers/live-configuration.ts";
import type { OpenHostOptions } from "./types.ts";

export interface HostSecrets {
  readonly hide: Redact;
  /** Watches the steps of connections: each tells how to hide its stored secrets and tokens. */
  readonly observe: NonNullable<OpenHostOptions["observe"]>;
}

export function createHostSecrets(configuration: LiveConfiguration, observe: OpenHostOptions["observe"]): HostSecrets {
  const ofConnections = new Map<string, Redact>();
  let known: { readonly version: number; readonly hide: Redact } | undefined;

  /** Also the secrets of servers that are not connected: a tool may read the settings file. */
  function ofSettings(): Redact {
    const version = configuration.version();
    if (known?.version === version) return known.hide;
    const { environment, servers } = configuration.current();
    const written = servers.flatMap(({ server: { definition } }) => (definition ? writtenSecrets(definition) : []));
    const { env } = environment;
    known = { version, hide: createRedactor([...written, ...secretVariables(env), ...proxyAccounts(env)]) };
    return known.hide;
  }

  return {
    hide: (text) => [...ofConnections.values()].reduce((so, hide) => hide(so), ofSettings()(text)),
    observe(server, step) {
      if (isDefinition(step)) ofConnections.set(server, step.redact);
      observe?.(server, step);
    },
  };
}

function isDefinition(step: object): step is Extract<ConnectStep, { readonly step: "definition" }> {
  return "step" in step && step.step === "definition";
}

/** Without stored secrets, which are read when the server is connected. */
function writtenSecrets(definition: ServerDefinition): readonly string[] {
  const { transport, base, values } = definition;
  const resolved = resolveTransport(transport, base, renderer(values));
  return secretsOf(resolved, definition, []).filter((value) => !value.includes("${"));
}
