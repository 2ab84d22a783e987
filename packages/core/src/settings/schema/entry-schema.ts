/** The keys of one entry of `mcpServers`. */

import { defaults } from "./defaults.ts";
import { listKey, longestTime, numberKey, type ObjectKey, switchKey, textKey } from "./key.ts";

const approved = "once the folder is trusted and the entry approved";

const oauth: ObjectKey = {
  type: "object",
  description: "OAuth settings that Fairlead cannot discover itself. Only for servers with a URL.",
  properties: {
    enabled: switchKey(approved, "Sign in without asking first if the server requires a sign-in."),
    clientId: textKey(approved, "The client id registered with the authorization server.", { expanded: true }),
    clientSecret: textKey(approved, "The client's secret. Keep it in the secret store if possible.", {
      expanded: true,
      examples: ["${secret:CLIENT_SECRET}"],
    }),
    authorizationUrl: textKey(approved, "The authorization endpoint.", { format: "url", expanded: true }),
    tokenUrl: textKey(approved, "The token endpoint.", { format: "url", expanded: true }),
    issuer: textKey(approved, "The issuer of the authorization server, whose metadata must name exactly this issuer.", {
      format: "url",
      expanded: true,
    }),
    registrationUrl: textKey(approved, "The dynamic registration endpoint.", { format: "url", expanded: true }),
    scopes: listKey(approved, "The scopes to request.", { expanded: true }),
    audiences: listKey(approved, "The audiences to request tokens for.", { expanded: true }),
    redirectUri: textKey(
      approved,
      "The address that the browser returns to after the sign-in. With `clientId`, the default is `http://127.0.0.1:PORT/oauth/callback`, where PORT is `OAUTH_CALLBACK_PORT` or a free port.",
      { format: "url", expanded: true },
    ),
    tokenParamName: textKey("no effect anywhere", "The query parameter for the token.", {
      ignored: "Tokens are never put into URLs.",
    }),
  },
};

/** Describes the keys of a server's entry, for validation and docs. */
export const entrySchema: ObjectKey = {
  type: "object",
  description: "One server: exactly one of `command`, `url` and `httpUrl`.",
  exactlyOneOf: ["command", "url", "httpUrl"],
  properties: {
    command: textKey(
      approved,
      "The program to start; Fairlead talks to it over stdio. `~` is the home folder. A relative path with a slash starts at the workspace root (in a workspace file) or at the home folder.",
      { expanded: true, examples: ["npx", "./bin/server", "~/bin/server"] },
    ),
    args: listKey(
      approved,
      "The arguments of the program, each passed unchanged: there is no shell. A leading `~` is the home folder.",
      { expanded: true, examples: [["-y", "@modelcontextprotocol/server-filesystem", "~/notes"]] },
    ),
    env: {
      type: "texts",
      names: "environment",
      workspace: approved,
      expanded: true,
      description: "Environment variables for the program, in addition to the few variables that every server gets.",
      examples: [{ GITHUB_TOKEN: "${secret:GITHUB_TOKEN}" }],
    },
    cwd: textKey(
      approved,
      "The working folder of the program; a relative path starts at the same folder as for `command`.",
      { expanded: true },
    ),
    url: textKey(
      approved,
      "The address of a server. Fairlead tries streamable HTTP, then SSE, unless `type` names the transport.",
      { format: "url", expanded: true, examples: ["https://example.com/mcp"] },
    ),
    httpUrl: textKey(approved, "The address of a streamable HTTP server.", { format: "url", expanded: true }),
    type: textKey(approved, "The transport of `url`; `streamable-http` is another word for `http`.", {
      oneOf: ["stdio", "http", "sse", "streamable-http"],
    }),
    transportType: textKey(approved, "Another name for `type`.", {
      oneOf: ["stdio", "http", "sse", "streamable-http"],
    }),
    headers: {
      type: "texts",
      names: "header",
      workspace: approved,
      expanded: true,
      description: "HTTP headers sent with every request.",
      examples: [{ Authorization: "Bearer ${secret:EXAMPLE}" }],
    },
    timeout: numberKey(approved, "How long a request may take without a response or progress, in milliseconds.", {
      minimum: 1,
      maximum: longestTime,
      default: defaults.timeout,
    }),
    trust: switchKey(approved, "The server's tools run without confirmation, in a trusted folder.", { default: false }),
    disabled: switchKey(
      "once the folder is trusted",
      "The server does not start. `fairlead mcp enable NAME` removes the key. `fairlead mcp disable NAME` disables a server without changing its entry.",
      { default: false },
    ),
    sandboxEnabled: switchKey(
      approved,
      "VS Code's key: the program runs in a sandbox, with the profile in `sandbox`. `fairlead.servers.<name>.sandbox` takes precedence.",
    ),
    sandbox: {
      type: "object",
      description:
        "VS Code's profile of a sandbox. Fairlead closes what is not listed. `denyRead`, `denyWrite` and `deniedDomains` in something that is listed are errors.",
      properties: {
        filesystem: {
          type: "object",
          description: "The files and folders of the profile.",
          properties: {
            allowWrite: listKey(
              approved,
              "Files and folders that the program may read and change; `${workspaceFolder}` and `${userHome}` are filled in.",
            ),
            denyRead: listKey(
              approved,
              "Must not name something in `allowWrite`: a sandbox of Fairlead reads only what is listed, without exceptions.",
            ),
            denyWrite: listKey(
              approved,
              "Must not name something in `allowWrite`: a sandbox of Fairlead writes only what is listed, without exceptions.",
            ),
          },
        },
        network: {
          type: "object",
          description: "The hosts of the profile.",
          properties: {
            allowedDomains: listKey(approved, "Hosts that the program may reach."),
            deniedDomains: listKey(
              approved,
              "Must not name a host of `allowedDomains`: a sandbox of Fairlead reaches only what is listed, without exceptions.",
            ),
          },
        },
      },
    },
    description: textKey(
      "once the folder is trusted",
      "A description of the server for people. This is the only key that may change without a new approval.",
    ),
    includeTools: listKey(approved, "Use only these tools of the server; globs are allowed.", {
      examples: [["read_*", "search"]],
    }),
    excludeTools: listKey(approved, "Do not use these tools of the server; takes precedence over `includeTools`."),
    oauth,
    authProviderType: textKey(
      approved,
      "How Fairlead signs in: `oauth` (also `dynamic_discovery`), `google` (`google_credentials`) or `sa-impersonation` (`service_account_impersonation`).",
      {
        oneOf: [
          "oauth",
          "google",
          "sa-impersonation",
          "dynamic_discovery",
          "google_credentials",
          "service_account_impersonation",
        ],
        default: "oauth",
      },
    ),
    targetAudience: textKey(approved, "For `sa-impersonation`: the audience of the identity token."),
    targetServiceAccount: textKey(approved, "For `sa-impersonation`: the account to impersonate."),
  },
};
