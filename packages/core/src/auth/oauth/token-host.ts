/** Finds the host of the token endpoint, for messages that must not hide it behind the issuer. */

import { parseUrl } from "@fairlead/wire/text";

/** Host of the token endpoint; undefined if it is the issuer's host. */
export function otherTokenHost(issuer: string, tokenEndpoint: string): string | undefined {
  const { host } = new URL(tokenEndpoint);
  return parseUrl(issuer)?.host === host ? undefined : host;
}
