/** `ServerDefinition` and `Settings`: the types that other code uses instead of raw settings. */

import type { MCPOAuthConfig } from "./server-config.ts";

/** The scopes of settings, weakest first. */
export type Scope = "system-defaults" | "user" | "workspace" | "system";

/** The origin's file name if the user gave the server on the command line. */
export const typedOrigin = "command line";
/** The origin's file name if a program passed the settings as an object. */
export const optionOrigin = "settings option";

/** Where a value is written in the settings. Line and column count from 1. */
export interface Origin {
  readonly scope: Scope;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A mistake in the settings. Messages quote the settings file, so escape them before you show them. */
export interface Problem {
  /** An error disables the server or the whole settings file. A warning disables nothing. */
  readonly severity: "error" | "warning";
  readonly code: "settings_invalid" | "variable_unset";
  readonly message: string;
  readonly origin?: Origin;
  readonly serverName?: string;
  readonly next?: string;
}

/** How Fairlead starts a server as a child process and talks to it over stdin and stdout. */
export interface StdioTransport {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly cwd?: string;
}

/** How Fairlead reaches a server over HTTP. */
export interface HttpTransport {
  /**
   * `http-or-sse` means that the entry has a `url` but does not name a transport. Fairlead tries streamable HTTP, then
   * SSE.
   */
  readonly kind: "http" | "sse" | "http-or-sse";
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
}

/** How Fairlead reaches a server: as a child process or over HTTP. */
export type Transport = StdioTransport | HttpTransport;

/** The `oauth` keys of a server's entry in the settings. */
export type OAuthSettings = Omit<MCPOAuthConfig, "tokenParamName">;

/** How Fairlead signs in to a server: with OAuth, with Google credentials, or as a Google service account. */
export type Authentication =
  | { readonly provider: "oauth"; readonly oauth: OAuthSettings }
  | { readonly provider: "google"; readonly oauth: OAuthSettings }
  | { readonly provider: "sa-impersonation"; readonly targetAudience: string; readonly targetServiceAccount: string };

/** A variable that an entry mentions, and the source of its value. */
export interface VariableUse {
  readonly name: string;
  readonly from:
    | "environment"
    | "user-env-file"
    | "workspace-env-file"
    | "workspace-root"
    /** The text of a file: `${file:PATH}` in system settings. */
    | "file"
    | "default"
    | "unset"
    /** Fairlead did not look up the variable, because its entry belongs to an untrusted workspace. */
    | "not-looked-up";
}

/** A server's entry in the settings, after Fairlead has checked it and filled in the defaults. */
export interface ServerDefinition {
  readonly name: string;
  readonly scope: Scope;
  readonly origin: Origin;
  /** The transport as written. Variables are expanded (`expandTransport`) only just before Fairlead connects. */
  readonly transport: Transport;
  /**
   * The transport with resolved paths and expanded variables. Secrets are not expanded. Absent if a variable is unset,
   * or if the entry belongs to an untrusted workspace.
   */
  readonly resolved?: Transport;
  readonly variables: readonly VariableUse[];
  /**
   * The values of the entry's variables. They may be confidential, so use them only in `expandTransport` and do not
   * show them.
   */
  readonly values: ReadonlyMap<string, string>;
  /** The folder that `~` stands for, and the folder in which relative paths start. */
  readonly base: { readonly home: string; readonly folder: string };
  /** Names of the secrets that the entry mentions as `${secret:NAME}`. */
  readonly secrets: readonly string[];
  /**
   * The command lines that the entry mentions as `${command:LINE}`. They run when Fairlead connects, and what they print
   * is a secret. Absent if there are none.
   */
  readonly commands?: readonly string[];
  /** How many milliseconds a request may take without a response or progress. */
  readonly timeout: number;
  readonly trust: boolean;
  readonly description?: string;
  readonly includeTools?: readonly string[];
  readonly excludeTools: readonly string[];
  readonly authentication: Authentication;
  readonly extras: ServerExtras;
  /** What the server may reach from its sandbox. Absent if it runs without a sandbox. */
  readonly sandbox?: SandboxSettings;
  /**
   * The folder that approvals and accepted definitions of the server are bound to, because in another folder the entry
   * may run another program. Absent if it is the same server in every folder.
   */
  readonly approvalFolder?: string;
  /** SHA-256 of everything that an approval of the entry covers. The entry's `description` is not part of it. */
  readonly fingerprint: string;
  /**
   * The files that the server would run. An approval covers these files too. Present only for a stdio server of a
   * trusted workspace.
   */
  readonly programs?: readonly { readonly file: string; readonly digest?: string }[];
}

/** What a server may reach from its sandbox. Everything else of home, workspace and network is closed. */
export interface SandboxSettings {
  /** Absolute paths of files and folders that the server may read. */
  readonly read: readonly string[];
  /** Absolute paths of files and folders that the server may read and change. */
  readonly write: readonly string[];
  /** `name:port`, to which the server may open TLS and HTTP connections. The name may begin with `*.`. */
  readonly hosts: readonly string[];
  /** `name:port`, to which the server may open any TCP connection. */
  readonly tcp: readonly string[];
  /** Names of variables that the server gets from Fairlead's environment, in addition to those of its entry. */
  readonly env: readonly string[];
  /** Whether the settings name this server. False: it has a sandbox because `fairlead.sandbox` is on. */
  readonly isNamed: boolean;
  /** Where the profile is written. Absent if no file has one. */
  readonly origin?: Origin;
}

/** The keys of `fairlead.servers.<name>.machineAuth`, with their values as written. */
export interface MachineAuthSettings {
  readonly kind: "client_credentials" | "jwt_bearer" | "enterprise";
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientAuthentication?: "client_secret_basic" | "client_secret_post";
  readonly privateKeyFile?: string;
  readonly privateKey?: string;
  readonly keyId?: string;
  readonly assertionFile?: string;
  readonly assertionEnv?: string;
  readonly assertionFrom?: "gcp" | "azure" | "github";
  readonly tokenUrl?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly scopes?: readonly string[];
  readonly identityProvider?: {
    readonly issuer?: string;
    readonly tokenUrl?: string;
    readonly clientId?: string;
    readonly clientSecret?: string;
  };
}

/** How Fairlead gets tokens for a server if no person signs in. */
export interface MachineAuth {
  readonly settings: MachineAuthSettings;
  /** The values of the variables that the settings mention. They may be confidential. */
  readonly values: ReadonlyMap<string, string>;
  readonly origin: Origin;
}

/**
 * Fairlead's own settings for one server, `fairlead.servers.<name>`. The keys that give the server more rights
 * (`trustAnnotations`, `sampling`, `roots`, `baggage`, `machineAuth`, `issuerOverride`) have no effect in a workspace's settings.
 */
export interface ServerExtras {
  readonly start: "background" | "lazy";
  readonly trustAnnotations: boolean;
  readonly sampling: boolean;
  /** Whether Fairlead sends the workspace root to the server. Fairlead does so only if the workspace is trusted. */
  readonly roots: boolean;
  /** True if the server may get the `baggage` that clients of the gateway send beside their trace context. */
  readonly baggage?: true;
  /** How Fairlead gets tokens for the server if no person signs in. Absent if the settings lack `machineAuth`. */
  readonly machineAuth?: MachineAuth;
  /** True if the server's results must not be written into recorded conversations, recordings and snapshots. */
  readonly hideResults?: true;
  /** Whether the console shows the views of the server's tools (MCP Apps). Absent: after a question. */
  readonly views?: "off" | "on";
  readonly issuerOverride?: string;
  /** Where the entry comes from, if `mcp add` took it from a registry or a bundle. Not checked. */
  readonly origin?: PublishedOrigin;
  /** Whether models always get the server's tools directly and need not search for them. */
  readonly alwaysLoad: boolean;
  /**
   * Which clients of a gateway share a connection to the server. With `auto`, this depends on the server's protocol and
   * program.
   */
  readonly share: SharedBy | "auto";
}

/** Where `mcp add` took an entry from, as its settings file says. */
export interface PublishedOrigin {
  /** The address or path of the registry. Absent for a bundle from a file. */
  readonly registry?: string;
  /** The server's name in the registry, or the bundle's name. */
  readonly name: string;
  readonly version: string;
  /** `npm`, `pypi`, `oci`, `nuget`, `mcpb` or `remote`. */
  readonly kind: string;
  readonly package?: string;
  readonly sha256?: string;
  readonly proof?: string;
  /** The user's answers, by the name of the input. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** Whether all clients of a gateway share one connection to a server, or each client has its own. */
export type SharedBy = "all" | "client";

/** The limits of one client of the gateway, `fairlead.clients.NAME`. */
export interface ClientProfile {
  /** The servers that the client may use. If absent, the client may use all servers. */
  readonly servers?: readonly string[];
  /** The tools that the client may use, as patterns of `server.tool`. If absent, the client may use all tools. */
  readonly tools?: readonly string[];
  /** The budget for the tools that the gateway lists to the client. If absent, the gateway lists all tools. */
  readonly toolBudget?: ToolBudget;
  /** Whether the client gets the tool `load_skill`. Default: no. */
  readonly loadsSkills?: boolean;
}

/** A budget for tool definitions. */
export interface ToolBudget {
  readonly tokens?: number;
  /** Maximum number of tools. */
  readonly tools?: number;
}

/** A place in the settings that disables a server. */
export interface DisablingOrigin extends Origin {
  /** True for `disabled: true` in the server's entry. Absent for `fairlead.servers.NAME.enabled: false`. */
  readonly inEntry?: true;
}

/** A name in `mcpServers`, whether or not its entry is valid. */
export interface ConfiguredServer {
  readonly name: string;
  readonly scope: Scope;
  readonly origin: Origin;
  readonly kind: Transport["kind"] | undefined;
  /** Entries with the same name in files of weaker scopes. This entry replaces each of them completely. */
  readonly shadows: readonly Origin[];
  readonly enabled: boolean;
  /**
   * The place in the settings that disables the server. If several files disable it, the place in the strongest file.
   */
  readonly disabledBy?: DisablingOrigin;
  /**
   * The server definition. Absent if the entry is invalid. If a variable is unset, the definition exists, and
   * `problems` contains an error.
   */
  readonly definition?: ServerDefinition;
  /** Whether the settings say if this server runs in a sandbox. False: `fairlead.sandbox` decides. */
  readonly saysSandbox?: boolean;
  readonly problems: readonly Problem[];
}

/** The names in `mcp.allowed` or `mcp.excluded` of all scopes, with their origins. */
export interface NameList {
  readonly names: ReadonlySet<string>;
  readonly origins: readonly Origin[];
}

/** One place in the settings that denies a server or some of its tools. No other setting can allow them again. */
export interface Gate {
  /** `mcp.excluded`, `fairlead.permissions.denyTools`, `fairlead.permissions.servers.NAME`. */
  readonly setting: string;
  readonly origin: Origin;
  /** The denied server. Absent if the setting applies to all servers. */
  readonly server?: string;
  /** The denied tools. Absent if the whole server is denied. */
  readonly tools?: { readonly only: string } | { readonly allBut: readonly string[] };
}

/** A settings file, and whether Fairlead uses it. */
export interface SettingsFile {
  readonly scope: Scope;
  readonly file: string;
  /**
   * `ignored`: the file is readable, but belongs to an untrusted workspace. `broken`: the file has a syntax error, so
   * Fairlead neither uses nor changes it.
   */
  readonly state: "read" | "absent" | "broken" | "ignored";
}

/** The settings of all scopes, merged. */
export interface Settings {
  readonly files: readonly SettingsFile[];
  /**
   * The servers of the user's file, then those of the workspace's file. If two servers have tools with the same name,
   * the tool of the first server gets no prefix.
   */
  readonly servers: readonly ConfiguredServer[];
  /** The names in `mcp.allowed`. Absent if no file has such a list. In that case, all servers may start. */
  readonly allowed?: NameList;
  readonly excluded: NameList;
  /** The denials of `mcp.excluded` and `fairlead.permissions`, each with its place in the settings. */
  readonly gates: readonly Gate[];
  /** Mistakes in `mcp.excluded` and similar settings: a denial may be missing because of them. Also in `problems`. */
  readonly gateProblems: readonly Problem[];
  /**
   * Servers that `fairlead.servers.NAME.enabled: false` disables, each with the place of this setting. Also contains
   * names that `mcpServers` lacks. If several files disable a server, the place is in the strongest file.
   */
  readonly switchedOff: ReadonlyMap<string, Origin>;
  readonly host: HostSettings;
  readonly problems: readonly Problem[];
}

/** The settings under `fairlead`, with defaults filled in. */
export interface HostSettings {
  readonly start: "background" | "lazy";
  /** Whether the cards of the gateway need no token. */
  readonly publicServerCards: boolean;
  /** Whether commands use the background host. */
  readonly background: "auto" | "on" | "off";
  readonly connectTimeout: number;
  readonly limits: {
    readonly callTotal: number;
    readonly callsPerServer: number;
    readonly callsTotal: number;
    readonly catalogBytes: number;
  };
  readonly permissions: {
    readonly servers: ReadonlyMap<string, readonly string[]>;
    readonly denyTools: readonly string[];
  };
  /** The budget for tool declarations in a request to a model. If a limit is absent, the model's default applies. */
  readonly toolBudget: ToolBudget;
  /** The size of the model's context in tokens, if the user sets it. */
  readonly contextTokens?: number;
  /** The maximum size, in tokens, of a result that a model gets completely. Larger results are shortened. */
  readonly resultTokens: number;
  /** Whether models may list and read resources. */
  readonly resourceFunctions: boolean;
  readonly clientMetadataUrl?: string;
  /** Hosts that may get Google tokens, in addition to Google's own hosts. */
  readonly googleHosts: readonly string[];
  readonly audit: { readonly arguments: boolean };
  /** Whether spans have the arguments and results of calls. */
  readonly telemetry: { readonly arguments: boolean; readonly results: boolean };
  /** The profiles of the gateway's clients, by name. */
  readonly clients: ReadonlyMap<string, ClientProfile>;
  /** Addresses and paths of MCP registries, in the user's order. Empty: the official registry. */
  readonly registries: readonly string[];
  /** Whether conversations are recorded. */
  readonly recording: boolean;
  /** `fairlead.team` as the system settings have it, with variables. The team gateway reads it. */
  readonly team?: unknown;
}
