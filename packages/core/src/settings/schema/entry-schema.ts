/** The keys of one entry of `mcpServers`. */

import { defaults } from "./defaults.ts";
import { longestTime, type ObjectKey } from "./key.ts";

const approved = "once the folder is trusted and the entry approved";

const oauth: ObjectKey = {
  type: "object",
  description: "OAuth settings that Fairlead cannot discover itself. Only for servers with a URL.",
  properties: {
    enabled: {
      type: "switch",
      workspace: approved,
      description: "Sign in without asking first if the server requires a sign-in.",
    },
    clientId: {
      type: "text",
      workspace: approved,
      expanded: true,
      description: "The client id registered with the authorization server.",
    },
    clientSecret: {
      type: "text",
      workspace: approved,
      expanded: true,
      description: "The client's secret. Keep it in the secret store if possible.",
      examples: ["${secret:CLIENT_SECRET}"],
    },
    authorizationUrl: {
      type: "text",
      format: "url",
      workspace: approved,
      expanded: true,
      description: "The authorization endpoint.",
    },
    tokenUrl: { type: "text", format: "url", workspace: approved, expanded: true, description: "The token endpoint." },
    issuer: {
      type: "text",
      format: "url",
      workspace: approved,
      expanded: true,
      description: "The issuer of the authorization server, whose metadata must name exactly this issuer.",
    },
    registrationUrl: {
      type: "text",
      format: "url",
      workspace: approved,
      expanded: true,
      description: "The dynamic registration endpoint.",
    },
    scopes: { type: "list", workspace: approved, expanded: true, description: "The scopes to request." },
    audiences: {
      type: "list",
      workspace: approved,
      expanded: true,
      description: "The audiences to request tokens for.",
    },
    redirectUri: {
      type: "text",
      format: "url",
      workspace: approved,
      expanded: true,
      description:
        "The address that the browser returns to after the sign-in. With `clientId`, the default is `http://127.0.0.1:PORT/oauth/callback`, where PORT is `OAUTH_CALLBACK_PORT` or a free port.",
    },
    tokenParamName: {
      type: "text",
      workspace: "no effect anywhere",
      description: "The query parameter for the token.",
      ignored: "Tokens are never put into URLs.",
    },
  },
};

/** Describes the keys of a server's entry, for validation and docs. */
export const entrySchema: ObjectKey = {
  type: "object",
  description: "One server: exactly one of `command`, `url` and `httpUrl`.",
  exactlyOneOf: ["command", "url", "httpUrl"],
  properties: {
    command: {
      type: "text",
      workspace: approved,
      expanded: true,
      description:
        "The program to start; Fairlead talks to it over stdio. `~` is the home folder. A relative path with a slash starts at the workspace root (in a workspace file) or at the home folder.",
      examples: ["npx", "./bin/server", "~/bin/server"],
    },
    args: {
      type: "list",
      workspace: approved,
      expanded: true,
      description:
        "The arguments of the program, each passed unchanged: there is no shell. A leading `~` is the home folder.",
      examples: [["-y", "@modelcontextprotocol/server-filesystem", "~/notes"]],
    },
    env: {
      type: "texts",
      names: "environment",
      workspace: approved,
      expanded: true,
      description: "Environment variables for the program, in addition to the few variables that every server gets.",
      examples: [{ GITHUB_TOKEN: "${secret:GITHUB_TOKEN}" }],
    },
    cwd: {
      type: "text",
      workspace: approved,
      expanded: true,
      description: "The working folder of the program; a relative path starts at the same folder as for `command`.",
    },
    url: {
      type: "text",
      format: "url",
      workspace: approved,
      expanded: true,
      description:
        "The address of a server. Fairlead tries streamable HTTP, then SSE, unless `type` names the transport.",
      examples: ["https://example.com/mcp"],
    },
    httpUrl: {
      type: "text",
      format: "url",
      workspace: approved,
      expanded: true,
      description: "The address of a streamable HTTP server.",
    },
    type: {
      type: "text",
      oneOf: ["stdio", "http", "sse", "streamable-http"],
      workspace: approved,
      description: "The transport of `url`; `streamable-http` is another word for `http`.",
    },
    transportType: {
      type: "text",
      oneOf: ["stdio", "http", "sse", "streamable-http"],
      workspace: approved,
      description: "Another name for `type`.",
    },
    headers: {
      type: "texts",
      names: "header",
      workspace: approved,
      expanded: true,
      description: "HTTP headers sent with every request.",
      examples: [{ Authorization: "Bearer ${secret:EXAMPLE}" }],
    },
    timeout: {
      type: "number",
      minimum: 1,
      maximum: longestTime,
      default: defaults.timeout,
      workspace: approved,
      description: "How long a request may take without a response or progress, in milliseconds.",
    },
    trust: {
      type: "switch",
      default: false,
      workspace: approved,
      description: "The server's tools run without confirmation, in a trusted folder.",
    },
    disabled: {
      type: "switch",
      default: false,
      workspace: "once the folder is trusted",
      description:
        "The server does not start. `fairlead mcp enable NAME` removes the key. `fairlead mcp disable NAME` disables a server without changing its entry.",
    },
    description: {
      type: "text",
      workspace: "once the folder is trusted",
      description:
        "A description of the server for people. This is the only key that may change without a new approval.",
    },
    includeTools: {
      type: "list",
      workspace: approved,
      description: "Use only these tools of the server; globs are allowed.",
      examples: [["read_*", "search"]],
    },
    excludeTools: {
      type: "list",
      workspace: approved,
      description: "Do not use these tools of the server; takes precedence over `includeTools`.",
    },
    oauth,
    authProviderType: {
      type: "text",
      oneOf: [
        "oauth",
        "google",
        "sa-impersonation",
        "dynamic_discovery",
        "google_credentials",
        "service_account_impersonation",
      ],
      default: "oauth",
      workspace: approved,
      description:
        "How Fairlead signs in: `oauth` (also `dynamic_discovery`), `google` (`google_credentials`) or `sa-impersonation` (`service_account_impersonation`).",
    },
    targetAudience: {
      type: "text",
      workspace: approved,
      description: "For `sa-impersonation`: the audience of the identity token.",
    },
    targetServiceAccount: {
      type: "text",
      workspace: approved,
      description: "For `sa-impersonation`: the account to impersonate.",
    },
  },
};
