/** Opens a session to a server from its entry of `mcpServers`, for programs without a host. */

import { homedir } from "node:os";
import { createProcessRegistry, type ProcessRegistry } from "@fairlead/wire";
import { objectOf } from "@fairlead/wire/json";
import type { SignInUi } from "../auth/browser/sign-in-ui.ts";
import type { HostSignIn } from "../auth/host-sign-in.ts";
import type { MCPOAuthTokenStorage } from "../auth/store/token-storage.ts";
import type { OpenedSession, OpenOptions } from "../connect/open-session.ts";
import type { ServerLog } from "../connect/server-log.ts";
import { HostError } from "../errors.ts";
import { anObject, optional, type Wanted } from "../expect-arguments.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import type { MCPServerConfig } from "../settings/define/server-config.ts";
import { mergeText } from "../settings/read/load.ts";
import { type Environment, locate } from "../settings/read/paths.ts";
import { defaults } from "../settings/schema/defaults.ts";
import { toSafeLine } from "../text/safe-text.ts";
import { entryText } from "./server-entry.ts";
import { warn } from "./warn.ts";

/** How to open sessions to one server. */
export interface EntryOptions {
  /** Milliseconds that connecting may take; 30 000 by default. */
  readonly connectTimeout?: number | undefined;
  /**
   * The environment variables and folders. Default: those of the process. Its `cwd` is the folder of servers without a
   * `cwd` setting.
   */
  readonly environment?: Environment | undefined;
  /** Returns the value of `${secret:NAME}`. Default: no secrets. */
  readonly secret?: ((name: string) => Promise<string | undefined>) | undefined;
  /** Where sign-ins are stored. Default: the store of this installation, which the command uses too. */
  readonly tokens?: MCPOAuthTokenStorage | undefined;
  /**
   * How a person signs in. Default: Fairlead opens the browser if the entry has `oauth.enabled`; otherwise the person
   * signs in with `fairlead mcp auth`.
   */
  readonly signIn?: SignInUi | undefined;
  /** Whether stderr of the server and its messages are written to stderr of this process. Default: false. */
  readonly debugMode?: boolean | undefined;
}

/** Opens one session, until `signal` aborts. */
export type OpenEntry = (opening: OpenOptions) => Promise<OpenedSession>;

/**
 * Returns the function that opens sessions to a server. It checks no trust, approval or policy and writes no log.
 * Credentials are those of the entry, or stored sign-ins.
 */
export function entryOpener(name: string, config: MCPServerConfig, options: EntryOptions = {}): OpenEntry {
  const { connectTimeout = defaults.connectTimeout, secret = async () => undefined, debugMode = false } = options;
  const environment = options.environment ?? processEnvironment();
  let keeper: ProcessRegistry | undefined;
  let signIn: Promise<HostSignIn> | undefined;
  return async (opening) => {
    const [{ openSession }, definition] = await Promise.all([
      import("../connect/open-session.ts"),
      define(name, config, environment),
    ]);
    const context = {
      environment,
      root: environment.cwd,
      trusted: true,
      connectTimeout,
      secret,
      keeper: async () => (keeper ??= createProcessRegistry()),
      auth: async (...server: Parameters<HostSignIn["hookFor"]>) => {
        signIn ??= openSignIn(config, { ...options, environment, secret });
        return (await signIn).hookFor(...server);
      },
      log: debugMode ? logToStderr : noLog,
      debug: () => debugMode,
    };
    return openSession(definition, context, opening);
  };
}

/** Accepts an `Environment`, or nothing. */
export const anEnvironment: Wanted = optional({
  words: "an object with env, home, cwd and platform",
  accepts: (given) => {
    const { env, home, cwd, platform } = objectOf(given);
    return anObject.accepts(env) && [home, cwd, platform].every((each) => typeof each === "string");
  },
});

/** The environment of this process. */
export function processEnvironment(cwd: string = process.cwd()): Environment {
  return { env: process.env, home: homedir(), cwd, platform: process.platform };
}

async function openSignIn(
  { oauth }: MCPServerConfig,
  { environment, secret, tokens, signIn }: Required<Pick<EntryOptions, "environment" | "secret">> & EntryOptions,
): Promise<HostSignIn> {
  const [{ createHostSignIn }, { state }] = await Promise.all([
    import("../auth/host-sign-in.ts"),
    locate({ environment, workspace: false }),
  ]);
  const settings = { host: { googleHosts: [] } };
  const ways = signIn ?? (oauth?.enabled === true ? browserOf(environment) : undefined);
  return createHostSignIn({
    configuration: () => ({ environment, locations: { state }, settings }),
    secret,
    tokens,
    ways,
  });
}

/** Opens the sign-in page in the browser, and names its address in a warning for a machine without one. */
function browserOf(environment: Environment): SignInUi {
  return {
    browserFirst: true,
    async openBrowser(url) {
      const { openUrl } = await import("../net/open-url.ts");
      return openUrl(url, { environment, root: environment.cwd, trusted: false });
    },
    show(message) {
      if (message.kind === "address") warn(`sign in to "${message.serverName}": ${message.url}`, "McpSignInWarning");
    },
  };
}

function noLog(): ServerLog {
  return { path: "", write: () => {}, close: async () => {} };
}

function logToStderr(serverName: string): ServerLog {
  return {
    ...noLog(),
    write: (kind, text) => void process.stderr.write(`${toSafeLine(`[${serverName}] ${kind}: ${text}`)}\n`),
  };
}

async function define(name: string, config: MCPServerConfig, environment: Environment): Promise<ServerDefinition> {
  if (config.disabled === true)
    throw new HostError("usage", `"${name}" is disabled: its entry has "disabled": true`, { serverName: name });
  const { servers, problems } = await mergeText(entryText(name, config), environment);
  const server = servers.find((each) => each.name === name);
  const wrong = problems.find(({ severity }) => severity === "error");
  if (server?.definition !== undefined && wrong === undefined) return server.definition;
  const { code = "settings_invalid", message = `"${name}" has invalid settings`, next } = wrong ?? {};
  throw new HostError(code, message, { serverName: name, next });
}
