/** Our engine's hook for 401 and 403 on the SDK's `auth()`: signs in once for all who ask, and lets the request go on. */

import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  isStrictScopeSuperset,
} from "@modelcontextprotocol/client";

const mostAuthorizations = 3;

export function createSignIn(provider, serverUrl) {
  let flight;
  let authorizations = 0;
  let scopes;

  async function signIn(challenge) {
    const { resourceMetadataUrl, scope, error } = paramsOf(challenge);
    if (challenge.status === 403 && error !== "insufficient_scope") return false;
    if (authorizations === mostAuthorizations) return false;
    authorizations += 1;
    const granted = challenge.status === 403 ? (await provider.tokens())?.scope : undefined;
    scopes = computeScopeUnion(scopes, granted, scope);
    const options = {
      serverUrl,
      resourceMetadataUrl,
      scope: scopes,
      // A refreshed token has the scopes of the old one: asking for more needs the person again.
      forceReauthorization: challenge.status === 403 && isStrictScopeSuperset(scopes, granted),
    };
    if ((await auth(provider, options)) === "AUTHORIZED") return true;
    const callback = await provider.callback();
    const outcome = await auth(provider, {
      ...options,
      authorizationCode: callback.get("code"),
      iss: callback.get("iss") ?? undefined,
    });
    return outcome === "AUTHORIZED";
  }

  return {
    async headers({ url, method }) {
      const tokens = await provider.tokens();
      if (tokens === undefined) return {};
      const { access_token: accessToken, token_type: type } = tokens;
      if (type.toLowerCase() !== "dpop") return { authorization: `Bearer ${accessToken}` };
      const proof = await provider.dpop().buildProof({ htm: method, htu: url, accessToken });
      return { authorization: `DPoP ${accessToken}`, dpop: proof };
    },
    async challenged(challenge) {
      if (await takesNonce(provider, challenge)) return true;
      const tokens = await provider.tokens();
      const sent = challenge.sent.authorization;
      // Someone else has signed in since this request was sent.
      if (challenge.status === 401 && sent !== undefined && !sent.endsWith(` ${tokens?.access_token}`)) return true;
      flight ??= signIn(challenge).finally(() => {
        flight = undefined;
      });
      return flight;
    },
  };
}

/** Whether the server only wants its nonce in the proof, and now gets it. */
async function takesNonce(provider, { headers, wwwAuthenticate = "", url }) {
  const nonce = headers["dpop-nonce"];
  if (nonce === undefined || !wwwAuthenticate.includes("use_dpop_nonce")) return false;
  provider.dpop?.()?.rememberNonce(url, nonce);
  return true;
}

function paramsOf({ wwwAuthenticate }) {
  const headers = wwwAuthenticate === undefined ? {} : { "www-authenticate": wwwAuthenticate };
  return extractWWWAuthenticateParams(new Response(undefined, { headers }));
}
