/** Holds the current configuration of a host. Do not keep a copy of it: a reload replaces it. */

import { demoName } from "../../demo/name.ts";
import type { ServerDefinition } from "../../settings/define/definition.ts";
import { defaults } from "../../settings/schema/defaults.ts";
import type { AdmittedServer, Configuration } from "../../trust/configuration.ts";
import { type EntryTrust, entryTrust } from "../../trust/entry-trust.ts";

/** The current configuration, with functions that look up its servers. */
export interface LiveConfiguration {
  readonly current: () => Configuration;
  /** A number that changes with every `replace`. */
  readonly version: () => number;
  readonly replace: (next: Configuration) => void;
  /** Configured servers, in the order of the settings. */
  readonly configured: () => readonly AdmittedServer[];
  /** The definition of a server; undefined if the server is unknown or not allowed to start. */
  readonly definition: (server: string) => ServerDefinition | undefined;
  /** Names of the servers in the order of the settings. The demo server comes last. */
  readonly order: () => readonly string[];
  /** Whether the built-in demo server is available. It is not if the settings have a server with its name. */
  readonly hasDemo: () => boolean;
  /**
   * Whether "all servers" includes this server. The demo server is included only while no other server is configured.
   */
  readonly isMeantByAll: (server: string) => boolean;
  /** Whether `"trust": true` of the server counts. Undefined if its entry does not say `"trust": true`. */
  readonly entryTrust: (server: string) => EntryTrust | undefined;
  /** The longest time without a response or progress for one request, in milliseconds. */
  readonly timeoutOf: (server: string) => number;
}

interface Derived {
  readonly configured: readonly AdmittedServer[];
  readonly definitions: ReadonlyMap<string, ServerDefinition>;
  readonly order: readonly string[];
  readonly hasDemo: boolean;
}

/** Creates a live configuration. `first` applies until `replace` is called. */
export function createLiveConfiguration(first: Configuration): LiveConfiguration {
  let current = first;
  let derived = derive(first);
  let version = 0;
  return {
    current: () => current,
    version: () => version,
    replace(next) {
      current = next;
      derived = derive(next);
      version += 1;
    },
    configured: () => derived.configured,
    definition: (server) => derived.definitions.get(server),
    order: () => derived.order,
    hasDemo: () => derived.hasDemo,
    isMeantByAll: (server) => derived.configured.length === 0 || !derived.hasDemo || server !== demoName,
    entryTrust(server) {
      const entry = derived.configured.find(({ server: { name } }) => name === server);
      return entry && entryTrust(entry, current);
    },
    timeoutOf: (server) => derived.definitions.get(server)?.timeout ?? defaults.timeout,
  };
}

function derive({ servers }: Configuration): Derived {
  const configured = servers.filter((entry) => !isPlantedDemo(entry));
  const names = configured.map(({ server }) => server.name);
  const hasDemo = !names.includes(demoName);
  return {
    configured,
    definitions: new Map(
      configured.flatMap(({ server: { name, definition }, admission }) =>
        admission.status === "admitted" && definition ? [[name, definition] as const] : [],
      ),
    ),
    order: hasDemo ? [...names, demoName] : names,
    hasDemo,
  };
}

/** Whether an untrusted folder defines a server with the demo server's name. It must not replace the demo server. */
export function isPlantedDemo({ server, admission }: AdmittedServer): boolean {
  return server.name === demoName && admission.status === "blocked" && admission.reason === "untrusted_folder";
}
