/** Decides which scopes a sign-in requests. */

import type { SignInPlan } from "./discovery.ts";
import { mergeScopes } from "./scopes.ts";

/** Options of `wantedScopes`. */
export interface ScopeOptions {
  readonly plan: SignInPlan;
  /** Scopes of the command line or the settings, used as they are. */
  readonly chosen: readonly string[] | undefined;
  /** Scopes requested or granted before that were not enough; they are requested again. */
  readonly before: readonly string[] | undefined;
}

const offline = "offline_access";

/** The scopes to request; adds or removes `offline_access` as the authorization server announces it. */
export function wantedScopes({ plan, chosen, before }: ScopeOptions): readonly string[] {
  if (before !== undefined) return mergeScopes(before, chosen ?? [], plan.scopes);
  if (chosen !== undefined) return chosen;
  const { scopes } = plan;
  const offered = plan.metadata?.scopes;
  // `offline_access` alone would request nothing else. Without announced scopes, the server's request is kept.
  if (scopes.length === 0 || offered === undefined) return scopes;
  return offered.includes(offline) ? mergeScopes(scopes, [offline]) : scopes.filter((scope) => scope !== offline);
}
