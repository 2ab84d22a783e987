/** Twenty servers, ten of them broken in ten ways, as a host would describe them. */

import type { ServerRow } from "../../../src/protocol/rows.ts";

const minute = 60_000;
const hour = 60 * minute;

const fine: readonly (Partial<ServerRow> & { readonly name: string })[] = [
  { name: "files", tokens: 2412, calls: 112, median: 12, counts: counts(14, 2) },
  { name: "git", tokens: 3905, calls: 341, median: 48, counts: counts(22) },
  { name: "db", tokens: 5210, calls: 57, median: 131, counts: counts(18, 6, 3), changed: 2 },
  { name: "browser", tokens: 6130, calls: 19, median: 1840, counts: counts(27), transport: "http" },
  { name: "memory", tokens: 1870, calls: 8, median: 4, counts: counts(9, 1) },
  {
    name: "slack",
    tokens: 4420,
    calls: 26,
    median: 402,
    counts: counts(16),
    transport: "http",
    lastError: "channel_not_found",
  },
  { name: "time", tokens: 240, calls: 3, median: 2, counts: counts(2) },
  { name: "jira", status: "disconnected", reason: "lazy", tokens: 9830, calls: 0, counts: counts(31), isCached: true },
  {
    name: "sequential-thinking",
    status: "disconnected",
    reason: "lazy",
    tokens: 905,
    calls: 0,
    counts: counts(1),
    isCached: true,
  },
  { name: "old-search", status: "disabled", reason: "user", calls: 0 },
];

const broken: readonly (Partial<ServerRow> & { readonly name: string })[] = [
  {
    name: "docs",
    status: "disconnected",
    reason: "unreachable",
    cause: "http://127.0.0.1:9999/mcp refused the connection",
    next: { label: "Try again", action: "restart" },
    transport: "http",
  },
  {
    name: "postgres",
    status: "disconnected",
    reason: "server_exited",
    cause: '"postgres" exited with code 1 during initialize',
    evidence:
      'Error: password authentication failed for user "app"\n    at Parser.parseErrorMessage (/srv/pg/parser.js:287:98)\n    at Socket.emit (node:events:524:28)',
    next: { label: "Try again", action: "restart" },
  },
  {
    name: "search",
    status: "disconnected",
    reason: "command_not_found",
    cause: 'the command "uvx" of "search" was not found in PATH',
    next: { label: "Show log" },
  },
  {
    name: "metrics",
    status: "disconnected",
    reason: "connect_timeout",
    cause: '"metrics" timed out: no response to initialize for 60 s',
    next: { label: "Try again", action: "restart" },
  },
  {
    name: "legacy-api",
    status: "disconnected",
    reason: "not_mcp",
    cause: "https://legacy.example.com/ answered with a web page, not with MCP (status 200, text/html)",
    evidence: "<!doctype html><html><head><title>Welcome</title>",
    transport: "http",
    next: { label: "Edit" },
  },
  {
    name: "stripe",
    status: "disconnected",
    reason: "variable_unset",
    cause: "the variable STRIPE_KEY of the header Authorization is not set",
    next: { label: "Set it", shell: "fairlead secret set STRIPE_KEY" },
    transport: "http",
  },
  {
    name: "github",
    status: "needs_auth",
    reason: "auth_required",
    cause: "the token has expired, and the server did not accept a new one",
    next: { label: "Sign in", action: "signIn", shell: "fairlead mcp auth github" },
    transport: "http",
  },
  {
    name: "team-tools",
    status: "blocked",
    reason: "awaiting_approval",
    cause: "the workspace defines this server, and you have not approved it",
    next: { label: "Review", action: "approve", shell: "fairlead trust add team-tools" },
    scope: "workspace",
  },
  {
    name: "linear",
    status: "disconnected",
    reason: "backoff",
    cause: "the connection broke: read ECONNRESET",
    next: { label: "Try now", action: "restart" },
    transport: "sse",
    tokens: 3120,
    counts: counts(12),
    isCached: true,
    calls: 41,
    median: 90,
  },
  {
    name: "internal-ca",
    status: "disconnected",
    reason: "tls",
    cause: "the certificate of wiki.corp.example is not trusted: self-signed certificate in chain",
    next: { label: "Explain", shell: "fairlead doctor internal-ca" },
    transport: "http",
  },
];

/** Returns the rows as at a moment. Their order is that of a settings file, not that of need. */
export function sampleServers(now: number): readonly ServerRow[] {
  const rows = fine.flatMap((row, at) => [row, broken[at]]).filter((row) => row !== undefined);
  return rows.map((row, at) => ({
    status: "connected",
    transport: "stdio",
    scope: "user",
    isCached: false,
    calls: 0,
    changed: 0,
    since: now - (at + 1) * 17 * minute - (at % 3) * 2 * hour,
    ...(row.reason === "backoff" && { nextTryAt: now + 8000 }),
    ...row,
  }));
}

function counts(tools: number, resources = 0, prompts = 0): NonNullable<ServerRow["counts"]> {
  return { tools, resources, prompts, resourceTemplates: 0 };
}
