/** `ServerDefinition` and `Settings`: the types that all later stages use instead of raw settings. */

/** Weakest first. */
export type Scope = "system-defaults" | "user" | "workspace" | "system";

/** Used instead of a file name for a server that is given on the command line for one run. */
export const typedOrigin = "command line";
/** Used instead of a file name for settings that a program passes as an object. */
export const optionOrigin = "settings option";

/** Where a value was written; line and column count from 1. */
export interface Origin {
  readonly scope: Scope;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Something wrong with the settings. Messages quote the settings file: make them safe before showing them. */
export interface Problem {
  /** An error takes its server (or its file) out; a warning changes nothing. */
  readonly severity: "error" | "warning";
  readonly code: "settings_invalid" | "variable_unset";
  readonly message: string;
  readonly origin?: Origin;
  readonly serverName?: string;
  readonly next?: string;
}

export interface StdioTransport {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly cwd?: string;
}

export interface HttpTransport {
  /** `http-or-sse`: a bare `url`, tried as streamable HTTP and then as SSE. */
  readonly kind: "http" | "sse" | "http-or-sse";
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
}

export type Transport = StdioTransport | HttpTransport;

export interface OAuthSettings {
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
}

export type Authentication =
  | { readonly provider: "oauth"; readonly oauth: OAuthSettings }
  | { readonly provider: "google"; readonly oauth: OAuthSettings }
  | { readonly provider: "sa-impersonation"; readonly targetAudience: string; readonly targetServiceAccount: string };

/** A variable that an entry mentions, and where its value would come from. */
export interface VariableUse {
  readonly name: string;
  readonly from:
    | "environment"
    | "user-env-file"
    | "workspace-env-file"
    | "workspace-root"
    | "default"
    | "unset"
    /** The entry belongs to a workspace that is not trusted. */
    | "not-looked-up";
}

export interface ServerDefinition {
  readonly name: string;
  readonly scope: Scope;
  readonly origin: Origin;
  /** As written: variables are expanded (`expandTransport`) only when the server is about to be reached. */
  readonly transport: Transport;
  /** What would be run or reached: paths resolved, variables expanded, secrets left as written. Absent while a variable is unset, and in an untrusted workspace. */
  readonly resolved?: Transport;
  readonly variables: readonly VariableUse[];
  /** What those variables stand for. May be confidential: for `expandTransport`, not for showing. */
  readonly values: ReadonlyMap<string, string>;
  /** What `~` stands for, and what relative paths are relative to. */
  readonly base: { readonly home: string; readonly folder: string };
  /** Names mentioned as `${secret:NAME}`. */
  readonly secrets: readonly string[];
  /** The longest silence of one request, in milliseconds. */
  readonly timeout: number;
  readonly trust: boolean;
  readonly description?: string;
  readonly includeTools?: readonly string[];
  readonly excludeTools: readonly string[];
  readonly authentication: Authentication;
  readonly extras: ServerExtras;
  /** SHA-256 of the entry as it is approved; only `description` may change under it. */
  readonly fingerprint: string;
  /** The files that would run, which an approval also covers: for a stdio server of a trusted workspace. */
  readonly programs?: readonly { readonly file: string; readonly digest?: string }[];
}

/** `fairlead.servers.<name>`; privileges count only from user or system scope. */
export interface ServerExtras {
  readonly start: "background" | "lazy";
  readonly enabled: boolean;
  readonly trustAnnotations: boolean;
  readonly sampling: boolean;
  /** The workspace root is sent to the server, if the folder is trusted. */
  readonly roots: boolean;
  readonly machineAuth: boolean;
  readonly issuerOverride?: string;
}

/** A name in `mcpServers`, whether or not its entry made sense. */
export interface ConfiguredServer {
  readonly name: string;
  readonly scope: Scope;
  readonly origin: Origin;
  readonly kind: Transport["kind"] | undefined;
  /** Weaker entries of the same name that this one replaces, whole. */
  readonly shadows: readonly Origin[];
  readonly enabled: boolean;
  /** The strongest of the places that switch it off. */
  readonly disabledBy?: Origin;
  /** Absent when the entry makes no sense: `problems` says why. An unset variable is an error there too, but leaves the definition. */
  readonly definition?: ServerDefinition;
  readonly problems: readonly Problem[];
}

/** The names in `mcp.allowed` or `mcp.excluded` of all scopes, with their origins. */
export interface NameList {
  readonly names: ReadonlySet<string>;
  readonly origins: readonly Origin[];
}

/** One place in the settings that closes something. Nothing opens it again. */
export interface Gate {
  /** `mcp.excluded`, `fairlead.permissions.denyTools`, `fairlead.permissions.servers.NAME`. */
  readonly setting: string;
  readonly origin: Origin;
  /** Absent: every server. */
  readonly server?: string;
  /** Absent: the server as a whole. */
  readonly tools?: { readonly only: string } | { readonly allBut: readonly string[] };
}

export interface SettingsFile {
  readonly scope: Scope;
  readonly file: string;
  /** `ignored`: readable, but of an untrusted workspace. `broken`: has a syntax error, left out and never written to. */
  readonly state: "read" | "absent" | "broken" | "ignored";
}

/** All scopes merged. */
export interface Settings {
  readonly files: readonly SettingsFile[];
  /** Order decides who keeps a bare tool name: the user file's order, then the workspace's. */
  readonly servers: readonly ConfiguredServer[];
  /** Absent: no list anywhere, all may start. An empty list allows none. */
  readonly allowed?: NameList;
  readonly excluded: NameList;
  /** What `mcp.excluded` and `fairlead.permissions` close, each with the place that says so. */
  readonly gates: readonly Gate[];
  /** Mistakes where such a place was meant. They are among `problems`, too. */
  readonly gateProblems: readonly Problem[];
  /** Names with `fairlead.servers.NAME.enabled: false`, whether or not they have an entry, and the strongest place that says so. */
  readonly switchedOff: ReadonlyMap<string, Origin>;
  readonly host: HostSettings;
  /** Everything found wrong, those of the servers included. */
  readonly problems: readonly Problem[];
}

/** `fairlead.*` with defaults filled in. */
export interface HostSettings {
  readonly start: "background" | "lazy";
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
  readonly toolBudget?: number;
  /** Whether models may look for resources, and read them. */
  readonly resourceFunctions: boolean;
  readonly clientMetadataUrl?: string;
  /** Hosts that may be sent Google tokens, beside Google's own. */
  readonly googleHosts: readonly string[];
  readonly audit: { readonly arguments: boolean };
}
