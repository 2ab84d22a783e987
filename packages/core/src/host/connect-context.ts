/** What all connections of a host share: process registry, secrets, sign-in and log files. */

import { dirname } from "node:path";
import { createProcessRegistry, LargeMessages } from "@fairlead/wire";
import type { HostSignIn } from "../auth/host-sign-in.ts";
import type { ConnectContext } from "../connect/prepare-connection.ts";
import type { ServerLogs } from "../connect/server-log.ts";
import { once } from "../files/once.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import { commandPrefix } from "../settings/define/expand.ts";
import type { Configuration } from "../trust/configuration.ts";
import { parentVariable } from "../trust/own-entry.ts";
import { programPlace } from "../trust/programs.ts";
import type { OpenHostOptions } from "./types.ts";

/** The shared parts of all connections of a host. */
export interface HostConnectContext {
  /** Returns the context for one connection, with the current trust, root and timeouts. */
  get(): Promise<ConnectContext>;
  /** Returns a stored secret. Runs no command. */
  readonly secret: (name: string) => Promise<string | undefined>;
  /** The account that is signed in to the server; undefined if it is not known. */
  readonly accountAt: (definition: ServerDefinition, serverUrl: string) => Promise<string | undefined>;
  /** Resolves when the log files and the recordings are on disk. */
  close(): Promise<void>;
}

/** Options of `createConnectContext`. */
export type HostConnectContextOptions = Pick<
  OpenHostOptions,
  "debug" | "record" | "tokens" | "signIns" | "openBrowser" | "signIn" | "declare" | "clock"
> & {
  readonly hideSecrets?: NonNullable<ConnectContext["hideSecrets"]>;
  readonly largeMessages?: LargeMessages | undefined;
  readonly tap?: ConnectContext["tap"];
};

/** Creates the shared parts. They are loaded with the first connection. */
export function createConnectContext(
  configuration: () => Configuration,
  options: HostConnectContextOptions = {},
): HostConnectContext {
  const { debug = false, record, tokens, signIns, declare, hideSecrets, tap } = options;
  const { largeMessages = new LargeMessages() } = options;
  let opened: Promise<ServerLogs> | undefined;

  const openLogs = once(async () => {
    const { createServerLogs } = await import("../connect/server-log.ts");
    return createServerLogs(configuration().locations.state);
  });
  const keeper = once(async () => createProcessRegistry());
  const openSecrets = once(async () => {
    const { openSecretStore } = await import("../files/secrets/secret-store.ts");
    const { environment, locations } = configuration();
    const { env, platform } = environment;
    return openSecretStore({ directory: locations.state, env, platform });
  });
  const secret = async (name: string): Promise<string | undefined> => (await openSecrets()).get(name);
  const signIn = once(async (): Promise<HostSignIn> => {
    const { createHostSignIn } = await import("../auth/host-sign-in.ts");
    return createHostSignIn({ configuration, secret, tokens, signIns, ways: waysIn(options) });
  });

  return {
    secret,
    async get() {
      opened ??= openLogs();
      const logs = await opened;
      const { environment, locations, settings, trust } = configuration();
      const surroundings = programPlace(configuration());
      // What a command has printed is kept for this connection only.
      const commands = once(async () => {
        const { withCommands } = await import("../connect/command-secret.ts");
        return withCommands(secret, surroundings);
      });
      const secretOrCommand: ConnectContext["secret"] = async (name, signal) =>
        name.startsWith(commandPrefix) ? (await commands())(name, signal) : secret(name);
      return {
        environment,
        root: locations.root,
        trusted: trust.trusted,
        /*
         * If a gateway starts `fairlead serve` as one of its servers, that process sees this variable and refuses to
         * run.
         */
        commonVariables: declare && { [parentVariable]: String(process.pid) },
        sandbox: { state: locations.state, settingsFolders: settingsFolders(locations) },
        connectTimeout: settings.host.connectTimeout,
        clock: options.clock,
        keeper,
        largeMessages,
        secret: secretOrCommand,
        auth: async (definition, serverUrl, observe) =>
          (await signIn()).hookFor(definition, serverUrl, observe, secretOrCommand),
        log: (serverName) => logs.of(serverName),
        record: record && ((serverName, write) => record.connection(serverName, write)),
        hideSecrets,
        tap,
        debug: (serverName) => debug === true || debug === serverName,
      };
    },
    async accountAt(definition, serverUrl) {
      const { accountAt } = await signIn();
      return accountAt(definition, serverUrl);
    },
    async close() {
      await (await opened)?.close();
      await record?.close();
    },
  };
}

/** The folders whose files decide what runs. No program in a sandbox may write into them. */
export function settingsFolders({ files, policies, trustedFolders }: Configuration["locations"]): readonly string[] {
  const paths = [files.user, files.workspace, trustedFolders].flatMap((file) =>
    file === undefined ? [] : dirname(file),
  );
  const folders = [policies.user, policies.workspace].flatMap((folder) => folder ?? []);
  return [...new Set([...paths, ...folders])];
}

/**
 * How the user signs in. With the option `openBrowser`, Fairlead opens the browser without asking first, unless
 * `signIn` has a `consent` function.
 */
function waysIn({ signIn, openBrowser }: HostConnectContextOptions): OpenHostOptions["signIn"] {
  if (openBrowser === undefined || signIn?.openBrowser !== undefined) return signIn;
  return { show: () => {}, browserFirst: true, consent: async () => true, ...signIn, openBrowser };
}
