/** The models of the app: the configured one, one chosen by name, or manual mode without a model. */

import type { Host } from "@fairlead/core/host";
import type { ModelChoice } from "@fairlead/core/model/choose-model";
import type { Model } from "@fairlead/core/model/model";
import type { ToolCallConfirmationDetails } from "@fairlead/core/registry/confirmation";

export interface Models {
  /** Manual mode: parses each line as a call. */
  readonly manual: Model;
  readonly find: (wanted?: string) => Promise<ModelChoice>;
}

/**
 * Whether a call typed in manual mode needs no confirmation, as with `fairlead call`: a denying rule, an asking rule of the
 * user or an administrator, and a changed definition still stop it.
 */
export async function isConsentedByTyping(
  host: Pick<Host, "decide">,
  { provider }: Pick<Model, "provider">,
  { serverName, toolName, args, change }: ToolCallConfirmationDetails,
): Promise<boolean> {
  if (provider !== "manual" || change !== undefined) return false;
  const { decision } = await host.decide(serverName, toolName, args, { typed: true });
  return decision === "allow";
}
