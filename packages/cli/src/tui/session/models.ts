/** Who answers: the model that is set on this machine, another by its name, or the person, who calls the tools by hand. */

import type { Host } from "@fairlead/core/host";
import type { ModelChoice } from "@fairlead/core/model/choose-model";
import type { Model } from "@fairlead/core/model/model";
import type { ToolCallConfirmationDetails } from "@fairlead/core/registry/confirmation";

export interface Models {
  /** Reads what is typed as a call. */
  readonly manual: Model;
  readonly find: (wanted?: string) => Promise<ModelChoice>;
}

/**
 * Without a model, what was typed is the person's own wish, as with `fairlead call`: only a rule that denies, one that they or
 * an administrator want to be asked by, and a changed definition still stop it.
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
