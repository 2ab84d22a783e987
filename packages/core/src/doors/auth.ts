/** What the command and the gateways use of signing in to servers and of stored tokens. */

export type { ConsentRequest, SignInMessage, SignInUi } from "../auth/browser/sign-in-ui.ts";
export { readAssertion } from "../auth/machine/assertion.ts";
export { readClientKey } from "../auth/machine/client-proof.ts";
export { askForCode, checkChallengeMethods, codeIn } from "../auth/oauth/authorization.ts";
export { mergeScopes, readChallenge, scopesIn } from "../auth/oauth/challenge.ts";
export {
  discoverSignIn,
  fetchServerMetadata,
  otherTokenHost,
  type SignInPlan,
  wantedScopes,
} from "../auth/oauth/discovery.ts";
export { createDpopProofs, newDpopKey } from "../auth/oauth/dpop.ts";
export { type Revocation, revokeTokens } from "../auth/oauth/endpoint-request.ts";
export { createFail, type Fail } from "../auth/oauth/failure.ts";
export { claimsOf } from "../auth/oauth/jwt.ts";
export { refreshTokens } from "../auth/oauth/refresh-outcome.ts";
export { knownClient, registerClient } from "../auth/oauth/registration.ts";
export type { TokenKeeper } from "../auth/oauth/token-keeper.ts";
export { exchangeCode, reasonIn, requestTokens } from "../auth/oauth/token-request.ts";
export { toCredentials } from "../auth/sign-in.ts";
export type { Credentials, StoredClient } from "../auth/store/credentials.ts";
export { readGeminiTokens } from "../auth/store/gemini-tokens.ts";
export { createSignInLock, evenIfBusy, type SignInLock } from "../auth/store/sign-in-lock.ts";
export { setSignInNote, signInNote } from "../auth/store/sign-in-notes.ts";
export { bringsOwnHeader, pinOf, type SignInState, signInStateOf, urlOf } from "../auth/store/sign-in-state.ts";
export { canonicalServerUrl, readClient, readCredentials, writeCredentials } from "../auth/store/stored-credentials.ts";
export { type MCPOAuthTokenStorage, openTokenStorage, signInFolder } from "../auth/store/token-storage.ts";
export { SignInNeeded, type SignInTarget, type UserSignIns } from "../auth/user-sign-ins.ts";
