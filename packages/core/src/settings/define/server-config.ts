/** Types of the settings that a program passes: one `mcpServers` entry, and `createHost({ settings })`. */

import type { AuthProviderType } from "./entry-authentication.ts";

/** OAuth settings of one server, for values that Fairlead cannot discover itself. */
export interface MCPOAuthConfig {
  /** If true, and the server requires a sign-in, Fairlead signs in without asking first. */
  readonly enabled?: boolean;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly issuer?: string;
  readonly registrationUrl?: string;
  readonly scopes?: readonly string[];
  readonly audiences?: readonly string[];
  readonly redirectUri?: string;
  /** Fairlead ignores this key with a warning, because it never sends a token in a URL. */
  readonly tokenParamName?: string;
}

/**
 * One entry of `mcpServers`. It has exactly one of `command`, `url` and `httpUrl`.
 *
 * `docs/settings.md` explains each key. `$NAME` and `${NAME}` stand for variables. A relative `command` or `cwd` starts
 * at the home folder, as in the user's settings file.
 *
 * @example
 * ```ts
 * import type { MCPServerConfig } from "@fairlead/core";
 *
 * const files: MCPServerConfig = {
 *   command: "npx",
 *   args: ["-y", "@modelcontextprotocol/server-filesystem", "~/notes"],
 * };
 * ```
 */
export interface MCPServerConfig {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The address of the server. Fairlead tries streamable HTTP, then SSE, unless `type` names the transport. */
  readonly url?: string;
  /** The address of a streamable HTTP server. */
  readonly httpUrl?: string;
  readonly type?: "stdio" | "http" | "sse" | "streamable-http";
  /** Another name for `type`. */
  readonly transportType?: "stdio" | "http" | "sse" | "streamable-http";
  readonly headers?: Readonly<Record<string, string>>;
  /** How many milliseconds a request may take without a response or progress. Default: 600 000. */
  readonly timeout?: number;
  /** Whether the server's tools run without confirmation. Has an effect only in a trusted folder. */
  readonly trust?: boolean;
  /** Whether the server must not start. */
  readonly disabled?: boolean;
  /** VS Code's key: whether the program runs in a sandbox, with the profile in `sandbox`. */
  readonly sandboxEnabled?: boolean;
  /** VS Code's profile of a sandbox. Fairlead's own is `fairlead.servers.NAME.sandbox`. */
  readonly sandbox?: {
    readonly filesystem?: { readonly allowWrite?: readonly string[] };
    readonly network?: { readonly allowedDomains?: readonly string[] };
  };
  readonly description?: string;
  readonly includeTools?: readonly string[];
  readonly excludeTools?: readonly string[];
  readonly oauth?: MCPOAuthConfig;
  /** How Fairlead signs in to the server. */
  readonly authProviderType?: AuthProviderType;
  readonly targetAudience?: string;
  readonly targetServiceAccount?: string;
}

/** Settings as an object, which `createHost({ settings })` takes instead of the user's file. */
export interface SettingsObject {
  /** The servers, by name. */
  readonly mcpServers?: Readonly<Record<string, MCPServerConfig>>;
  readonly mcp?: {
    readonly allowed?: readonly string[];
    readonly excluded?: readonly string[];
    readonly serverCommand?: string;
  };
  /** Fairlead's own settings. `docs/settings.md` lists the keys. */
  readonly fairlead?: Readonly<Record<string, unknown>>;
}
