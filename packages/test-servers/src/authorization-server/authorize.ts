/** The authorization endpoint: asks the person, and redirects the browser back with a code. */

import { randomUUID } from "node:crypto";
import { type Answer, redirect } from "./answer.ts";
import { type Authority, type Call, scopesIn } from "./authority.ts";
import { findClient, isRegistered } from "./clients.ts";
import { consentPage, messagePage } from "./page.ts";
import { type AuthorizationRequest, newSecret } from "./store.ts";

const codeLife = 600_000;

export async function answerAuthorize(call: Call, authority: Authority): Promise<Answer> {
  if (call.request.method === "POST") return takeDecision(call.params, authority);
  const { params } = call;
  const client = await findClient(params.get("client_id") ?? "", authority);
  const redirectUri = params.get("redirect_uri") ?? "";
  // An unknown redirect URI may be an attacker's, so the person sees the error here and is not redirected.
  if (!client) return messagePage("This client is not known here.", 400);
  if (!URL.canParse(redirectUri) || !isRegistered(redirectUri, client)) {
    return messagePage("This client may not be sent back there.", 400);
  }
  const request = readRequest(params, redirectUri);
  if (request.state) authority.store.secrets.add(request.state);
  const problem = problemOf(params, request, authority);
  if (problem) return sendBack(request, { error: problem }, authority);
  if (authority.settings.consent === "automatic") return approve(request, authority);
  const id = randomUUID();
  authority.store.requests.set(id, request);
  return consentPage(id, client.id, request.scopes);
}

function readRequest(params: URLSearchParams, redirectUri: string): AuthorizationRequest {
  const state = params.get("state");
  const resource = params.get("resource");
  return {
    clientId: params.get("client_id") ?? "",
    redirectUri,
    scopes: scopesIn(params),
    challenge: params.get("code_challenge") ?? "",
    ...(state !== null && { state }),
    ...(resource !== null && { resource }),
  };
}

function problemOf(
  params: URLSearchParams,
  request: AuthorizationRequest,
  { settings }: Authority,
): string | undefined {
  if (params.get("response_type") !== "code") return "unsupported_response_type";
  if (params.get("code_challenge_method") !== "S256" || request.challenge === "") return "invalid_request";
  if (!request.scopes.every((scope) => settings.scopes.includes(scope))) return "invalid_scope";
  if (settings.requiresResource && request.resource === undefined) return "invalid_target";
  return undefined;
}

function takeDecision(params: URLSearchParams, authority: Authority): Answer {
  const { requests } = authority.store;
  const id = params.get("request") ?? "";
  const request = requests.get(id);
  requests.delete(id);
  if (!request) return messagePage("This question has been answered, or was never asked.", 400);
  if (params.get("decision") !== "approve") return sendBack(request, { error: "access_denied" }, authority);
  return approve(request, authority);
}

function approve(request: AuthorizationRequest, authority: Authority): Answer {
  const { store, settings } = authority;
  const { clientId, resource, scopes } = request;
  const grant = { clientId, scopes: settings.grants(scopes), isRevoked: false, ...(resource && { resource }) };
  const code = newSecret(store, "code");
  store.codes.set(code, { request, grant, isSpent: false, expiresAt: Date.now() + codeLife });
  return sendBack(request, { code }, authority);
}

function sendBack(
  request: AuthorizationRequest,
  outcome: Readonly<Record<string, string>>,
  authority: Authority,
): Answer {
  const url = new URL(request.redirectUri);
  for (const [name, value] of Object.entries(outcome)) url.searchParams.set(name, value);
  if (request.state !== undefined) url.searchParams.set("state", request.state);
  const iss = issOf(authority);
  if (iss !== undefined) url.searchParams.set("iss", iss);
  return redirect(url);
}

function issOf({ issuer, settings }: Authority): string | undefined {
  switch (settings.iss) {
    case "right":
      return issuer;
    case "wrong":
      return "https://someone-else.example";
    case "with-slash":
      return `${issuer}/`;
    case "absent":
      return undefined;
  }
}
