/** Reads the account name from an ID token. It is only shown and used to tell accounts apart; nothing is decided by it. */

import { parseObject, textIn } from "@fairlead/wire/json";

const longestName = 200;

/** The account of an ID token from the token endpoint, whose signature need not be checked (OpenID Connect Core §3.1.3.7). */
export function accountIn(idToken: string | undefined): string | undefined {
  const claims = parseObject(Buffer.from(idToken?.split(".")[1] ?? "", "base64url").toString());
  if (claims === undefined) return undefined;
  const name = textIn(claims, "email") ?? textIn(claims, "preferred_username") ?? textIn(claims, "sub");
  return name?.slice(0, longestName);
}
