/** A guarded MCP server with its authorization server, for one test. */

import {
  type AuthorizationServer,
  type AuthorizationSettings,
  authorizationServer,
  type GuardedServer,
  type GuardSettings,
  guardedServer,
} from "@fairlead/test-servers";

export interface Both extends AsyncDisposable {
  readonly authorization: AuthorizationServer;
  readonly guarded: GuardedServer;
}

export async function both(
  settings: Partial<AuthorizationSettings> = {},
  guard: Partial<GuardSettings> & { readonly isSameOrigin?: boolean } = {},
): Promise<Both> {
  const authorization = await authorizationServer(settings);
  const guarded = await guardedServer({ authorization, ...guard });
  return {
    authorization,
    guarded,
    async [Symbol.asyncDispose]() {
      await guarded[Symbol.asyncDispose]();
      await authorization[Symbol.asyncDispose]();
    },
  };
}
