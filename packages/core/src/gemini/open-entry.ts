/** Opens a session to a server from its entry of `mcpServers`, for programs without a host. */

import { homedir } from "node:os";
import type { ProcessRegistry } from "@fairlead/wire";
import type { OpenedSession, OpenOptions } from "../connect/open-session.ts";
import type { ServerLog } from "../connect/server-log.ts";
import { HostError } from "../errors.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import type { MCPServerConfig } from "../settings/define/server-config.ts";
import { mergeText } from "../settings/read/load.ts";
import type { Environment } from "../settings/read/paths.ts";
import { defaults } from "../settings/schema/defaults.ts";
import { toSafeLine } from "../text/safe-text.ts";

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
  /** Whether stderr of the server and its messages are written to stderr of this process. Default: false. */
  readonly debugMode?: boolean | undefined;
}

/** Opens one session, until `signal` aborts. */
export type OpenEntry = (opening: OpenOptions) => Promise<OpenedSession>;

/**
 * Returns the function that opens sessions to a server. It checks no trust, approval or policy, writes no log and does
 * not sign in: a server that requires sign-in rejects with `auth_required`.
 */
export function entryOpener(name: string, config: MCPServerConfig, options: EntryOptions = {}): OpenEntry {
  const { connectTimeout = defaults.connectTimeout, secret = async () => undefined, debugMode = false } = options;
  const environment = options.environment ?? processEnvironment();
  let keeper: Promise<ProcessRegistry> | undefined;
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
      keeper: () => (keeper ??= import("@fairlead/wire").then(({ createProcessRegistry }) => createProcessRegistry())),
      log: debugMode ? logToStderr : noLog,
      debug: () => debugMode,
    };
    return openSession(definition, context, opening);
  };
}

/** The environment of this process. */
export function processEnvironment(cwd: string = process.cwd()): Environment {
  return { env: process.env, home: homedir(), cwd, platform: process.platform };
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
  const text = JSON.stringify({ mcpServers: Object.fromEntries([[name, config]]) }, null, 2);
  const { servers, problems } = await mergeText(text, environment);
  const server = servers.find((each) => each.name === name);
  const wrong = problems.find(({ severity }) => severity === "error");
  if (server?.definition !== undefined && wrong === undefined) return server.definition;
  const { code = "settings_invalid", message = `"${name}" has invalid settings`, next } = wrong ?? {};
  throw new HostError(code, message, { serverName: name, ...(next !== undefined && { next }) });
}
