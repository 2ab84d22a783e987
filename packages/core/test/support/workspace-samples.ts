/** A value for every key of the settings schema, chosen so that it shows where it counts. */

export interface Sample {
  readonly value: unknown;
  /** What must stand beside the key for it to mean anything. */
  readonly beside?: Readonly<Record<string, unknown>>;
  /** Other settings of the file without which the key means nothing. */
  readonly needs?: (serverName: string) => Settings;
}

interface Settings {
  readonly [key: string]: unknown;
}

const process_ = { command: "planted" };
const address = { url: "https://planted.example/mcp" };
const impersonation = {
  ...address,
  authProviderType: "sa-impersonation",
  targetAudience: "me",
  targetServiceAccount: "me@example.com",
};

const entry: Readonly<Record<string, Sample>> = {
  command: { value: "planted" },
  args: { value: ["--planted"], beside: process_ },
  env: { value: { PLANTED: "1" }, beside: process_ },
  cwd: { value: "planted", beside: process_ },
  url: { value: "https://planted.example/mcp" },
  httpUrl: { value: "https://planted.example/mcp" },
  type: { value: "sse", beside: address },
  transportType: { value: "sse", beside: address },
  headers: { value: { "x-planted": "1" }, beside: address },
  timeout: { value: 7, beside: process_ },
  trust: { value: true, beside: process_ },
  disabled: { value: true, beside: process_ },
  description: { value: "planted", beside: process_ },
  includeTools: { value: ["planted"], beside: process_ },
  excludeTools: { value: ["planted"], beside: process_ },
  "oauth.enabled": { value: true, beside: address },
  "oauth.clientId": { value: "planted", beside: address },
  "oauth.clientSecret": { value: "planted", beside: address },
  "oauth.authorizationUrl": { value: "https://planted.example/authorize", beside: address },
  "oauth.tokenUrl": { value: "https://planted.example/token", beside: address },
  "oauth.issuer": { value: "https://planted.example", beside: address },
  "oauth.registrationUrl": { value: "https://planted.example/register", beside: address },
  "oauth.scopes": { value: ["planted"], beside: address },
  "oauth.audiences": { value: ["planted"], beside: address },
  "oauth.redirectUri": { value: "http://127.0.0.1:7777/planted", beside: address },
  "oauth.tokenParamName": { value: "planted", beside: address },
  authProviderType: { value: "google", beside: { ...address, oauth: { scopes: ["planted"] } } },
  targetAudience: { value: "planted", beside: impersonation },
  targetServiceAccount: { value: "planted@example.com", beside: impersonation },
  sandboxEnabled: { value: true, beside: process_ },
  "sandbox.filesystem.allowWrite": { value: ["/planted"], beside: { ...process_, sandboxEnabled: true } },
  "sandbox.filesystem.denyRead": { value: ["/planted"], beside: { ...process_, sandboxEnabled: true } },
  "sandbox.filesystem.denyWrite": { value: ["/planted"], beside: { ...process_, sandboxEnabled: true } },
  "sandbox.network.allowedDomains": { value: ["planted.example"], beside: { ...process_, sandboxEnabled: true } },
  "sandbox.network.deniedDomains": { value: ["planted.example"], beside: { ...process_, sandboxEnabled: true } },
};

/** Counts only beside the server's entry, and if it says which server of the registry that is. */
const publishedServer = (serverName: string): Settings => ({
  mcpServers: { [serverName]: process_ },
  fairlead: { servers: { [serverName]: { origin: { name: "a/b", version: "1.0.0", kind: "npm" } } } },
});

/** By path as `leafKeys` gives it. A key without a sample fails the tests that use them: decide what a workspace may do with it. */
export const samples: ReadonlyMap<string, Sample> = new Map<string, Sample>([
  ["$schema", { value: "https://planted.example/schema.json" }],
  ...Object.entries(entry).map(([key, sample]) => [`mcpServers.<name>.${key}`, sample] as const),
  ["mcp.allowed", { value: ["planted"] }],
  ["mcp.excluded", { value: ["mine"] }],
  ["mcp.serverCommand", { value: "planted --now" }],
  ["security.folderTrust.enabled", { value: false }],
  ["ide.enabled", { value: false }],
  ["fairlead.start", { value: "lazy" }],
  ["fairlead.background", { value: "on" }],
  ["fairlead.connectTimeout", { value: 7 }],
  ["fairlead.limits.callTotal", { value: 7 }],
  ["fairlead.limits.callsPerServer", { value: 1 }],
  ["fairlead.limits.callsTotal", { value: 1 }],
  ["fairlead.limits.catalogBytes", { value: 1024 }],
  ["fairlead.permissions.servers", { value: { mine: ["planted"] } }],
  ["fairlead.permissions.denyTools", { value: ["planted"] }],
  ["fairlead.toolBudget.tokens", { value: 7 }],
  ["fairlead.toolBudget.tools", { value: 7 }],
  ["fairlead.contextTokens", { value: 7_000 }],
  ["fairlead.resultTokens", { value: 700 }],
  ["fairlead.clientMetadataUrl", { value: "https://planted.example/client.json" }],
  ["fairlead.resourceFunctions", { value: false }],
  ["fairlead.googleHosts", { value: ["planted.example"] }],
  ["fairlead.registries", { value: ["https://planted.example"] }],
  ["fairlead.publicServerCards", { value: true }],
  ["fairlead.audit.arguments", { value: true }],
  ["fairlead.telemetry.arguments", { value: true }],
  ["fairlead.telemetry.results", { value: true }],
  ["fairlead.team", { value: { url: "https://planted.example" } }],
  ["fairlead.servers.<name>.enabled", { value: false }],
  ["fairlead.servers.<name>.start", { value: "lazy" }],
  ["fairlead.servers.<name>.trustAnnotations", { value: true }],
  ["fairlead.servers.<name>.sampling", { value: true }],
  ["fairlead.servers.<name>.roots", { value: true }],
  ["fairlead.servers.<name>.baggage", { value: true }],
  ["fairlead.servers.<name>.alwaysLoad", { value: true }],
  ["fairlead.servers.<name>.hideResults", { value: true }],
  ["fairlead.servers.<name>.views", { value: "off" }],
  ["fairlead.servers.<name>.share", { value: "client" }],
  ["fairlead.clients.<name>.servers", { value: ["planted"] }],
  ["fairlead.clients.<name>.tools", { value: ["planted.*"] }],
  ["fairlead.clients.<name>.loadSkill", { value: true }],
  ["fairlead.clients.<name>.toolBudget.tokens", { value: 7 }],
  ["fairlead.clients.<name>.toolBudget.tools", { value: 7 }],
  ["fairlead.recording", { value: false }],
  ["fairlead.servers.<name>.machineAuth.kind", { value: "jwt_bearer" }],
  ["fairlead.servers.<name>.machineAuth.clientId", { value: "planted" }],
  ["fairlead.servers.<name>.machineAuth.clientSecret", { value: "planted" }],
  ["fairlead.servers.<name>.machineAuth.clientAuthentication", { value: "client_secret_post" }],
  ["fairlead.servers.<name>.machineAuth.privateKeyFile", { value: "/planted" }],
  ["fairlead.servers.<name>.machineAuth.privateKey", { value: "planted" }],
  ["fairlead.servers.<name>.machineAuth.keyId", { value: "planted" }],
  ["fairlead.servers.<name>.machineAuth.assertionFile", { value: "/planted" }],
  ["fairlead.servers.<name>.machineAuth.assertionEnv", { value: "PLANTED" }],
  ["fairlead.servers.<name>.machineAuth.assertionFrom", { value: "gcp" }],
  ["fairlead.servers.<name>.machineAuth.tokenUrl", { value: "https://planted.example/token" }],
  ["fairlead.servers.<name>.machineAuth.issuer", { value: "https://planted.example" }],
  ["fairlead.servers.<name>.machineAuth.audience", { value: "planted" }],
  ["fairlead.servers.<name>.machineAuth.scopes", { value: ["planted"] }],
  ["fairlead.servers.<name>.machineAuth.identityProvider.issuer", { value: "https://planted.example" }],
  ["fairlead.servers.<name>.machineAuth.identityProvider.tokenUrl", { value: "https://planted.example/token" }],
  ["fairlead.servers.<name>.machineAuth.identityProvider.clientId", { value: "planted" }],
  ["fairlead.servers.<name>.machineAuth.identityProvider.clientSecret", { value: "planted" }],
  ["fairlead.sandbox", { value: "on" }],
  ["fairlead.servers.<name>.sandbox.read", { value: ["/planted"] }],
  ["fairlead.servers.<name>.sandbox.write", { value: ["/planted"] }],
  ["fairlead.servers.<name>.sandbox.hosts", { value: ["planted.example"] }],
  ["fairlead.servers.<name>.sandbox.tcp", { value: ["planted.example:7"] }],
  ["fairlead.servers.<name>.sandbox.env", { value: ["PLANTED"] }],
  ...["registry", "name", "version", "kind", "package", "sha256", "proof"].map(
    (key) => [`fairlead.servers.<name>.origin.${key}`, { value: "planted", needs: publishedServer }] as const,
  ),
  ["fairlead.servers.<name>.origin.inputs", { value: { planted: "1" }, needs: publishedServer }],
  ["fairlead.servers.<name>.issuerOverride", { value: "https://planted.example" }],
]);

/** A settings file that holds the sample, for the server of that name, with what must stand beside it. */
export function settingsWith(path: readonly string[], sample: Sample, serverName: string): object {
  return merged(sample.needs?.(serverName) ?? {}, nest(path, serverName, sample.value, sample.beside));
}

/** The same without the sample: the difference is what the key does. */
export function settingsWithout(path: readonly string[], sample: Sample, serverName: string): object {
  if (path[0] === "mcpServers") return { mcpServers: { [serverName]: sample.beside ?? {} } };
  return sample.needs?.(serverName) ?? {};
}

/** The second object's keys count. */
function merged(one: Settings, other: Settings): Settings {
  const isGroup = (value: unknown): value is Settings =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const both = Object.entries(other).map(([key, value]) => {
    const first = one[key];
    return [key, isGroup(first) && isGroup(value) ? merged(first, value) : value] as const;
  });
  return { ...one, ...Object.fromEntries(both) };
}

function nest([key, ...rest]: readonly string[], serverName: string, value: unknown, beside: object = {}): Settings {
  if (key === undefined) return {};
  if (rest.length === 0) return { [key]: value };
  const inner = nest(rest, serverName, value, beside);
  return key === "<name>" ? { [serverName]: { ...beside, ...inner } } : { [key]: inner };
}
