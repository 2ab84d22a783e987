/** Gives completion the cached catalogs through a host that connects to no configured server. */

import { demoName, type Host } from "@fairlead/core/host";
import { hasDemo, useHost } from "../targets/with-host.ts";
import { type CompletionContext, configurationAt } from "./completion-context.ts";

export interface CachedServers {
  readonly host: Host;
  /** Servers that are not disabled or blocked, in the order of the settings, the demo server last. */
  readonly names: readonly string[];
  /** Loads the cached catalogs of these servers; connects to the demo server, which runs inside this process. */
  readonly recall: (names: readonly string[]) => Promise<void>;
}

export async function withCachedServers<T>(
  place: CompletionContext,
  use: (known: CachedServers) => Promise<T>,
): Promise<T> {
  const configuration = await configurationAt(place);
  const isOwn = (name: string): boolean => name === demoName && hasDemo(configuration);
  return useHost(configuration, place, (host) =>
    use({
      host,
      names: host.states().flatMap(({ name, status }) => (status === "disabled" || status === "blocked" ? [] : name)),
      async recall(names) {
        await host.recall(names.filter((name) => !isOwn(name)));
        if (names.some(isOwn)) await host.start({ servers: [demoName] });
      },
    }),
  );
}
