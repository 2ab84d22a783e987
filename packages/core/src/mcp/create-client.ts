/** Creates a client from an entry of `mcpServers`, for programs that build their own host. */

import { homedir } from "node:os";
import type { ProcessRegistry } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { CallableTool, FunctionCall, Part } from "../normalise/model-types.ts";
import { shareAllowList } from "../registry/allow-list.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import type { MCPServerConfig } from "../settings/define/server-config.ts";
import { mergeText } from "../settings/read/load.ts";
import type { Environment } from "../settings/read/paths.ts";
import { defaults } from "../settings/schema/defaults.ts";
import { McpClient, type McpClientOptions } from "./client.ts";

/** Options of `createMcpClient`. */
export interface CreateMcpClientOptions
  extends Pick<McpClientOptions, "onState" | "onNews" | "observe" | "clock" | "random"> {
  /** Milliseconds that connecting may take; 30 000 by default. */
  readonly connectTimeout?: number;
  /**
   * The environment variables and folders. Default: those of the process. Its `cwd` is the folder of servers without a
   * `cwd` setting.
   */
  readonly environment?: Environment;
  /** Returns the value of `${secret:NAME}`. Default: no secrets. */
  readonly secret?: (name: string) => Promise<string | undefined>;
}

/**
 * Creates a client that is not connected yet. The client checks no trust, approval or policy, writes no log and does
 * not sign in: a server that requires sign-in gets the status `needs_auth`. `createHost()` does all of that.
 *
 * @throws HostError `settings_invalid` or `variable_unset` from `connect()`, if the entry is invalid
 * @example
 * ```ts
 * import { createMcpClient } from "@fairlead/core";
 *
 * const client = createMcpClient("files", { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] });
 * await client.connect();
 * const { catalog } = await client.discover();
 * await client.disconnect();
 * ```
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
  const { code = "settings_invalid", message = `"${name}" has invalid settings`, next } = wrong ?? {};
  throw new HostError(code, message, { serverName: name, ...(next !== undefined && { next }) });
}

/** Options of `mcpToTool`. */
export interface McpToToolOptions {
  /** A call fails after this many milliseconds without a response or progress. Default: the connection's limit. */
  readonly timeout?: number;
}

/**
 * Creates a `CallableTool` from a client that has read its catalog. Tools keep the server's names; only the first 512
 * are declared. Checks no rules: ask for confirmation first.
 */
export function mcpToTool(client: McpClient, options: McpToToolOptions = {}): CallableTool {
  async function call({ id, name, args = {} }: FunctionCall): Promise<Part> {
    if (name === undefined) throw new HostError("usage", `a function call to "${client.name}" has no tool name`);
    const { content, structuredContent, isError } = await client.callTool(name, args, options);
    const response = {
      content: content.map((block) => (block.type === "unknown" ? block.raw : block)),
      ...(structuredContent !== undefined && { structuredContent }),
      ...(isError && { isError }),
    };
    return { functionResponse: { ...(id !== undefined && { id }), name, response } };
  }

  const callable: CallableTool = {
    async tool() {
      const tools = client.filteredCatalog?.catalog.tools ?? [];
      return {
        functionDeclarations: tools.slice(0, limits.declarations).map(({ name, description = "", inputSchema }) => {
          return { name, description, parametersJsonSchema: inputSchema };
        }),
      };
    },
    callTool: (calls) => Promise.all(calls.map(call)),
  };
  shareAllowList(callable, client);
  return callable;
}
