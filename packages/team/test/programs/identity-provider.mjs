// The company's identity provider: `oidc-provider`, with its own pages for login and consent. Prints its address.
// Arguments: a JSON object { port, redirectUri, key }; `key` is a private JWK, so that tests can sign access tokens too.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const { port, redirectUri, key } = JSON.parse(process.argv[2]);
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "fairlead-browser",
      client_secret: "the secret of the browser client",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      id_token_signed_response_alg: "ES256",
    },
  ],
  jwks: { keys: [{ ...key, use: "sig" }] },
  conformIdTokenClaims: false,
  claims: { openid: ["sub"], profile: ["name"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, name: `The user ${id}` }) }),
  cookies: { keys: ["only for tests"] },
  pkce: { required: () => true },
  ttl: { Session: 3600, Interaction: 600, Grant: 3600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
  clientBasedCORS: () => false,
});
const server = createServer(provider.callback());
server.listen(port, "127.0.0.1", () => process.stdout.write(`${issuer}\n`));
process.stdin.on("end", () => server.close(() => process.exit(0))).resume();
