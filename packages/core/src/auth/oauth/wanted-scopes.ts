/** Which scopes a sign-in asks for. */

import type { SignInPlan } from "./discovery.ts";
import { mergeScopes } from "./scopes.ts";

export interface ScopeOptions {
  readonly plan: SignInPlan;
  /** Of the command line or the settings: what a person wrote is taken as it stands. */
  readonly chosen: readonly string[] | undefined;
  /** Asked for or granted before, where that was not enough: none of it may be lost. */
  readonly before: readonly string[] | undefined;
}

const offline = "offline_access";

export function wantedScopes({ plan, chosen, before }: ScopeOptions): readonly string[] {
  if (before !== undefined) return mergeScopes(before, chosen ?? [], plan.scopes);
  if (chosen !== undefined) return chosen;
  const { scopes } = plan;
  const offered = plan.metadata?.scopes;
  // Alone it would ask for nothing else; and who does not say what they offer gets what the server asks for.
  if (scopes.length === 0 || offered === undefined) return scopes;
  return offered.includes(offline) ? mergeScopes(scopes, [offline]) : scopes.filter((scope) => scope !== offline);
}
