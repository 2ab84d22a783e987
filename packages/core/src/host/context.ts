/** What all connections of one host share: the account of its processes, the secrets, the log files. Made with the first connection. */

import type { ConnectContext } from "../connect/open-session.ts";
import type { ServerLogs } from "../connect/server-log.ts";
import type { Configuration } from "../trust/configuration.ts";
import { once } from "./once.ts";

export interface HostContext {
  get(): Promise<ConnectContext>;
  /** Resolves when what was logged is on the disk. */
  close(): Promise<void>;
}

export function createHostContext(configuration: Configuration, debug: boolean | string): HostContext {
  const { environment, locations, settings, trust } = configuration;
  let made: Promise<{ readonly context: ConnectContext; readonly logs: ServerLogs }> | undefined;

  async function make(): Promise<{ readonly context: ConnectContext; readonly logs: ServerLogs }> {
    const { createServerLogs } = await import("../connect/server-log.ts");
    const logs = createServerLogs(locations.state);
    const context: ConnectContext = {
      environment,
      root: locations.root,
      trusted: trust.trusted,
      connectTimeout: settings.host.connectTimeout,
      keeper: once(async () => (await import("@fairlead/wire")).createProcessKeeper()),
      secret: async (name) => (await openSecrets()).get(name),
      log: (serverName) => logs.of(serverName),
      debug: (serverName) => debug === true || debug === serverName,
    };
    return { context, logs };
  }

  const openSecrets = once(async () => {
    const { openSecretStore } = await import("../files/secret-store.ts");
    const { env, platform } = environment;
    return openSecretStore({ directory: locations.state, env, platform });
  });

  return {
    async get() {
      made ??= make();
      return (await made).context;
    },
    async close() {
      await (await made)?.logs.close();
    },
  };
}
