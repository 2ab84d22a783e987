/**
 * The keys of `fairlead.servers.<name>.machineAuth`. A workspace may set none of them, because they name private keys,
 * and the servers that get the credentials.
 */

import type { ListKey, ObjectKey, TextKey } from "./key.ts";

const workspace = "never: set it in user or system settings";

function text(description: string, more: Partial<Pick<TextKey, "format" | "oneOf" | "examples">> = {}): TextKey {
  return { type: "text", workspace, expanded: true, description, ...more };
}

/** A key whose value is one of several fixed words. Variables in the value are not expanded. */
function word(description: string, oneOf: readonly string[]): TextKey {
  return { type: "text", workspace, description, oneOf };
}

const scopes: ListKey = {
  type: "list",
  workspace,
  expanded: true,
  description: "The scopes to request, instead of those that the server names.",
};

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
  instead: { type: "switch", workspace, description: "" },
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
    scopes,
    identityProvider,
  },
};
