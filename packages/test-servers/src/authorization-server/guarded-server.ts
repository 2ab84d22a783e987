/** A real MCP server over HTTP that accepts only requests with a valid token of its authorization server. */

import { behaves } from "../web-replies.ts";
import { type WebReply, type WebRequest, webServer } from "../web-server.ts";
import { type Answer, json, notFound, send } from "./answer.ts";
import { nonce } from "./dpop.ts";
import { createFaults } from "./faults.ts";
import type { AuthorizationServer, WebPlace } from "./server.ts";
import type { AccessToken } from "./store.ts";

/** The settings of the server. All of them can be changed while it runs. */
export interface GuardSettings {
  /** The authorization server whose tokens are accepted, and which the metadata names. */
  authorization: AuthorizationServer;
  /** Where the metadata of the resource is. "elsewhere": at a URL that only the challenge names. */
  metadataAt: "path" | "root" | "elsewhere" | "nowhere";
  /** Fields that replace those of the metadata. A field that is `undefined` is left out. */
  metadata: Readonly<Record<string, unknown>>;
  /** What a challenge contains besides "Bearer". */
  challengeWith: readonly ("resource_metadata" | "scope" | "error")[];
  /** The whole challenge, instead of the usual one. "": no such header. */
  challenge: string | undefined;
  /** The scopes that every request needs. */
  scopes: readonly string[];
  /** The additional scopes that a call of a tool needs, by the tool's name. */
  toolScopes: Readonly<Record<string, readonly string[]>>;
  /** The server behind the guard. */
  serves: WebReply;
}

export interface GuardedServer extends AsyncDisposable {
  readonly origin: string;
  readonly url: string;
  readonly settings: GuardSettings;
  /** Every request to this server so far, with its headers. */
  readonly seen: readonly WebRequest[];
  /** Answers the next requests to the server, or for its metadata, with `instead`. */
  readonly interrupt: (endpoint: "mcp" | "metadata", instead: WebReply, times?: number) => void;
}

interface GuardPlace extends WebPlace {
  readonly path?: string;
  /** Whether the server has the origin of its authorization server, as before resource metadata existed. */
  readonly isSameOrigin?: boolean;
}

export async function guardedServer({
  port,
  secure,
  path = "/mcp",
  isSameOrigin = false,
  ...changes
}: Partial<GuardSettings> & Pick<GuardSettings, "authorization"> & GuardPlace): Promise<GuardedServer> {
  const settings: GuardSettings = {
    metadataAt: "path",
    metadata: {},
    challengeWith: ["resource_metadata", "scope", "error"],
    challenge: undefined,
    scopes: [],
    toolScopes: {},
    serves: behaves,
    ...changes,
  };
  const seen: WebRequest[] = [];
  const faults = createFaults<"mcp" | "metadata", WebReply>();
  const reply: WebReply = (request, response) => {
    seen.push(request);
    const asked = request.path.split("?")[0];
    const endpoint = asked === path ? "mcp" : asked === metadataPath(settings, path) ? "metadata" : undefined;
    if (!endpoint) return send(response, notFound());
    const instead = faults.take(endpoint);
    if (instead) return instead(request, response);
    const answer = endpoint === "mcp" ? refuse(request, url, settings) : json(describe(url, settings));
    if (answer) return send(response, answer);
    settings.serves(request, response);
  };
  const listenOptions = { ...(port !== undefined && { port }), ...(secure !== undefined && { secure }) };
  const web = isSameOrigin ? undefined : await webServer(reply, listenOptions);
  if (!web) settings.authorization.mount(reply);
  const { origin } = web ?? settings.authorization;
  const url = `${origin}${path}`;
  return {
    origin,
    url,
    settings,
    seen,
    interrupt: (endpoint, instead, times = 1) => faults.add(endpoint, instead, times),
    async [Symbol.asyncDispose]() {
      await web?.[Symbol.asyncDispose]();
    },
  };
}

function metadataPath({ metadataAt }: GuardSettings, path: string): string | undefined {
  switch (metadataAt) {
    case "path":
      return `/.well-known/oauth-protected-resource${path}`;
    case "root":
      return "/.well-known/oauth-protected-resource";
    case "elsewhere":
      return "/about/this-resource";
    case "nowhere":
      return undefined;
  }
}

function describe(url: string, { authorization, metadata, scopes }: GuardSettings): object {
  return {
    resource: url,
    authorization_servers: [authorization.issuer],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
    ...metadata,
  };
}

/** Undefined: come in. */
function refuse(request: WebRequest, url: string, settings: GuardSettings): Answer | undefined {
  const [, scheme = "", presented] = /^(Bearer|DPoP) (.+)$/i.exec(request.headers.authorization ?? "") ?? [];
  if (presented === undefined) return challenge(401, undefined, settings.scopes, url, settings);
  const token = settings.authorization.findLiveToken(presented);
  const isRightScheme = scheme.toLowerCase() === (token?.boundTo ? "dpop" : "bearer");
  if (!token || !isRightScheme || !isMeantFor(token, url, settings))
    return challenge(401, "invalid_token", settings.scopes, url, settings);
  const { dpop } = settings.authorization.settings;
  const proof =
    token.boundTo &&
    settings.authorization.checkProof({ request, url, accessToken: presented, needsNonce: dpop === "nonce" });
  const wrong = proof && ("error" in proof ? proof.error : proof.key === token.boundTo ? undefined : "invalid_token");
  if (wrong) {
    const answer = challenge(401, wrong, settings.scopes, url, settings);
    return { ...answer, headers: { ...answer.headers, "dpop-nonce": nonce } };
  }
  const needed = [...settings.scopes, ...scopesOfCall(request, settings)];
  if (needed.every((scope) => token.scopes.includes(scope))) return undefined;
  return challenge(403, "insufficient_scope", needed, url, settings);
}

function scopesOfCall({ method, body }: WebRequest, { toolScopes }: GuardSettings): readonly string[] {
  if (method !== "POST") return [];
  const message = JSON.parse(body) as { readonly method?: string; readonly params?: { readonly name?: string } };
  const name = message.method === "tools/call" ? message.params?.name : undefined;
  return name !== undefined && Object.hasOwn(toolScopes, name) ? (toolScopes[name] ?? []) : [];
}

/** Whether the token is for this URL or for a parent path of it. */
function isMeantFor({ grant: { resource } }: AccessToken, url: string, { authorization }: GuardSettings): boolean {
  if (resource === undefined) return !authorization.settings.requiresResource;
  return url === resource || url.startsWith(resource.endsWith("/") ? resource : `${resource}/`);
}

function challenge(
  status: 401 | 403,
  error: string | undefined,
  scopes: readonly string[],
  url: string,
  settings: GuardSettings,
): Answer {
  const { origin, pathname } = new URL(url);
  const path = metadataPath(settings, pathname);
  const facts = new Map([
    ["resource_metadata", path && `${origin}${path}`],
    ["scope", scopes.join(" ")],
    ["error", error],
  ]);
  const parameters = settings.challengeWith.flatMap((name) =>
    facts.get(name) ? [`${name}="${facts.get(name)}"`] : [],
  );
  const scheme = settings.authorization.settings.dpop === "off" ? "Bearer" : "DPoP";
  const said = settings.challenge ?? `${scheme} ${parameters.join(", ")}`.trim();
  const date = new Date(Date.now() + settings.authorization.settings.clockLead).toUTCString();
  const headers = { date, "content-type": "text/plain", ...(said !== "" && { "www-authenticate": said }) };
  return { status, headers, body: "You have to sign in." };
}
