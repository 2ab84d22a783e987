/** Who gives the tokens out, where that is not to be seen from the name of the authorization server. */

import { parseUrl } from "@fairlead/wire/text";

/** Undefined: the authorization server's own host does. */
export function otherTokenHost(issuer: string, tokenEndpoint: string): string | undefined {
  const { host } = new URL(tokenEndpoint);
  return parseUrl(issuer)?.host === host ? undefined : host;
}
