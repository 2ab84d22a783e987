/** Who signs in, scenario by scenario: a person whose browser is `fetch`, or a machine with credentials of its own. */

import { randomUUID } from "node:crypto";
import {
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  DpopSession,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
} from "@modelcontextprotocol/client";

const redirectUrl = "http://localhost:3000/callback";

export async function providerFor(scenario, context) {
  switch (scenario) {
    case "auth/client-credentials-basic":
      return new ClientCredentialsProvider({ clientId: context.client_id, clientSecret: context.client_secret });
    case "auth/client-credentials-jwt":
      return new PrivateKeyJwtProvider({
        clientId: context.client_id,
        privateKey: context.private_key_pem,
        algorithm: context.signing_algorithm ?? "ES256",
      });
    case "auth/cross-app-access-complete-flow":
    case "auth/enterprise-managed-authorization":
      return createCrossAppProvider(context);
    case "auth/wif-jwt-bearer":
      return createWorkloadProvider(context);
    case "auth/dpop":
    case "auth/dpop-nonce":
      return createPerson({ dpop: await DpopSession.create() });
    default:
      return createPerson({ registered: context });
  }
}

/** Signs in with a browser; credentials are kept apart by issuer, discoveries only until the browser comes back. */
function createPerson({ registered = {}, dpop }) {
  const clients = new Map();
  const tokens = new Map();
  let latest;
  let verifier = "";
  let discovery;
  let state;
  let answer;

  return {
    redirectUrl,
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    clientMetadata: {
      client_name: "Fairlead conformance",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
    state() {
      state = randomUUID();
      return state;
    },
    clientInformation({ issuer } = {}) {
      const { client_id, client_secret } = registered;
      return client_id === undefined ? clients.get(issuer) : { client_id, client_secret };
    },
    saveClientInformation: (client, { issuer }) => void clients.set(issuer, client),
    tokens: ({ issuer } = {}) => (issuer === undefined ? latest : tokens.get(issuer)),
    saveTokens(given, { issuer }) {
      tokens.set(issuer, given);
      latest = given;
      discovery = undefined;
    },
    saveCodeVerifier(given) {
      verifier = given;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(given) {
      discovery = given;
    },
    discoveryState: () => discovery,
    invalidateCredentials(what) {
      if (what === "all" || what === "client") clients.clear();
      if (what === "all" || what === "tokens") tokens.clear();
      if (what === "all" || what === "tokens") latest = undefined;
      if (what === "all" || what === "discovery") discovery = undefined;
    },
    dpop: () => dpop,
    redirectToAuthorization(url) {
      answer = visit(url, state);
    },
    /** The parameters that the browser came back with. */
    callback: () => answer,
  };
}

/** The whole visit to the authorization server: it sends the browser back at once. */
async function visit(url, state) {
  const response = await fetch(url, { redirect: "manual" });
  const location = response.headers.get("location");
  if (location === null) throw new Error(`the authorization server answered ${response.status} and sends nobody back`);
  const params = new URL(location).searchParams;
  if (params.get("state") !== state) throw new Error("the callback belongs to another sign-in");
  if (params.has("error")) throw new Error(`the authorization was refused: ${params.get("error")}`);
  return params;
}

function createCrossAppProvider(context) {
  return new CrossAppAccessProvider({
    clientId: context.client_id,
    clientSecret: context.client_secret,
    assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
      const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
        tokenEndpoint: context.idp_token_endpoint,
        audience: authorizationServerUrl,
        resource: resourceUrl,
        idToken: context.idp_id_token,
        clientId: context.idp_client_id,
        scope,
        fetchFn,
      });
      return jwtAuthGrant;
    },
  });
}

/** A workload shows the token that its platform gave it. */
function createWorkloadProvider(context) {
  let tokens;
  return {
    redirectUrl: undefined,
    clientMetadata: { client_name: "Fairlead conformance", redirect_uris: [], token_endpoint_auth_method: "none" },
    clientInformation: () => ({ client_id: context.client_id }),
    tokens: () => tokens,
    saveTokens(given) {
      tokens = given;
    },
    redirectToAuthorization() {
      throw new Error("a workload has no browser");
    },
    saveCodeVerifier() {},
    codeVerifier: () => "",
    prepareTokenRequest: (scope) =>
      new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: context.valid_jwt,
        ...(scope === undefined ? {} : { scope }),
      }),
  };
}
