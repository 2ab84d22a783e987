/** Servers as the settings define them, with only what a test cares about said. */

import type { ConfiguredServer, ServerDefinition } from "@fairlead/core/settings/define/definition";

export const origin = { scope: "user", file: "/home/settings.json", line: 3, column: 5 } as const;

export function definition(given: Partial<ServerDefinition> = {}): ServerDefinition {
  return {
    name: "s",
    scope: "user",
    origin,
    transport: { kind: "stdio", command: "run", args: ["a", "--token", "abc"], env: new Map() },
    variables: [],
    values: new Map(),
    base: { home: "/home", folder: "/home" },
    secrets: [],
    timeout: 1000,
    trust: false,
    excludeTools: [],
    authentication: { provider: "oauth", oauth: {} },
    extras: {
      start: "background",
      trustAnnotations: false,
      sampling: true,
      roots: true,
      alwaysLoad: false,
      share: "auto",
    },
    fingerprint: "f",
    ...given,
  };
}

export function configured(given: Partial<ConfiguredServer> = {}): ConfiguredServer {
  return {
    name: "s",
    scope: "user",
    origin,
    kind: "stdio",
    shadows: [],
    enabled: true,
    definition: definition(),
    problems: [],
    ...given,
  };
}
