/** What the command and the gateway use of signing in to servers and of stored tokens. */

export type { ConsentRequest, SignInMessage, SignInUi } from "../auth/browser/sign-in-ui.ts";
export { readAssertion } from "../auth/machine/assertion.ts";
export { readClientKey } from "../auth/machine/client-proof.ts";
export { type Revocation, revokeTokens } from "../auth/oauth/endpoint-request.ts";
export { claimsOf } from "../auth/oauth/jwt.ts";
export type { Credentials } from "../auth/store/credentials.ts";
export { readGeminiTokens } from "../auth/store/gemini-tokens.ts";
export { createSignInLock, evenIfBusy, type SignInLock } from "../auth/store/sign-in-lock.ts";
export { setSignInNote, signInNote } from "../auth/store/sign-in-notes.ts";
export { pinOf, type SignInState, signInStateOf, urlOf } from "../auth/store/sign-in-state.ts";
export { canonicalServerUrl } from "../auth/store/stored-credentials.ts";
export { type MCPOAuthTokenStorage, openTokenStorage, signInFolder } from "../auth/store/token-storage.ts";
