/** Which tool definitions each user has accepted, by server. */

import type { AcceptedDefinitions, DefinitionOwner } from "@fairlead/core/server";
import type { Owner } from "./owner.ts";

export interface DefinitionStore {
  read(owner: Owner, server: DefinitionOwner): Promise<AcceptedDefinitions>;
  /**
   * Adds digests of accepted definitions, by tool name. Returns all that are accepted, also those that other replicas
   * have added.
   */
  add(
    owner: Owner,
    server: DefinitionOwner,
    news: ReadonlyMap<string, readonly string[]>,
  ): Promise<AcceptedDefinitions>;
}
