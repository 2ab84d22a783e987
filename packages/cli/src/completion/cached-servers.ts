/** What is remembered of servers from earlier runs, read through a host that connects to none of them. */

import { demoName, type Host } from "@fairlead/core/host";
import { hasDemo, useHost } from "../targets/with-host.ts";
import { type CompletionContext, configurationAt } from "./completion-context.ts";

export interface CachedServers {
  readonly host: Host;
  /** Servers that may be used here, in the order of the settings, the demo server last. */
  readonly names: readonly string[];
  /** Fills the host with what is known of these; the demo server, which is a part of this program, is asked. */
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
