/** What `fairlead policy explain --team` explains: the rules that the replicas of a team apply now. */

import type { Configuration } from "@fairlead/core/trust";
import type { Context } from "../../shell/verb.ts";
import { toOwner, withTeam } from "./with-team.ts";

export interface TeamRules {
  readonly configuration: Configuration;
  /** The groups of the user's latest token. Undefined if the user was never seen. */
  readonly groups: readonly string[] | undefined;
}

/** @param user The user whose groups are looked up. */
export function loadTeamRules(context: Context, user: string | undefined): Promise<TeamRules> {
  return withTeam(context, async (team) => {
    const { loadTenantConfiguration } = await import("@fairlead/team/settings/tenant-configuration");
    const { tenant, principal } = user === undefined ? { tenant: team.tenant, principal: "" } : toOwner(user, team);
    const { configs, users } = team.store;
    const [policy, settings, groups] = await Promise.all([
      configs.current(tenant, "policy"),
      configs.current(tenant, "settings"),
      users.groupsOf(tenant, [principal]),
    ]);
    const configuration = await loadTenantConfiguration(team.environment, {
      settings: settings?.body,
      policy: policy && { name: `policy version ${policy.version}`, text: policy.body },
    });
    return { configuration, groups: groups.get(principal) };
  });
}
