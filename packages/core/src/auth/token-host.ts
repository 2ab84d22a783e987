/** Who gives the tokens out, where that is not to be seen from the name of the authorization server. */

/** Undefined: the authorization server's own host does. */
export function otherTokenHost(issuer: string, tokenEndpoint: string): string | undefined {
  const { host } = new URL(tokenEndpoint);
  return URL.canParse(issuer) && new URL(issuer).host === host ? undefined : host;
}
