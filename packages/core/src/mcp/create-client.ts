/** A client for one server, from an entry as it would stand in `mcpServers`: for programs that build their own host. */

import { homedir } from "node:os";
import type { ProcessRegistry } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import type { MCPServerConfig } from "../settings/define/server-config.ts";
import { mergeText } from "../settings/read/load.ts";
import type { Environment } from "../settings/read/paths.ts";
import { defaults } from "../settings/schema/defaults.ts";
import { McpClient, type McpClientOptions } from "./client.ts";

export interface CreateMcpClientOptions
  extends Pick<McpClientOptions, "onState" | "onNews" | "observe" | "clock" | "random"> {
  /** How long connecting may take, in milliseconds; 30 000 by default. */
  readonly connectTimeout?: number;
  /** Where variables come from; by default the process. A server without `cwd` starts in its `cwd`. */
  readonly environment?: Environment;
  /** The value of `${secret:NAME}`; without it there are no secrets. */
  readonly secret?: (name: string) => Promise<string | undefined>;
}

/**
 * Creates a client that is not connected yet. The entry is your own: it is run without trust, approval or policy, and no
 * log is kept. Nobody signs in: a server that wants that is left at `needs_auth`. `createHost()` does all of that.
 *
 * @throws HostError `settings_invalid` or `variable_unset` from `connect()`, if the entry has a mistake
 * @example
 * const client = createMcpClient("files", { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] });
 * await client.connect();
 * const { catalog } = await client.discover();
 */
export function createMcpClient(
  name: string,
  config: MCPServerConfig,
  options: CreateMcpClientOptions = {},
): McpClient {
  const { connectTimeout = defaults.connectTimeout, secret = async () => undefined, ...listeners } = options;
  const environment = options.environment ?? ofProcess();
  let keeper: Promise<ProcessRegistry> | undefined;
  return new McpClient({
    ...listeners,
    definition: { name, excludeTools: [...(config.excludeTools ?? [])], ...includeOf(config) },
    connectTimeout,
    async open(opening) {
      const [{ openSession }, definition] = await Promise.all([
        import("../connect/open-session.ts"),
        define(name, config, environment),
      ]);
      return openSession(
        definition,
        {
          environment,
          root: environment.cwd,
          trusted: true,
          connectTimeout,
          secret,
          keeper: () =>
            (keeper ??= import("@fairlead/wire").then(({ createProcessRegistry }) => createProcessRegistry())),
          log: () => ({ path: "", write: () => {}, close: async () => {} }),
          debug: () => false,
        },
        opening,
      );
    },
  });
}

function ofProcess(): Environment {
  return { env: process.env, home: homedir(), cwd: process.cwd(), platform: process.platform };
}

function includeOf({ includeTools }: MCPServerConfig): { readonly includeTools?: readonly string[] } {
  return includeTools === undefined ? {} : { includeTools };
}

async function define(name: string, config: MCPServerConfig, environment: Environment): Promise<ServerDefinition> {
  const text = JSON.stringify({ mcpServers: Object.fromEntries([[name, config]]) }, null, 2);
  const { servers, problems } = await mergeText(text, environment);
  const definition = servers.find((server) => server.name === name)?.definition;
  const wrong = problems.find(({ severity }) => severity === "error");
  if (definition !== undefined && wrong === undefined) return definition;
  const { code = "settings_invalid", message = `"${name}" is not usable`, next } = wrong ?? {};
  throw new HostError(code, message, { serverName: name, ...(next !== undefined && { next }) });
}
