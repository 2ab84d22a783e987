/** What all connections of one host share: the account of its processes, the secrets, the log files. Made with the first connection. */

import type { ConnectContext } from "../connect/open-session.ts";
import type { ServerLogs } from "../connect/server-log.ts";
import type { ServerDefinition } from "../settings/definition.ts";
import type { Configuration } from "../trust/configuration.ts";
import { once } from "./once.ts";
import type { HostSignIn } from "./sign-in.ts";
import type { OpenHostOptions } from "./types.ts";

export interface HostContext {
  get(): Promise<ConnectContext>;
  /** Who is signed in to the server there, if that is known. */
  readonly accountAt: (definition: ServerDefinition, serverUrl: string) => Promise<string | undefined>;
  /** Resolves when what was logged is on the disk. */
  close(): Promise<void>;
}

export type HostContextOptions = Pick<OpenHostOptions, "debug" | "tokens" | "openBrowser" | "signIn">;

export function createHostContext(configuration: Configuration, options: HostContextOptions = {}): HostContext {
  const { debug = false, tokens } = options;
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
      secret,
      auth: async (definition, serverUrl) => (await signIn()).hookFor(definition, serverUrl),
      log: (serverName) => logs.of(serverName),
      debug: (serverName) => debug === true || debug === serverName,
    };
    return { context, logs };
  }

  const secret = async (name: string): Promise<string | undefined> => (await openSecrets()).get(name);

  const signIn = once(async (): Promise<HostSignIn> => {
    const { createHostSignIn } = await import("./sign-in.ts");
    return createHostSignIn({ configuration, secret, tokens, ways: waysIn(options) });
  });

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
    async accountAt(definition, serverUrl) {
      const { accountAt } = await signIn();
      return accountAt(definition, serverUrl);
    },
    async close() {
      await (await made)?.logs.close();
    },
  };
}

/** Whoever can open a browser decides there whether to. */
function waysIn({ signIn, openBrowser }: HostContextOptions): OpenHostOptions["signIn"] {
  if (openBrowser === undefined || signIn?.openBrowser !== undefined) return signIn;
  return { show: () => {}, browserFirst: true, consent: async () => true, ...signIn, openBrowser };
}
