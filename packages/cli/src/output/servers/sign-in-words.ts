/** The sign-in state of a server, as text and as JSON. */

import type { SignInState } from "@fairlead/core/auth/store/sign-in-state";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";

export function signInWords(signIn: SignInState): SafeText {
  switch (signIn.state) {
    case "none":
      return signIn.problem === undefined
        ? byItselfWords[signIn.by]
        : safe`cannot sign in: ${toVisibleLine(signIn.problem)}`;
    case "signed_in": {
      const { account, issuer, tokenHost, scopes } = signIn;
      const who = account === undefined ? safe`signed in` : safe`signed in as ${toVisibleLine(account)}`;
      const what = scopes.length === 0 ? safe`` : safe`, for ${joinSafe(scopes.map(toVisibleLine), safe`, `)}`;
      const from = tokenHost === undefined ? safe`` : safe`, tokens from ${toVisibleLine(tokenHost)}`;
      return safe`${who} at ${toVisibleLine(issuer)}${from}${what}${endWords(signIn)}`;
    }
    case "needed":
      return safe`needs sign-in`;
    case "unknown":
      return safe`not signed in; the server has not asked for it`;
  }
}

const byItselfWords: Readonly<Record<Extract<SignInState, { state: "none" }>["by"], SafeText>> = {
  program: safe`no sign-in: a program takes its credentials from "env" in settings.json`,
  header: safe`no sign-in: settings.json sets an Authorization header`,
  google: safe`automatic, with the Google credentials of this machine`,
  service_account: safe`automatic, as a Google service account`,
};

/** Fairlead renews a renewable token, so its expiry is not shown. */
function endWords({ expiresAt, isRenewable }: Extract<SignInState, { state: "signed_in" }>): SafeText {
  if (isRenewable || expiresAt === undefined) return safe``;
  return safe`, until ${toSafeLine(new Date(expiresAt).toISOString())}`;
}

/** The sign-in state in `--json` documents. */
export function signInDocument(signIn: SignInState): object {
  if (signIn.state !== "signed_in") return signIn;
  const { expiresAt, ...rest } = signIn;
  return { ...rest, ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }) };
}
