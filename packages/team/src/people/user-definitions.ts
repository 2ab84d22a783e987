/** The tool definitions that one user has accepted, for the host that works for them. */

import type { AcceptedDefinitionPort } from "@fairlead/core/server";
import { ownerHint } from "../store/hints.ts";
import type { Owner } from "../store/owner.ts";
import type { TeamStore } from "../store/store.ts";

export function userDefinitions(
  store: Pick<TeamStore, "definitions" | "hints" | "check">,
  owner: Owner,
): AcceptedDefinitionPort {
  const { definitions, hints } = store;
  return {
    read: (server) => definitions.read(owner, server),
    async add(server, news) {
      const accepted = await definitions.add(owner, server, news);
      // The user's hosts on other replicas need not ask about what was accepted here.
      hints.send("approval", ownerHint(owner));
      return accepted;
    },
    checkWritable: () => store.check(),
  };
}
