/** Who signed in, as far as the tokens tell. Only for telling accounts apart: nothing is decided by it. */

import { parseObject, textIn } from "@fairlead/wire/json";

const longestName = 200;

/** From an ID token that came straight from the token endpoint; its signature adds nothing there (OpenID Connect Core §3.1.3.7). */
export function accountIn(idToken: string | undefined): string | undefined {
  const claims = parseObject(Buffer.from(idToken?.split(".")[1] ?? "", "base64url").toString());
  if (claims === undefined) return undefined;
  const name = textIn(claims, "email") ?? textIn(claims, "preferred_username") ?? textIn(claims, "sub");
  return name?.slice(0, longestName);
}
