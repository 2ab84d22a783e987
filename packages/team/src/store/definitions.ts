/** Which tool definitions the people of a tenant have accepted, by server. */

import type { AcceptedDefinitions, DefinitionOwner } from "@fairlead/core/server";

export interface DefinitionStore {
  read(tenant: number, server: DefinitionOwner): Promise<AcceptedDefinitions>;
  /**
   * Adds digests of accepted definitions, by tool name. Returns all that are accepted, also those that other replicas
   * have added.
   */
  add(
    tenant: number,
    server: DefinitionOwner,
    news: ReadonlyMap<string, readonly string[]>,
    by: string,
  ): Promise<AcceptedDefinitions>;
}
