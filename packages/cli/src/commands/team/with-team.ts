/** Opens the store of the team gateway for one command, with the settings `fairlead.team` of this machine. */

import { hostname } from "node:os";
import { HostError } from "@fairlead/core/errors";
import type { Environment } from "@fairlead/core/settings";
import type { TeamAdmin } from "@fairlead/team/admin/team-admin";
import type { TeamSettings } from "@fairlead/team/settings/team-settings";
import type { Owner } from "@fairlead/team/store/owner";
import type { TeamStore } from "@fairlead/team/store/store";
import type { Command } from "commander";
import type { Context } from "../../shell/verb.ts";

/** What the commands say about where they work. */
export const aboutTeam = `
Works with the database of the gateway of a team (fairlead serve --team). Reads fairlead.team from the system settings of
this machine (fairlead settings path), and needs the same variables and files as a replica: the address of PostgreSQL
and the keys. Every change is a row of the history with your name.
`;

/** The team, as long as a command runs. */
export interface OpenTeam {
  readonly settings: TeamSettings;
  readonly store: TeamStore;
  readonly admin: TeamAdmin;
  readonly tenant: number;
  readonly environment: Environment;
}

export function defineTenant(command: Command): Command {
  return command.option("--tenant <number>", "the tenant, if the issuers in fairlead.team.auth have several", "1");
}

/**
 * @throws HostError `settings_invalid`, `variable_unset`, `unreachable` if PostgreSQL is away, `diverged` if its tables are
 *   not those of this program
 */
export async function withTeam<Result>(context: Context, work: (team: OpenTeam) => Promise<Result>): Promise<Result> {
  const { io, command } = context;
  const [{ loadTeamSettings }, { openPostgresStore }, { TeamAdmin: Admin }, { databaseOperator }] = await Promise.all([
    import("@fairlead/team/settings/load-team-settings"),
    import("@fairlead/team/store/postgres/store"),
    import("@fairlead/team/admin/team-admin"),
    import("@fairlead/team/admin/actor"),
  ]);
  const environment = environmentOf(context);
  const tenant = toTenant(command.opts<{ readonly tenant?: string }>().tenant ?? "1");
  const settings = await loadTeamSettings(environment);
  const { url, lockUrl, keepDays } = settings.store;
  const store = await openPostgresStore({ url, lockUrl, ring: settings.ring, pool: 2, keepDays, migrates: false });
  try {
    const actor = databaseOperator(`${io.env["USER"] ?? io.env["USERNAME"] ?? "unknown"}@${hostname()}`);
    const admin = new Admin({ store, ring: settings.ring, tenant, actor, now: Date.now });
    return await work({ settings, store, admin, tenant, environment });
  } finally {
    await store.close();
  }
}

export function environmentOf({ io: { env, home, cwd, platform } }: Context): Environment {
  return { env, home, cwd, platform };
}

/** The user that a word names: `ISSUER#SUBJECT`. The tenant is that of the issuer. */
export function toOwner(user: string, { settings, tenant }: Pick<OpenTeam, "settings" | "tenant">): Owner {
  const issuer = settings.auth.issuers.find((each) => user.startsWith(`${each.issuer}#`));
  return { tenant: issuer?.tenant ?? tenant, principal: user };
}

function toTenant(word: string): number {
  if (/^[1-9]\d{0,8}$/.test(word)) return Number(word);
  throw new HostError("usage", `--tenant must be a whole number above zero, not "${word}"`, { next: "--tenant 1" });
}
