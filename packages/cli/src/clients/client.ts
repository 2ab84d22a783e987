/** The programs that `fairlead connect` configures, and how each program's settings file describes an MCP server. */

import { type ClientEntry, ownEntryName } from "@fairlead/core/settings";

/** The clients that `fairlead connect` supports, in the order of help texts and lists. */
export const clientNames = [
  "claude-code",
  "claude-desktop",
  "codex",
  "gemini",
  "cursor",
  "vscode",
  "windsurf",
  "zed",
  "opencode",
  "antigravity",
  "copilot-cli",
  "kiro",
  "cline",
  "cline-cli",
  "kilo",
  "goose",
  "grok",
  "kimi",
  "mcporter",
  "pi",
] as const;

/** The name of a client on the command line and in policy rules. */
export type ClientName = (typeof clientNames)[number];

/** A server entry in the form that a client's settings file uses. */
export type ForeignEntry = Readonly<Record<string, unknown>>;

/** With `json`, the client rejects comments and trailing commas. With `jsonc`, it accepts them. */
export type ClientSyntax = "json" | "jsonc" | "toml" | "yaml";

interface ClientTraits {
  readonly title: string;
  readonly syntax: ClientSyntax;
  /** The key of the object that holds the client's servers. */
  readonly key: string;
  /**
   * Whether the client asks its user before it calls a tool, as it is set up by default, and whether it shows Fairlead's
   * question (elicitation). If neither is known, `connect` assumes no.
   */
  readonly asks: boolean;
  readonly shows: boolean;
  /** The client's commands, which `connect` searches for in PATH. */
  readonly commands: readonly string[];
  readonly stdio: (entry: Extract<ClientEntry, { kind: "stdio" }>) => ForeignEntry;
  /** Creates an entry with a URL. Absent if the client's file does not support servers with a URL. */
  readonly http?: (entry: Extract<ClientEntry, { kind: "http" }>) => ForeignEntry;
}

/** The keys of a server entry whose values may contain a token. */
export const tokenKeys: readonly string[] = ["headers", "http_headers"];

const plainStdio: ClientTraits["stdio"] = ({ command, args, env }) => ({ command, args, ...table("env", env) });
const typedStdio: ClientTraits["stdio"] = (entry) => ({ type: "stdio", ...plainStdio(entry) });
const plainHttp: ClientTraits["http"] = ({ url, headers }) => ({ url, ...table("headers", headers) });
const typedHttp: ClientTraits["http"] = (entry) => ({ type: "http", ...plainHttp(entry) });
/** Windsurf and Antigravity read the URL from `serverUrl`. */
const serverUrlHttp: ClientTraits["http"] = ({ url, headers }) => ({ serverUrl: url, ...table("headers", headers) });
const opencodeStdio: ClientTraits["stdio"] = ({ command, args, env }) => ({
  type: "local",
  command: [command, ...args],
  ...table("environment", env),
  enabled: true,
});
const opencodeHttp: ClientTraits["http"] = (entry) => ({ type: "remote", ...plainHttp(entry), enabled: true });
/** Cline speaks the older SSE transport to a URL without this type. */
const clineHttp: ClientTraits["http"] = (entry) => ({ type: "streamableHttp", ...plainHttp(entry) });
/** Copilot CLI offers only the tools that `tools` lists. */
const allTools = { tools: ["*"] };
/** How long goose waits for the result of a call, in seconds: its own default. */
const gooseKeys = { name: ownEntryName, description: "Fairlead", enabled: true, timeout: 300 };

/** For each client: its title, the syntax of its file, and how it writes a server entry. */
export const clients: Readonly<Record<ClientName, ClientTraits>> = {
  "claude-code": {
    title: "Claude Code",
    syntax: "json",
    key: "mcpServers",
    asks: true,
    shows: true,
    commands: ["claude"],
    stdio: typedStdio,
    http: typedHttp,
  },
  "claude-desktop": {
    title: "Claude Desktop",
    syntax: "json",
    key: "mcpServers",
    asks: true,
    shows: false,
    commands: ["claude-desktop"],
    stdio: plainStdio,
  },
  codex: {
    title: "Codex",
    syntax: "toml",
    key: "mcp_servers",
    asks: true,
    shows: true,
    commands: ["codex"],
    stdio: plainStdio,
    // Codex ignores `headers`, so the headers are written under `http_headers`.
    http: ({ url, headers }) => ({ url, ...table("http_headers", headers) }),
  },
  gemini: {
    title: "Gemini CLI",
    syntax: "jsonc",
    key: "mcpServers",
    asks: true,
    shows: false,
    commands: ["gemini"],
    stdio: plainStdio,
    http: ({ url, headers }) => ({ url, type: "http", ...table("headers", headers) }),
  },
  cursor: {
    title: "Cursor",
    syntax: "jsonc",
    key: "mcpServers",
    asks: true,
    shows: true,
    commands: ["cursor", "cursor-agent"],
    stdio: plainStdio,
    http: plainHttp,
  },
  vscode: {
    title: "VS Code",
    syntax: "jsonc",
    key: "servers",
    asks: true,
    shows: true,
    commands: ["code"],
    stdio: typedStdio,
    http: typedHttp,
  },
  windsurf: {
    title: "Windsurf",
    syntax: "jsonc",
    key: "mcpServers",
    asks: true,
    shows: false,
    commands: ["windsurf"],
    stdio: plainStdio,
    http: serverUrlHttp,
  },
  zed: {
    title: "Zed",
    syntax: "jsonc",
    key: "context_servers",
    asks: true,
    shows: false,
    commands: ["zed", "zeditor"],
    stdio: plainStdio,
    http: plainHttp,
  },
  opencode: {
    title: "opencode",
    syntax: "jsonc",
    key: "mcp",
    // Its permissions allow every tool by default, and it declares only roots.
    asks: false,
    shows: false,
    commands: ["opencode"],
    stdio: opencodeStdio,
    http: opencodeHttp,
  },
  antigravity: {
    title: "Antigravity",
    syntax: "json",
    key: "mcpServers",
    asks: true,
    shows: false,
    commands: ["agy", "antigravity"],
    stdio: plainStdio,
    http: serverUrlHttp,
  },
  "copilot-cli": {
    title: "GitHub Copilot CLI",
    syntax: "jsonc",
    key: "mcpServers",
    asks: true,
    shows: false,
    commands: ["copilot"],
    stdio: (entry) => ({ ...typedStdio(entry), ...allTools }),
    http: (entry) => ({ ...typedHttp(entry), ...allTools }),
  },
  kiro: {
    title: "Kiro",
    syntax: "json",
    key: "mcpServers",
    asks: true,
    shows: false,
    commands: ["kiro", "kiro-cli"],
    stdio: plainStdio,
    http: plainHttp,
  },
  cline: {
    title: "Cline",
    syntax: "json",
    key: "mcpServers",
    asks: true,
    shows: false,
    commands: [],
    stdio: plainStdio,
    http: clineHttp,
  },
  "cline-cli": {
    title: "Cline CLI",
    syntax: "json",
    key: "mcpServers",
    // `--auto-approve` is on by default.
    asks: false,
    shows: false,
    commands: ["cline"],
    stdio: plainStdio,
    http: clineHttp,
  },
  kilo: {
    title: "Kilo",
    syntax: "jsonc",
    key: "mcp",
    asks: false,
    shows: false,
    commands: ["kilo"],
    stdio: opencodeStdio,
    http: opencodeHttp,
  },
  goose: {
    title: "goose",
    syntax: "yaml",
    key: "extensions",
    // goose's default mode is `auto`, in which every tool runs at once.
    asks: false,
    shows: false,
    commands: ["goose"],
    stdio: ({ command, args, env }) => ({ ...gooseKeys, type: "stdio", cmd: command, args, ...table("envs", env) }),
    http: ({ url, headers }) => ({ ...gooseKeys, type: "streamable_http", uri: url, ...table("headers", headers) }),
  },
  grok: {
    title: "Grok Build",
    syntax: "toml",
    key: "mcp_servers",
    asks: true,
    shows: false,
    commands: ["grok"],
    stdio: plainStdio,
    http: plainHttp,
  },
  kimi: {
    title: "Kimi Code",
    syntax: "json",
    key: "mcpServers",
    asks: true,
    shows: false,
    commands: ["kimi"],
    stdio: (entry) => ({ transport: "stdio", ...plainStdio(entry) }),
    http: (entry) => ({ transport: "http", ...plainHttp(entry) }),
  },
  mcporter: {
    title: "mcporter",
    syntax: "jsonc",
    key: "mcpServers",
    asks: false,
    shows: false,
    commands: ["mcporter"],
    stdio: plainStdio,
    http: plainHttp,
  },
  pi: {
    title: "Pi",
    syntax: "jsonc",
    key: "mcpServers",
    // The adapter asks only about tools in `approveTools`.
    asks: false,
    shows: true,
    commands: ["pi"],
    stdio: plainStdio,
    http: plainHttp,
  },
};

function table(key: string, values: Readonly<Record<string, string>>): ForeignEntry {
  return Object.keys(values).length > 0 ? { [key]: values } : {};
}

/** Whether `fairlead connect` supports a client with this name. */
export function isClientName(name: string): name is ClientName {
  return Object.hasOwn(clients, name);
}

/** Converts an entry to the client's form. Undefined if the client's file does not support the entry's transport. */
export function toForeignEntry(client: ClientName, entry: ClientEntry): ForeignEntry | undefined {
  return entry.kind === "stdio" ? clients[client].stdio(entry) : clients[client].http?.(entry);
}
