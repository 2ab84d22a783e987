/** The keys of `fairlead.servers.<name>`. */

import { listKey, type ObjectKey, switchKey, type TextKey, textKey, type WorkspaceRule } from "./key.ts";

const trusted: WorkspaceRule = "once the folder is trusted";
const tightens: WorkspaceRule = "only to restrict further, in a trusted folder";
const never: WorkspaceRule = "never: set it in user or system settings";

/** A key of `machineAuth`. A workspace may set none of them, because they name keys, and who gets the credentials. */
function text(description: string, more: Partial<Pick<TextKey, "format" | "examples">> = {}): TextKey {
  return textKey(never, description, { expanded: true, ...more });
}

/** A key whose value is one of several fixed words. Variables in the value are not expanded. */
function word(description: string, oneOf: readonly string[]): TextKey {
  return textKey(never, description, { oneOf });
}

const identityProvider: ObjectKey = {
  type: "object",
  description: "For `enterprise`: the identity provider that exchanges the ID token for an ID-JAG.",
  properties: {
    issuer: text("The identity provider's issuer; Fairlead reads its token endpoint from the metadata.", {
      format: "url",
    }),
    tokenUrl: text("The identity provider's token endpoint, instead of `issuer`.", { format: "url" }),
    clientId: text("The client id at the identity provider."),
    clientSecret: text("The client's secret at the identity provider, if the client has one.", {
      examples: ["${secret:IDP_SECRET}"],
    }),
  },
};

/** Describes `machineAuth`: an object, `true` or `false`. */
export const machineAuthSchema: ObjectKey = {
  type: "object",
  description:
    "How Fairlead gets tokens for the server if no person signs in. `true` means `client_credentials` with `clientId` and `clientSecret` under `oauth` of the entry.",
  instead: switchKey(never, ""),
  properties: {
    kind: word("The OAuth grant.", ["client_credentials", "jwt_bearer", "enterprise"]),
    clientId: text("The client id at the authorization server."),
    clientSecret: text("The client's secret.", { examples: ["${secret:CLIENT_SECRET}"] }),
    clientAuthentication: word(
      "How the client's secret is sent, if the authorization server's metadata does not say how.",
      ["client_secret_basic", "client_secret_post"],
    ),
    privateKeyFile: text(
      "A file with the client's private key (PEM or JWK), for `private_key_jwt`. A relative path starts at the home folder.",
      { examples: ["~/.keys/fairlead.pem"] },
    ),
    privateKey: text("The private key itself, from the secret store or a variable, instead of `privateKeyFile`.", {
      examples: ["${secret:CLIENT_KEY}", "${CLIENT_KEY}"],
    }),
    keyId: text("The `kid` of the key at the authorization server, if that server requires a `kid`."),
    assertionFile: text(
      "A file with the JWT that proves the identity of this machine or person; Fairlead reads it for every token request. For `enterprise`, this JWT is the ID token.",
      { examples: ["/var/run/secrets/tokens/fairlead"] },
    ),
    assertionEnv: text("The name of an environment variable with the JWT, instead of `assertionFile`.", {
      examples: ["WORKLOAD_TOKEN"],
    }),
    assertionFrom: word("The cloud or CI service that issues the JWT to this machine, instead of `assertionFile`.", [
      "gcp",
      "azure",
      "github",
    ]),
    tokenUrl: text("The token endpoint, instead of the discovered one.", { format: "url" }),
    issuer: text("The only authorization server that may get the credentials.", { format: "url" }),
    audience: text(
      "For `client_credentials`: the `audience` parameter. For `assertionFrom`: the audience of the JWT. For `enterprise`: the audience of the ID-JAG. Default for the JWT and the ID-JAG: the issuer.",
    ),
    scopes: listKey(never, "The scopes to request, instead of those that the server names.", { expanded: true }),
    identityProvider,
  },
};

const ofApproved: WorkspaceRule = "once the folder is trusted and the entry approved";

/** Describes `sandbox`: an object, `on` or `off`. */
const sandboxSchema: ObjectKey = {
  type: "object",
  description:
    "Run the program in a sandbox (Linux, with bubblewrap). It sees its own files and what is listed here, and nothing else of your home, the workspace and the network. `on`: an empty profile. `off`: no sandbox. A workspace decides only about its own servers.",
  instead: textKey(ofApproved, "", { oneOf: ["off", "on"] }),
  properties: {
    read: listKey(
      ofApproved,
      "Files and folders that the program may read. A relative path starts at the same folder as for `command`.",
      {
        examples: [["~/notes"]],
      },
    ),
    write: listKey(ofApproved, "Files and folders that the program may read and change.", {
      examples: [["~/.cache/weather"]],
    }),
    hosts: listKey(
      ofApproved,
      "Hosts that the program may reach: `name`, `name:port` or `*.name`. The default port is 443. A name stands for its public addresses; list a private or loopback address itself.",
      { examples: [["api.example.com", "127.0.0.1:8080"]] },
    ),
    tcp: listKey(ofApproved, "Hosts and ports for programs that use no HTTP, such as database clients.", {
      examples: [["db.example.com:5432"]],
    }),
    env: listKey(
      ofApproved,
      "Variables that the program gets from your environment, in addition to `env` of its entry.",
      {
        examples: [["GITHUB_TOKEN"]],
      },
    ),
  },
};

/** Describes `origin`. It counts only in the file that has the server's entry, so that no other file can replace it. */
const originSchema: ObjectKey = {
  type: "object",
  description:
    "Where the entry comes from: `fairlead mcp add` writes it for a server of a registry, and `fairlead mcp update` reads it.",
  properties: {
    registry: textKey(trusted, "The address or path of the registry."),
    name: textKey(trusted, "The server's name in the registry."),
    version: textKey(trusted, "The version of the server that was added."),
    kind: textKey(trusted, "What was added: `npm`, `pypi`, `oci`, `nuget`, `mcpb` or `remote`."),
    package: textKey(trusted, "The name of the package, or the address of the server."),
    sha256: textKey(trusted, "The digest of the bundle."),
    proof: textKey(trusted, "What proved that the package belongs to the registry's server, or `none`."),
    inputs: {
      type: "texts",
      workspace: trusted,
      names: "header",
      description: "What the user answered when the server was added. Secrets are only named.",
      examples: [{ folder: "/home/ada/notes" }],
    },
  },
};

/** Describes Fairlead's own settings for one server. */
export const serverExtras: ObjectKey = {
  type: "object",
  description: "Fairlead's own options for a server of `mcpServers`.",
  properties: {
    enabled: switchKey(tightens, "`false` in any file disables the server (`fairlead mcp disable`).", {
      default: true,
    }),
    start: textKey(trusted, "Like `fairlead.start`, but only for this server.", { oneOf: ["background", "lazy"] }),
    trustAnnotations: switchKey(never, "Trust the server's annotations of its tools (read-only, destructive).", {
      default: false,
    }),
    sampling: switchKey(never, "The server may send requests to your model (sampling).", { default: false }),
    roots: switchKey(
      never,
      "Send the workspace root to the server as its MCP root, in a trusted folder. Some servers (`server-filesystem`) then access this folder instead of the folders in their arguments.",
      { default: false },
    ),
    baggage: switchKey(
      never,
      "Pass on the `baggage` that programs send through the gateway beside their trace context. It may contain names of users or tenants.",
      { default: false },
    ),
    machineAuth: machineAuthSchema,
    sandbox: sandboxSchema,
    origin: originSchema,
    hideResults: switchKey(
      tightens,
      "Keep the server's results out of recorded conversations and recordings: they are replaced by `(hidden)`. `fairlead test` writes no snapshots of them.",
      { default: false },
    ),
    alwaysLoad: switchKey(
      trusted,
      "Offer the server's tools to models directly, before those of other servers, as far as `fairlead.toolBudget` has room for them.",
      { default: false },
    ),
    share: textKey(
      never,
      "How clients of the gateway (`fairlead serve`) share connections to the server. `all`: all clients share one connection. `client`: each client has its own connection. `auto`: clients share a connection to a server with the stateless protocol (2026-07-28) and to most stdio programs; each client has its own connection to an HTTP server with an older protocol, and to a program that keeps state for one user (browser, shell, debugger), that asks questions without saying which client they concern, or that gets `roots`.",
      { oneOf: ["auto", "all", "client"], default: "auto" },
    ),
    views: textKey(
      tightens,
      "Views of the server's tools (MCP Apps) in the console. `off`: the console shows none. `ask`: it asks once for each view, again when the page of the view, its domains or its permissions change. `on`: it shows views without asking, and tells also servers with an older protocol that it can.",
      { oneOf: ["on", "ask", "off"], default: "ask" },
    ),
    issuerOverride: textKey(never, "Accept this issuer although the server's metadata names another issuer.", {
      format: "url",
    }),
  },
};
