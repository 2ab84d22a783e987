/*
 * A demo issuer: everybody is who they say they are. It has metadata, keys, registration of clients, and sign-in with a
 * code and PKCE, so that a client can sign in with a browser. Its tokens are JWTs for the gateway only.
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** The people of the demo, and their groups. */
export const people = { ada: ["mcp-admins", "mcp-approvers"], grace: ["readers"] };
const hours = 12;

/** @param audience the address of the gateway's endpoint */
export async function startIssuer(audience) {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keys = [{ ...(await exportJWK(publicKey)), kid: "demo", alg: "ES256", use: "sig" }];
  /** Codes that can be exchanged once, with the person and the challenge of the client. */
  const codes = new Map();
  const token = (person, client = "demo") =>
    new SignJWT({ sub: person, groups: people[person], scope: "mcp:call mcp:read", client_id: client })
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: "demo" })
      .setIssuer(url)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(`${hours}h`)
      .sign(privateKey);
  const metadata = () => ({
    issuer: url,
    jwks_uri: `${url}/keys`,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    registration_endpoint: `${url}/register`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: ["mcp:read", "mcp:call", "mcp:admin"],
  });

  /** Shows a link for each person; the link leads back to the client with a code. */
  function authorize(query) {
    const redirect = new URL(query.get("redirect_uri"));
    const links = Object.keys(people).map((person) => {
      const code = randomBytes(16).toString("hex");
      codes.set(code, { person, challenge: query.get("code_challenge"), client: query.get("client_id") });
      const target = new URL(redirect);
      for (const [name, value] of Object.entries({ code, state: query.get("state"), iss: url }))
        if (value !== null) target.searchParams.set(name, value);
      return `<p><a href="${target.href.replaceAll("&", "&amp;")}">Sign in as ${person}</a></p>`;
    });
    return `<!doctype html><meta charset="utf-8"><title>Demo sign-in</title><h1>Who are you?</h1>${links.join("")}`;
  }

  async function exchange(form) {
    const found = codes.get(form.get("code"));
    codes.delete(form.get("code"));
    const digest = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (found === undefined || found.challenge !== digest) return undefined;
    return { access_token: await token(found.person, found.client), token_type: "Bearer", expires_in: hours * 3600 };
  }

  async function answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, url);
    const json = (status, value) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (pathname === "/keys") return json(200, { keys });
    if (/^\/\.well-known\/(?:openid-configuration|oauth-authorization-server)$/.test(pathname))
      return json(200, metadata());
    if (pathname === "/authorize" && URL.canParse(searchParams.get("redirect_uri") ?? ""))
      return response.writeHead(200, { "content-type": "text/html" }).end(authorize(searchParams));
    if (pathname === "/register" && request.method === "POST") {
      const { redirect_uris: redirects } = JSON.parse(await text(request));
      const client = { client_id: randomBytes(8).toString("hex"), redirect_uris: redirects };
      return json(201, { ...client, token_endpoint_auth_method: "none" });
    }
    if (pathname === "/token" && request.method === "POST") {
      const given = await exchange(new URLSearchParams(await text(request)));
      return given ? json(200, given) : json(400, { error: "invalid_grant" });
    }
    return response.writeHead(404).end();
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(400).end());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url, token, close };
}
