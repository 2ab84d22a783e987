/** A real MCP server on the web that lets in only whoever brings a live token of its authorization server. */

import { behaves } from "../web-replies.ts";
import { type WebReply, type WebRequest, webServer } from "../web-server.ts";
import { type Answer, json, notFound, send } from "./answer.ts";
import { nonce } from "./dpop.ts";
import { createFaults } from "./faults.ts";
import type { AuthorizationServer, WebPlace } from "./server.ts";
import type { AccessToken } from "./store.ts";

/** Every setting but the place can be changed while it runs. */
export interface GuardSettings {
  /** Whose tokens are accepted, and who is named in the metadata. */
  authorization: AuthorizationServer;
  /** Where the metadata of the resource is found; "elsewhere": at an address that only the challenge tells. */
  metadataAt: "path" | "root" | "elsewhere" | "nowhere";
  /** Laid over the metadata; a field that is `undefined` is left out of it. */
  metadata: Readonly<Record<string, unknown>>;
  /** What a challenge says, apart from "Bearer". */
  challengeWith: readonly ("resource_metadata" | "scope" | "error")[];
  /** Instead of all that; "": no such header. */
  challenge: string | undefined;
  /** What every request needs. */
  scopes: readonly string[];
  /** What a call of a tool needs besides, by its name. */
  toolScopes: Readonly<Record<string, readonly string[]>>;
  /** The server behind the guard. */
  serves: WebReply;
}

export interface GuardedServer extends AsyncDisposable {
  readonly origin: string;
  readonly url: string;
  readonly settings: GuardSettings;
  /** Every request so far that came here, with its headers. */
  readonly seen: readonly WebRequest[];
  /** The next requests to the server, or for its metadata, are answered like this. */
  readonly interrupt: (endpoint: "mcp" | "metadata", instead: WebReply, times?: number) => void;
}

interface GuardPlace extends WebPlace {
  readonly path?: string;
  /** On the origin of the authorization server, as before there was metadata of resources. */
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
  const place = { ...(port !== undefined && { port }), ...(secure !== undefined && { secure }) };
  const web = isSameOrigin ? undefined : await webServer(reply, place);
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

/** A token for a parent path is good enough; one for somebody else is not. */
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
