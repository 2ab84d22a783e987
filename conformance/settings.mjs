/** Turns the suite's description of a scenario into the settings and variables of a host. */

/** The name of the suite's server in the settings. */
export const server = "conformance";

/** Long or multi-line values become variables, as an operator would set them. */
const keyVariable = "CONFORMANCE_PRIVATE_KEY";
const tokenVariable = "CONFORMANCE_TOKEN";

export function settingsFor(scenario, url, context) {
  const { oauth, machineAuth, env = {} } = credentialsFor(scenario, context);
  return {
    settings: {
      mcpServers: { [server]: { url, ...(oauth && { oauth }) } },
      fairlead: {
        // This is the client metadata document that the suite knows; no program requests it.
        clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
        servers: { [server]: { roots: true, sampling: true, ...(machineAuth && { machineAuth }) } },
      },
    },
    env,
  };
}

function credentialsFor(scenario, context) {
  const { client_id: clientId, client_secret: clientSecret } = context;
  switch (scenario) {
    case "auth/pre-registration":
      return { oauth: { clientId, clientSecret } };
    case "auth/client-credentials-basic":
      return { machineAuth: { kind: "client_credentials", clientId, clientSecret } };
    case "auth/client-credentials-jwt":
      return {
        machineAuth: { kind: "client_credentials", clientId, privateKey: `\${${keyVariable}}` },
        env: { [keyVariable]: context.private_key_pem },
      };
    case "auth/wif-jwt-bearer":
      return {
        machineAuth: { kind: "jwt_bearer", clientId, assertionEnv: tokenVariable },
        env: { [tokenVariable]: context.valid_jwt },
      };
    case "auth/cross-app-access-complete-flow":
    case "auth/enterprise-managed-authorization":
      return {
        machineAuth: {
          kind: "enterprise",
          clientId,
          clientSecret,
          assertionEnv: tokenVariable,
          identityProvider: { clientId: context.idp_client_id, tokenUrl: context.idp_token_endpoint },
        },
        env: { [tokenVariable]: context.idp_id_token },
      };
  }
  return {};
}
